"""Streams of rows: open anything as one, and learn from it in order.

:func:`open_source` turns files, folders, pipes, tables, arrays, iterables and generators into a :class:`Source`,
which gives :class:`Batch` es of encoded rows at constant memory and can be resumed.
"""

from sapwood.stream.errors import SourceError
from sapwood.stream.source import Batch, Source, open_source

__all__ = ["Batch", "Source", "SourceError", "open_source"]

"""Streams of rows: open anything as one, and learn from it in order.

:func:`open_source` turns files, folders, pipes, tables, arrays, iterables and generators into a :class:`Source`,
which gives :class:`Batch` es of encoded rows at constant memory and can be resumed. :func:`evaluate` runs a model over
one: every row is forecast before it is learned.
"""

from sapwood.stream.errors import SourceError
from sapwood.stream.prequential import Progress, evaluate
from sapwood.stream.result import Beliefs, EvaluationResult, PoolHistory, Timings
from sapwood.stream.source import Batch, Source, open_source
from sapwood.stream.stopping import StopRequest

__all__ = [
    "Batch",
    "Beliefs",
    "EvaluationResult",
    "PoolHistory",
    "Progress",
    "Source",
    "SourceError",
    "StopRequest",
    "Timings",
    "evaluate",
    "open_source",
]

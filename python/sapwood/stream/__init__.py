"""Streams of rows: open anything as a stream, and learn from it in order.

:func:`open_source` turns files, folders, pipes, tables, arrays, iterables and generators into a :class:`Source`,
which yields :class:`Batch` objects of encoded rows at constant memory and can be resumed. :func:`evaluate` runs a model
over a source: it forecasts every row before learning it.

This is the public interface; the packages `sapwood.reading` and `sapwood.prequential` hold the implementation.
"""

from sapwood.prequential.evaluation import evaluate
from sapwood.prequential.result import Beliefs, EvaluationResult, PoolHistory, Timings
from sapwood.prequential.run import Progress
from sapwood.prequential.stopping import StopRequest
from sapwood.reading.batch import Batch
from sapwood.reading.errors import SourceError
from sapwood.reading.open_source import open_source
from sapwood.reading.source import Source

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

"""From batches of a source to rows for the loop: targets become numbers, and every row knows when its label comes."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood._labels import LabelBook
from sapwood.prequential.label_queue import Rows
from sapwood.prequential.late_labels import LateLabels
from sapwood.prequential.stopping import StopRequest
from sapwood.reading.encoding.target import Task
from sapwood.reading.errors import SourceError
from sapwood.reading.source import Source

Floats = NDArray[np.float64]


class RowFeed:
    """The rows of a source, in order. What is left of a batch is held, so that a run can stop anywhere."""

    def __init__(self, source: Source, task: Task, delay: int, late: LateLabels | None, book: LabelBook) -> None:
        self.source = source
        self.task: Task = task
        self.book = book
        self.late = late
        self.n_read = 0
        self.held = Rows.none(len(source.feature_names))
        self._delay = delay
        if source.target is None and late is None:
            raise SourceError("the source has no target to learn; name its column with target=, or give labels=")

    def fill(self, stop: StopRequest | None) -> bool:
        """Read the next batch when nothing is held. False: there is none, or the run shall stop."""
        if len(self.held):
            return True
        try:
            with stop.reading() if stop is not None else nullcontext():
                batch = next(self.source, None)
        except KeyboardInterrupt:
            if stop is None or stop.signal is None:
                raise
            return False
        if batch is None:
            return False
        positions = np.arange(self.n_read, self.n_read + len(batch), dtype=np.int64)
        if self.late is None:
            assert batch.y is not None
            y, arrival = self._numbers(batch.y), positions + self._delay
        else:
            keys = batch.y if self.late.has_key else None  # a source without a key may still have a target of its own
            labels, arrival = self.late.match(self.n_read, batch.rows, keys)
            y = self._numbers_of_some(labels)
        self.held = Rows(batch.X, y, batch.rows, arrival)
        self.n_read += len(batch)
        return True

    def drop(self, n_rows: int) -> None:
        """The first `n_rows` of those held have been dealt with."""
        self.held = self.held.take(slice(n_rows, None))

    def _numbers_of_some(self, labels: list[Any]) -> Floats:
        here = np.array([label is not None for label in labels], dtype=bool)
        y = np.full(len(labels), np.nan)
        if here.any():
            y[here] = self._numbers(np.array([label for label in labels if label is not None]))
        return y

    def _numbers(self, y: NDArray[Any]) -> Floats:
        if self.task == "regression":
            if y.dtype.kind not in "fiub":
                raise SourceError(
                    f"the target {self.source.target!r} holds text such as {y[0].item()!r}, which a regression cannot "
                    "learn; choose another target, or a classifier"
                )
            return np.ascontiguousarray(y, dtype=np.float64)
        if y.dtype.kind == "f" and np.all(y == np.round(y)):
            y = y.astype(np.int64)  # a source that was opened without a task gives whole numbers as it gives others
        # The classes of the first batch are all expected from the start, in sorted order; later ones join as they come.
        self.book, codes = (self.book.expect(y) if self.n_read == 0 else self.book).meet(y)
        return codes

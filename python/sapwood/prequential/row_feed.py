"""From batches of a source to rows for the loop: encode targets as numbers and set when each label arrives."""

from __future__ import annotations

from enum import Enum, auto
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood._labels import LabelBook
from sapwood._options import Task
from sapwood.prequential.late_labels import LateLabels
from sapwood.prequential.pending_rows import PendingRows
from sapwood.prequential.rows import Floats, Rows
from sapwood.prequential.stopping import StopRequest
from sapwood.reading.batch import Batch
from sapwood.reading.errors import SourceError
from sapwood.reading.source import Source


class Filled(Enum):
    """What came of reading: there are rows, none arrived in time, or there will be none."""

    ROWS = auto()
    PAUSED = auto()
    ENDED = auto()


class RowFeed:
    """The rows of a source, in order. The rest of the current batch is held, so that a run can stop at any row.

    Parameters
    ----------
    source : Source
    task : {"regression", "classification"}
    delay : int
        How many rows late the labels of `source` itself arrive.
    late : LateLabels or None
        The second source, where labels come from one.
    book : LabelBook
        The classes seen so far.
    wait : int
        How many rows may wait for a label that comes with a later row of the same key.
    n_read : int
        Rows read before, by the run that is resumed.
    held : Rows or None
        Those of them that were not forecast yet.
    """

    def __init__(
        self,
        source: Source,
        task: Task,
        delay: int,
        late: LateLabels | None,
        book: LabelBook,
        *,
        wait: int = 0,
        n_read: int = 0,
        held: Rows | None = None,
    ) -> None:
        if source.target is None and late is None:
            raise SourceError("the source has no target to learn; name its column with target=, or give labels=")
        self.source = source
        self.task: Task = task
        self.book = book
        self.late = late
        self.n_read = n_read
        self.held = Rows.empty(len(source.feature_names)) if held is None else held
        self.pending = PendingRows(wait) if source.key is not None and late is None else None
        self.arrived: list[Rows] = []
        self._delay = delay

    def fill(self, stop: StopRequest, seconds: float | None = None) -> Filled:
        """Read the next batch unless rows are held, waiting at most `seconds` for a row of a feed (None: for ever)."""
        if len(self.held):
            return Filled.ROWS
        try:
            with stop.reading():
                batch = self.source.next_within(seconds)
        except StopIteration:
            return Filled.ENDED
        except KeyboardInterrupt:
            if stop.signal is None:
                raise
            return Filled.ENDED
        if batch is None:
            return Filled.PAUSED
        if self.pending is not None:
            self._fill_by_key(batch, self.pending)
            return Filled.ROWS
        positions = np.arange(self.n_read, self.n_read + len(batch), dtype=np.int64)
        if self.late is None:
            y, arrival = self._encode_labelled(batch), positions + self._delay
        else:
            keys = batch.y if self.late.has_key else None  # without a key, `y` is a target that nobody asked for
            labels, arrival = self.late.match(self.n_read, batch.rows, keys)
            y = self._encode_known(labels)
        self.held = Rows(batch.X, y, batch.rows, arrival)
        self.n_read += len(batch)
        return Filled.ROWS

    def _fill_by_key(self, batch: Batch, pending: PendingRows) -> None:
        """Hold the rows to forecast; those that bring the label of an earlier row only add it to `arrived`."""
        y = self._encode_labelled(batch)
        assert batch.key is not None
        rows = Rows(batch.X, y, batch.rows, np.empty(len(y), dtype=np.int64))
        is_forecast = np.ones(len(y), dtype=bool)
        n_before = self.n_read
        for i, (key, source_row) in enumerate(zip(batch.key.tolist(), batch.rows.tolist(), strict=True)):
            if key is not None and not np.isnan(y[i]):
                x = pending.pop(key)
                if x is not None:
                    is_forecast[i] = False
                    row, arrival = np.array([source_row]), np.array([n_before - 1])
                    self.arrived.append(Rows(x[None], y[i : i + 1], row, arrival))
                    continue
            elif key is not None:
                pending.add(key, rows.x[i])
            rows.arrival[i] = n_before + self._delay
            n_before += 1
        self.held = rows.take(is_forecast)
        self.n_read = n_before

    def take_arrived(self) -> list[Rows]:
        """Return the earlier rows whose labels have arrived since the last call."""
        arrived, self.arrived = self.arrived, []
        return arrived

    def _encode_labelled(self, batch: Batch) -> Floats:
        """Return the targets of a batch as numbers, NaN where there is none."""
        assert batch.y is not None
        if batch.labelled is None:
            return self._encode(batch.y)
        y = np.full(len(batch), np.nan)
        if batch.labelled.any():
            y[batch.labelled] = self._encode(batch.y[batch.labelled])
        return y

    def drop(self, n_rows: int) -> None:
        """Remove the first `n_rows` of the rows held, once they have been forecast."""
        self.held = self.held.take(slice(n_rows, None))

    def _encode_known(self, labels: list[Any]) -> Floats:
        known = np.array([label is not None for label in labels], dtype=bool)
        y = np.full(len(labels), np.nan)
        if known.any():
            y[known] = self._encode(np.array([label for label in labels if label is not None]))
        return y

    def _encode(self, y: NDArray[Any]) -> Floats:
        if self.task == "regression":
            if y.dtype.kind not in "fiub":
                raise SourceError(
                    f"the target {self.source.target!r} holds text such as {y[0].item()!r}, which a regression cannot "
                    "learn; choose another target, or a classifier"
                )
            return np.ascontiguousarray(y, dtype=np.float64)
        if y.dtype.kind == "f" and np.all(y == np.round(y)):
            y = y.astype(np.int64)  # a source opened without a task yields integer labels as floats
        # The classes of the first batch are all expected from the start, in sorted order; later ones join as they come.
        self.book, codes = (self.book.expect(y) if self.n_read == 0 else self.book).meet(y)
        return codes

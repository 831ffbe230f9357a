"""Rows that have been forecast and wait for their labels, and the order in which a chunk forecasts and learns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Rows:
    """Consecutive rows of a stream.

    Attributes
    ----------
    x : array of shape (n, p)
    y : array of shape (n,)
        Values or class codes; NaN where the label never comes.
    source_row : array of shape (n,)
        Where the rows stand in the source.
    arrival : array of shape (n,)
        The label is known after the forecast of this row, counted over the whole stream from 0.
    """

    x: Floats
    y: Floats
    source_row: NDArray[np.int64]
    arrival: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.y)

    def take(self, which: Any) -> Rows:
        """Some of them: a slice, a mask or positions."""
        return Rows(self.x[which], self.y[which], self.source_row[which], self.arrival[which])

    def then(self, more: Rows) -> Rows:
        """These, and more after them."""
        return Rows(
            np.concatenate([self.x, more.x]),
            np.concatenate([self.y, more.y]),
            np.concatenate([self.source_row, more.source_row]),
            np.concatenate([self.arrival, more.arrival]),
        )

    @classmethod
    def none(cls, n_inputs: int) -> Rows:
        """No rows."""
        whole = np.empty(0, dtype=np.int64)
        return cls(np.empty((0, n_inputs)), np.empty(0), whole, whole)

    def state(self) -> tuple[Any, ...]:
        """Plain arrays, for a checkpoint."""
        return self.x, self.y, self.source_row, self.arrival


class LabelQueue:
    """The rows whose labels are still to come, in the order in which they will."""

    def __init__(self, waiting: Rows) -> None:
        self.waiting = waiting

    def add(self, rows: Rows) -> None:
        """Rows are about to be forecast; those that never get a label do not wait for one."""
        labelled = ~np.isnan(rows.y)
        both = self.waiting.then(rows if labelled.all() else rows.take(labelled))
        order = np.argsort(both.arrival, kind="stable")
        self.waiting = both.take(order) if (np.diff(order) < 0).any() else both

    def due(self, before: int) -> Rows:
        """Those whose labels are known after the forecast of some row earlier than `before`."""
        n_due = int(np.searchsorted(self.waiting.arrival, before))
        due, self.waiting = self.waiting.take(slice(0, n_due)), self.waiting.take(slice(n_due, None))
        return due


@dataclass(frozen=True)
class Step:
    """Forecast rows `first` to `end` of a chunk, and learn rows `learn_first` to `learn_end` of those due.

    `paired`: one is learned after each forecast. Otherwise all are learned after the last forecast.
    """

    first: int
    end: int
    learn_first: int
    learn_end: int
    paired: bool


def plan(start: int, n_rows: int, due: Rows, n_classes: int) -> Iterator[Step]:
    """The fewest steps that forecast rows start, ..., start + n_rows - 1 and learn what is due, all in order.

    A class joins the model with its first row, which is therefore learned in a step of its own.

    Examples
    --------
    >>> import numpy as np
    >>> due = Rows(np.zeros((3, 1)), np.zeros(3), np.arange(3), np.array([2, 3, 4]))
    >>> [(s.first, s.end, s.learn_first, s.learn_end) for s in plan(0, 5, due, 0)]
    [(0, 2, 0, 0), (2, 5, 0, 3)]
    """
    offsets = np.maximum(due.arrival - start, 0)
    n_learned = np.bincount(offsets, minlength=n_rows)
    alone = n_learned > 1
    if n_classes:
        known = np.maximum.accumulate(np.concatenate([[n_classes - 1.0], due.y]))
        alone[offsets[due.y > known[:-1]]] = True
    kind = np.where(alone, 2, n_learned)
    cuts = np.flatnonzero((np.diff(kind) != 0) | (kind[1:] == 2)) + 1
    first_learned = np.concatenate([[0], np.cumsum(n_learned)])
    for first, end in pairwise([0, *cuts.tolist(), n_rows]):
        yield Step(first, end, int(first_learned[first]), int(first_learned[end]), paired=bool(kind[first] != 2))

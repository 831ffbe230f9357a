"""Forecast rows that wait for their labels, and the order in which a chunk is forecast and learned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sapwood.prequential.rows import Rows


class LabelQueue:
    """The rows whose labels are still to arrive, in order of arrival."""

    def __init__(self, waiting: Rows) -> None:
        self.waiting = waiting

    def add(self, rows: Rows) -> None:
        """Enqueue rows that are about to be forecast, except those that never get a label."""
        labelled = ~np.isnan(rows.y)
        both = self.waiting.append(rows if labelled.all() else rows.take(labelled))
        order = np.lexsort((both.source_row, both.arrival))
        self.waiting = both.take(order) if (np.diff(order) < 0).any() else both

    def pop_due(self, before: int) -> Rows:
        """Dequeue the rows whose labels arrive before row `before` is forecast."""
        n_due = int(np.searchsorted(self.waiting.arrival, before))
        due, self.waiting = self.waiting.take(slice(0, n_due)), self.waiting.take(slice(n_due, None))
        return due

    def pop_all(self) -> Rows:
        """Dequeue everything."""
        rest, self.waiting = self.waiting, self.waiting.take(slice(0, 0))
        return rest


@dataclass(frozen=True)
class Step:
    """Forecast rows `first` to `end` of a chunk, and learn rows `learn_first` to `learn_end` of those due.

    If `paired`, one row is learned after each forecast; otherwise all are learned after the last forecast.
    """

    first: int
    end: int
    learn_first: int
    learn_end: int
    paired: bool


def plan(start: int, n_rows: int, due: Rows, n_classes: int) -> Iterator[Step]:
    """Yield the fewest steps that forecast rows start, ..., start + n_rows - 1 and learn the rows due, all in order.

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

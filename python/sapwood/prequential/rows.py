"""Rows on their way through the loop: inputs, targets, and when each label arrives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood._state import Fields, StateError

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Rows:
    """Consecutive rows of a stream.

    Attributes
    ----------
    x : array of shape (n, p)
    y : array of shape (n,)
        Values or class codes; NaN where the label never arrives.
    source_row : array of shape (n,)
        Row numbers in the source.
    arrival : array of shape (n,)
        The row whose forecast precedes the arrival of the label, counted over the whole stream from 0.
    """

    x: Floats
    y: Floats
    source_row: NDArray[np.int64]
    arrival: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.y)

    def take(self, which: Any) -> Rows:
        """Select rows by a slice, a mask or positions."""
        return Rows(self.x[which], self.y[which], self.source_row[which], self.arrival[which])

    def append(self, more: Rows) -> Rows:
        """Return these rows followed by `more`."""
        return Rows(
            np.concatenate([self.x, more.x]),
            np.concatenate([self.y, more.y]),
            np.concatenate([self.source_row, more.source_row]),
            np.concatenate([self.arrival, more.arrival]),
        )

    def state(self) -> dict[str, Any]:
        """Return the rows as arrays for a checkpoint."""
        return {"x": self.x, "y": self.y, "source_row": self.source_row, "arrival": self.arrival}

    @classmethod
    def restore(cls, fields: Fields, n_inputs: int) -> Rows:
        """Return the rows of which `state` was made."""
        x = fields.floats("x", (None, n_inputs))
        shape = (len(x),)
        if np.isinf(x).any():
            raise StateError(f"{fields.where}.x holds an infinite input")
        source_row = fields.integers("source_row", shape, minimum=0)
        return cls(x, fields.floats("y", shape), source_row, fields.integers("arrival", shape, minimum=0))

    @classmethod
    def empty(cls, n_inputs: int) -> Rows:
        """Return no rows, of `n_inputs` columns."""
        integers = np.empty(0, dtype=np.int64)
        return cls(np.empty((0, n_inputs)), np.empty(0), integers, integers)

"""Rows that were forecast without a label, which a later row with the same key may bring."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood._state import Fields, StateError
from sapwood.prequential.rows import Floats


class PendingRows:
    """The last `capacity` rows without a label, by key. A row that comes again takes the place of its earlier form."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._inputs: dict[str, Floats] = {}

    def add(self, key: str, x: Floats) -> None:
        """Remember a row; the oldest is given up if there are too many."""
        self._inputs.pop(key, None)
        self._inputs[key] = x
        if len(self._inputs) > self._capacity:
            del self._inputs[next(iter(self._inputs))]

    def pop(self, key: str) -> Floats | None:
        """Return the inputs of the row with this key, and forget it; None if there is none."""
        return self._inputs.pop(key, None)

    def state(self) -> dict[str, Any]:
        """Return the rows for a checkpoint, as plain data."""
        return {"keys": list(self._inputs), "x": np.array(list(self._inputs.values()))}

    def restore(self, fields: Fields, n_inputs: int) -> None:
        """Continue from what `state` returned."""
        keys = fields.items("keys")
        if not all(isinstance(key, str) for key in keys) or len(set(keys)) < len(keys) or len(keys) > self._capacity:
            raise StateError(f"{fields.where}.keys must be at most {self._capacity} distinct texts")
        if not keys:
            return
        x = fields.floats("x", (len(keys), n_inputs))
        if np.isinf(x).any():
            raise StateError(f"{fields.where}.x holds an infinite input")
        self._inputs = dict(zip(keys, x, strict=True))

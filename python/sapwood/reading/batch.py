"""Batches: consecutive rows of a source, encoded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.encoding.columns import texts
from sapwood.encoding.schema import Encoded
from sapwood.reading.chunk import Chunk


@dataclass(frozen=True)
class Batch:
    """Consecutive rows, encoded.

    Attributes
    ----------
    X : ndarray of shape (n, p), float64, C-contiguous
        Inputs; missing values are NaN.
    y : ndarray of shape (n,) or None
        Targets: float64 for numbers, bool or text for labels (int64 if opened for classification); None if the source
        was opened without a target.
    row : int
        Row number in the source (counting from 0, including bad rows) at which the batch starts.
    rows : ndarray of shape (n,), int64
        Row number of each row; gaps are bad rows.
    names : list of str
        Names of the columns of `X`.
    labelled : ndarray of shape (n,), bool, or None
        Which rows have a target; `y` says nothing where they have none. None: all have one.
    key : ndarray of shape (n,), object, or None
        The key of each row as text, None where it is missing; None if the source was opened without a key.
    """

    X: NDArray[np.float64]
    y: NDArray[Any] | None
    row: int
    rows: NDArray[np.int64]
    names: list[str]
    labelled: NDArray[np.bool_] | None = None
    key: NDArray[np.object_] | None = None

    def __len__(self) -> int:
        return len(self.X)


def join(parts: list[Encoded], chunks: list[Chunk], row: int, names: list[str], key: str | None) -> Batch:
    """Return the usable rows of `chunks`, which were encoded as `parts`; offsets count from row `row`."""
    one = len(parts) == 1
    x = parts[0].x if one else np.concatenate([part.x for part in parts])
    targets = [part.y for part in parts if part.y is not None]
    y = None if not targets else targets[0] if one else np.concatenate(targets)
    offsets = np.concatenate([part.offsets for part in parts])
    labelled = None
    if any(part.labelled is not None for part in parts):
        known = [np.ones(len(part.x), dtype=bool) if part.labelled is None else part.labelled for part in parts]
        labelled = np.concatenate(known)
    keys = None if key is None else _keys(key, chunks, offsets)
    return Batch(x, y, row, row + offsets, names, labelled, keys)


def _keys(name: str, chunks: list[Chunk], offsets: NDArray[np.int64]) -> NDArray[np.object_]:
    """Return the keys of the rows at `offsets`, counted from the first row of the first chunk."""
    keys = np.full(sum(chunk.n_rows for chunk in chunks), None, dtype=object)
    first = 0
    for chunk in chunks:
        found = texts(chunk.columns[name])
        keys[first + chunk.offsets()] = np.array([*found.distinct, None], dtype=object)[found.ix]
        first += chunk.n_rows
    of_rows: NDArray[np.object_] = keys[offsets]
    return of_rows

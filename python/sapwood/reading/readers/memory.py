"""What readers of in-memory data share."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood.encoding.columns import to_text
from sapwood.reading._arrow import pyarrow
from sapwood.reading.chunk import RawColumn

ROWS_AT_A_TIME = 1024


class InMemory:
    """Base class of readers with nothing to close and no notes."""

    label = "<data>"
    n_rows: int | None = None

    def notes(self) -> list[str]:
        """Return no notes."""
        return []

    def close(self) -> None:
        """Do nothing: no file is open."""


def raw_column(values: Any) -> RawColumn:
    """Make a raw column of Python values or a numpy array: numbers stay in numpy, everything else becomes Arrow."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        return values
    listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
    listed = [value.item() if isinstance(value, np.generic) else value for value in listed]
    if all(isinstance(value, bool) for value in listed):
        return np.array(listed, dtype=bool)
    if all(value is None or isinstance(value, int | float) for value in listed):
        return np.array(listed, dtype=np.float64)
    pa = pyarrow("a column that does not hold plain numbers")
    if isinstance(values, np.ndarray) and values.dtype.kind in "mM":
        return pa.array(values)
    listed = [None if isinstance(value, float) and value != value else value for value in listed]
    try:
        return pa.array(listed)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if value is None else to_text(value) for value in listed], pa.string())

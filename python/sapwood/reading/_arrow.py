"""pyarrow is an optional dependency: it is imported only here, lazily, when a source needs it."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.reading.errors import SourceError


def pyarrow(purpose: str, submodule: str | None = None) -> Any:
    """Import `pyarrow` or one of its submodules; `purpose` completes "... needs pyarrow" in the error."""
    try:
        return importlib.import_module(f"pyarrow.{submodule}" if submodule else "pyarrow")
    except ImportError as error:
        raise SourceError(
            f"{purpose} needs pyarrow, which is not installed; install it with: pip install 'sapwood[stream]'"
        ) from error


def to_numpy(array: Any, dtype: type[np.generic], missing: float | int) -> NDArray[Any]:
    """Convert a fixed-width Arrow array to numpy, with `missing` in place of nulls.

    Arrow's own conversion (and its `fill_null`) imports pandas if that is installed, which takes a third of a second
    and more memory than everything else.
    """
    bitmap, data = array.buffers()
    if data is None:
        return np.full(len(array), missing, dtype=dtype)
    start = array.offset
    values: NDArray[Any] = np.frombuffer(data, dtype, len(array), start * np.dtype(dtype).itemsize)
    if array.null_count:
        known = np.unpackbits(np.frombuffer(bitmap, np.uint8), bitorder="little")[start : start + len(array)]
        values = np.where(known, values, np.array(missing, dtype=dtype))
    return values

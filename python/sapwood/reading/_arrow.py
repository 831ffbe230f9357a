"""pyarrow is an extra: it is imported here, when a source needs it, and nowhere else."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.reading.errors import SourceError


def pyarrow(purpose: str, submodule: str | None = None) -> Any:
    """The module `pyarrow`, or one of its submodules; `purpose` completes "... needs pyarrow"."""
    try:
        return importlib.import_module(f"pyarrow.{submodule}" if submodule else "pyarrow")
    except ImportError as error:
        raise SourceError(
            f"{purpose} needs pyarrow, which is not installed; install it with: pip install 'sapwood[stream]'"
        ) from error


def fixed_width(array: Any, dtype: type[np.generic], missing: float | int) -> NDArray[Any]:
    """An Arrow array of fixed width as numpy, with `missing` where it is null.

    Arrow's own conversion (and its `fill_null`) imports pandas where that is installed, which costs a third of a second
    and more memory than all the rest.
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

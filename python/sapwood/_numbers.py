"""Numbers as they are given: which values are numbers (not booleans), and arrays with a mask."""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np


def is_whole(value: Any) -> TypeGuard[int]:
    """Whether `value` is an integer."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_real(value: Any) -> TypeGuard[float]:
    """Whether `value` is a real number."""
    return is_whole(value) or isinstance(value, (float, np.floating))


def unmasked(values: Any) -> Any:
    """Return an array with a mask as one where NaN, or None for what is no number, is in its place; others as given.

    Examples
    --------
    >>> unmasked(np.ma.masked_greater([1, 2, 3], 2))
    array([ 1.,  2., nan])
    """
    if not isinstance(values, np.ma.MaskedArray):
        return values
    if not np.ma.is_masked(values):
        return values.data
    is_number = values.dtype.kind in "iuf"
    plain = values.data.astype(np.float64 if is_number else object)
    plain[np.ma.getmaskarray(values)] = np.nan if is_number else None
    return plain

"""What counts as a number in a parameter: Python's and numpy's own, but never a boolean."""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np


def is_whole(value: Any) -> TypeGuard[int]:
    """Whether value is a whole number."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_real(value: Any) -> TypeGuard[float]:
    """Whether value is a number."""
    return is_whole(value) or isinstance(value, (float, np.floating))

"""Which values of a parameter are numbers: those of Python and numpy, but not booleans."""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np


def is_whole(value: Any) -> TypeGuard[int]:
    """Whether `value` is an integer."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_real(value: Any) -> TypeGuard[float]:
    """Whether `value` is a real number."""
    return is_whole(value) or isinstance(value, (float, np.floating))

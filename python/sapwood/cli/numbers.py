"""Numbers for people and for machines."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def shown(value: float) -> str:
    """Four significant digits, and a dash for what does not exist.

    Examples
    --------
    >>> shown(0.91234), shown(12345.6), shown(float("nan"))
    ('0.9123', '12,346', '-')
    """
    if math.isnan(value):
        return "-"
    if not math.isfinite(value) or value == 0:
        return f"{value:g}"
    digits = 3 - math.floor(math.log10(abs(value)))
    return f"{value:,.{max(0, min(digits, 4))}f}" if abs(value) >= 1e-3 else f"{value:.2e}"


def plain(value: Any) -> Any:
    """A value as JSON has it: what is not a finite number is null.

    Examples
    --------
    >>> plain({"a": float("inf"), "b": [1.5]})
    {'a': None, 'b': [1.5]}
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value

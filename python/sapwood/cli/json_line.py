"""Results as one line of JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def json_line(value: Any) -> str:
    """Format as JSON. Infinite and undefined numbers, which JSON does not have, become null.

    Examples
    --------
    >>> json_line({"a": float("inf"), "b": [1.5]})
    '{"a": null, "b": [1.5]}'
    """
    return json.dumps(_plain(value), allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value

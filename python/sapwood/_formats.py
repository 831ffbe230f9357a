"""Numbers and durations as people read them."""

from __future__ import annotations

import math


def number(value: float) -> str:
    """Format with four significant digits; undefined numbers are a dash.

    Examples
    --------
    >>> number(0.91234), number(12345.6), number(1e-5), number(float("nan"))
    ('0.9123', '12,346', '1.000e-05', '-')
    """
    if math.isnan(value):
        return "-"
    if math.isinf(value):
        return f"{value:g}"
    if value != 0 and not 1e-3 <= abs(value) < 1e6:
        return f"{value:.3e}"
    digits = max(0, 3 - math.floor(math.log10(abs(value)))) if value else 3
    return f"{value:,.{min(digits, 4)}f}"


def duration(seconds: float) -> str:
    """Format a number of seconds.

    Examples
    --------
    >>> duration(2.34), duration(34.2), duration(90), duration(7200)
    ('2.3 s', '34 s', '1 min 30 s', '2 h 00 min')
    """
    if seconds < 9.95:
        return f"{max(0.0, seconds):.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"

"""Names and labels made safe to print: they are data, and must not act on the terminal or the page."""

from __future__ import annotations

import re

# Control characters, those that change the direction of text, line separators and surrogates, which no stream encodes.
_ACTING = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: object) -> str:
    r"""Return text in which characters that would act, instead of being shown, are written as escapes.

    Examples
    --------
    >>> print(visible("\x1b[2J\n"), visible("größe °C"))
    \x1b[2J\n größe °C
    """
    return _ACTING.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), str(text))

"""Names from the data as text that matplotlib draws literally."""

from __future__ import annotations

from sapwood._text import visible


def literal(name: object) -> str:
    r"""Escape a name, so that matplotlib draws it as it is and takes nothing between dollar signs for mathematics.

    Examples
    --------
    >>> print(literal("US$ and CA$"))
    US\$ and CA\$
    """
    return visible(name).replace("$", r"\$")

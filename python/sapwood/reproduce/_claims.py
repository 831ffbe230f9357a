"""A number or statement of the paper, ours, and the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

#: A value, or a mean with the ends of its band.
Number: TypeAlias = float | Sequence[float]


@dataclass(frozen=True)
class Claim:
    """One row of the table.

    Attributes
    ----------
    where, what : str
        The place in the paper and what is claimed there.
    paper, ours, defaults : str
        As printed: the paper's value, ours in the paper's setting, ours with the package's defaults.
    verdict : str
        "reproduced", "better" or "not reproduced", possibly with a remark; "better" or "not better" for results that
        the paper does not have; "not comparable" for numbers from other data.
    why : str
        The reason, if the claim is not reproduced.
    """

    where: str
    what: str
    paper: str
    ours: str
    defaults: str
    verdict: str
    why: str = ""


def number(
    where: str,
    what: str,
    paper: Number,
    ours: Number | None,
    defaults: Number | None = None,
    *,
    # More than eight parameters, because a claim has as many parts.
    better: Literal["lower", "higher"] | None,
    tolerance: float,
    digits: int = 3,
    why: str = "",
) -> Claim:
    """A number: reproduced if within `tolerance` of the paper's or inside its band, else better or not reproduced."""

    printed, band = _parts(paper)

    def standing(number: Number | None) -> str:
        if number is None:
            return ""
        value, _ = _parts(number)
        if abs(value - printed) <= tolerance or (band is not None and band[0] <= value <= band[1]):
            return "reproduced"
        improved = better is not None and (value < printed) == (better == "lower")
        return "better" if improved else "not reproduced"

    verdict, with_defaults = standing(ours), standing(defaults)
    if not verdict:
        verdict, with_defaults = with_defaults, ""
    if with_defaults == "better" and verdict != "better":
        verdict += "; better with defaults"
    return Claim(
        where,
        what,
        _shown(paper, digits),
        _shown(ours, digits),
        _shown(defaults, digits),
        verdict,
        why if verdict.startswith("not") else "",
    )


def not_comparable(claim: Claim, why: str) -> Claim:
    """A number from other data: both are shown without a comparison."""
    return replace(claim, verdict="not comparable", why=why)


def statement(
    where: str, what: str, paper: str, ours: str, holds: bool, defaults: str = "–", *, why: str = ""
) -> Claim:
    """A statement that holds or does not, with the numbers behind it."""
    return Claim(where, what, paper, ours, defaults, "reproduced" if holds else "not reproduced", "" if holds else why)


def improvement(what: str, others: str, ours: str, holds: bool, *, why: str = "") -> Claim:
    """A comparison that the paper does not have: our defaults against the alternatives."""
    return Claim("extension", what, "–", others, ours, "better" if holds else "not better", "" if holds else why)


def _parts(number: Number) -> tuple[float, tuple[float, float] | None]:
    """The value, and the band if there is one."""
    if isinstance(number, (int, float)):
        return number, None
    value, low, high = number
    return value, (low, high)


def _shown(number: Number | None, digits: int) -> str:
    if number is None:
        return "–"
    value, band = _parts(number)
    text = f"{value:.{digits}f}"
    return text if band is None else f"{text} ({band[0]:.{digits}f} to {band[1]:.{digits}f})"

"""What a column is, judged from its first rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sapwood.reading.chunk import RawColumn
from sapwood.reading.encoding import columns
from sapwood.reading.encoding.columns import MISSING_MOMENT, UnusableColumnError, Values
from sapwood.reading.encoding.features import Boolean, Category, Feature, Number, TimeOfDay, Timestamp

MOSTLY = 0.9
"""A column of text is numbers (dates, ...) when this share of its values is: the rest are then bad rows, and the user
hears of them, instead of a column of numbers becoming thousands of categories because of one typing error."""

HALF = 0.5
"""A column of text in which this share is numbers may have been meant to hold numbers: that is noted."""

Judged = Literal["number", "boolean", "timestamp", "time", "category"]

# In this order: what reads as a number is a number, even where it could be read as something else.
_READERS: dict[Judged, Callable[[RawColumn], Values]] = {
    "number": columns.numbers,
    "boolean": columns.booleans,
    "timestamp": columns.moments,
    "time": columns.hours,
}


@dataclass(frozen=True)
class Probe:
    """A column as it arrived in pieces: its kind, whether that was read off text or off the type, and any doubt."""

    pieces: list[RawColumn]
    kind: Judged
    from_text: bool
    doubt: str = ""


def probe(pieces: list[RawColumn]) -> Probe:
    """Judge a column by its pieces. One without any value counts as a number: that costs least if it stays empty."""
    natural = {columns.natural_kind(piece) for piece in pieces if len(piece)} or {"number"}
    if len(natural) == 1 and "text" not in natural:
        return Probe(pieces, natural.pop(), False)  # type: ignore[arg-type]
    n_values = sum(int(np.sum(columns.texts(piece).ix >= 0)) for piece in pieces)
    if n_values == 0:
        return Probe(pieces, "number", True)
    for kind, read in _READERS.items():
        try:
            n_bad = sum(0 if (bad := read(piece).bad) is None else int(bad.sum()) for piece in pieces)
        except UnusableColumnError:  # some piece is declared to be of another kind
            continue
        if n_bad <= (1.0 - MOSTLY) * n_values:
            return Probe(pieces, kind, True)
    return Probe(pieces, "category", True, _doubt(pieces, n_values))


def not_numbers(pieces: list[RawColumn]) -> tuple[int, str]:
    """How many values of a column of text are not numbers, and the first of them."""
    n_bad, first = 0, ""
    for piece in pieces:
        bad = columns.numbers(piece).bad
        if bad is not None:
            first = first if n_bad else str(piece[int(np.argmax(bad))].as_py())
            n_bad += int(bad.sum())
    return n_bad, first


def _doubt(pieces: list[RawColumn], n_values: int) -> str:
    """What speaks against categories, to be read after the column's name; nothing where few values are numbers."""
    try:
        n_bad, first = not_numbers(pieces)
    except UnusableColumnError:  # declared to be something else
        return ""
    n_numbers = n_values - n_bad
    if n_numbers < HALF * n_values:
        return ""
    return (
        f"is read as categories, although {n_numbers} of its first {n_values} values are numbers: others, such as "
        f"{first!r}, are not; leave them empty where a number is not known, or declare the column categorical"
    )


def make_feature(name: str, judged: Probe) -> Feature:
    """A feature that has seen nothing yet, but knows where its column starts."""
    if judged.kind == "number":
        return Number(name)
    if judged.kind == "boolean":
        return Boolean(name)
    if judged.kind == "category":
        return Category(name, doubt=judged.doubt)
    if judged.kind == "time":
        return TimeOfDay(name)
    moments = np.concatenate([columns.moments(piece).values for piece in judged.pieces])
    known = moments[moments != MISSING_MOMENT]
    origin = int(known[0]) if len(known) else 0
    return Timestamp(name, origin, bool(np.any(known % 86_400_000_000)))

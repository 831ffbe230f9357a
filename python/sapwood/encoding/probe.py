"""Inferring the type of a column from its first rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sapwood.encoding import columns
from sapwood.encoding.columns import MISSING_TIMESTAMP, UnusableColumnError, Values
from sapwood.encoding.features import Boolean, Category, Feature, Number, TimeOfDay, Timestamp
from sapwood.reading.chunk import RawColumn

MIN_SHARE = 0.9
"""A text column is numeric (dates, ...) if at least this share of its values is. The rest are then bad rows, which the
user learns about; otherwise a single typo would turn a column of numbers into thousands of categories."""

DOUBT_SHARE = 0.5
"""A text column with at least this share of numbers may have been meant to be numeric, which deserves a note."""

ColumnKind = Literal["number", "boolean", "timestamp", "time", "category"]

# In order of precedence: what parses as a number is a number, even if it also parses as something else.
_READERS: dict[ColumnKind, Callable[[RawColumn], Values]] = {
    "number": columns.numbers,
    "boolean": columns.booleans,
    "timestamp": columns.timestamps,
    "time": columns.hours,
}


@dataclass(frozen=True)
class Probe:
    """A column in pieces: its kind, whether that was inferred from text or given by the type, and any doubt."""

    pieces: list[RawColumn]
    kind: ColumnKind
    from_text: bool
    doubt: str = ""


def probe(pieces: list[RawColumn]) -> Probe:
    """Infer the kind of a column. One without values counts as numeric, which is cheapest if it stays empty."""
    if any(columns.is_dictionary(piece) for piece in pieces):
        return Probe(pieces, "category", False)  # categorical by its type, even if its categories look like numbers
    natural = {columns.natural_kind(piece) for piece in pieces if len(piece)} or {"number"}
    if len(natural) == 1 and "text" not in natural:
        return Probe(pieces, natural.pop(), False)  # type: ignore[arg-type]
    n_values = sum(int(np.sum(columns.texts(piece).ix >= 0)) for piece in pieces)
    if n_values == 0:
        return Probe(pieces, "number", True)
    for kind, read in _READERS.items():
        try:
            n_bad = sum(0 if (bad := read(piece).bad) is None else int(bad.sum()) for piece in pieces)
        except UnusableColumnError:  # the type of some piece rules this kind out
            continue
        if n_bad <= (1.0 - MIN_SHARE) * n_values:
            return Probe(pieces, kind, True)
    return Probe(pieces, "category", True, _doubt(pieces, n_values))


def not_numbers(pieces: list[RawColumn]) -> tuple[int, str]:
    """Return how many values of a text column are not numbers, and the first of them."""
    n_bad, first = 0, ""
    for piece in pieces:
        bad = columns.numbers(piece).bad
        if bad is not None:
            first = first if n_bad else str(piece[int(np.argmax(bad))].as_py())
            n_bad += int(bad.sum())
    return n_bad, first


def _doubt(pieces: list[RawColumn], n_values: int) -> str:
    """Return why the column may not be categorical, to follow its name; empty if few values are numbers."""
    try:
        n_bad, first = not_numbers(pieces)
    except UnusableColumnError:  # the type rules numbers out
        return ""
    n_numbers = n_values - n_bad
    if n_numbers < DOUBT_SHARE * n_values:
        return ""
    return (
        f"is read as categories, although {n_numbers} of its first {n_values} values are numbers: others, such as "
        f"{first!r}, are not; leave them empty where a number is not known, or declare the column categorical"
    )


def make_feature(name: str, probed: Probe) -> Feature:
    """Return a new feature for a column."""
    if probed.kind == "number":
        return Number(name)
    if probed.kind == "boolean":
        return Boolean(name)
    if probed.kind == "category":
        return Category(name, doubt=probed.doubt)
    if probed.kind == "time":
        return TimeOfDay(name)
    timestamps = np.concatenate([columns.timestamps(piece).values for piece in probed.pieces])
    known = timestamps[timestamps != MISSING_TIMESTAMP]
    origin = int(known[0]) if len(known) else 0
    return Timestamp(name, origin, bool(np.any(known % 86_400_000_000)))

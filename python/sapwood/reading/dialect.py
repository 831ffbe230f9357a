"""How a source writes numbers and missing values: ``1.234,56``, ``1,234.56``, ``12.3%``, ``n.a.``.

Columns of text that hold such numbers are rewritten with plain ones before anything else sees them. What a column holds
is decided once, from the first rows. All other text is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from sapwood._state import Fields, StateError
from sapwood.encoding.columns import MISSING_TEXT, UnusableColumnError, natural_kind
from sapwood.encoding.probe import MIN_SHARE
from sapwood.reading._arrow import pyarrow
from sapwood.reading.chunk import Chunk, RawColumn
from sapwood.reading.errors import SourceError
from sapwood.reading.first_look import listed

MARKERS = frozenset(["-", "--", "---", "–", "—", ".", "..", "*", "n.a.", "missing", "unknown", "none", "nil", "(null)"])
"""Spellings of a missing value in a column of numbers, in lower case, besides those that are missing in any column."""

_SEPARATORS = ".,'’ \u00a0\u202f"
_SPACES = str.maketrans("", "", "'’ \u00a0\u202f")
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+%?")
_UNGROUPED = re.compile(r"[+-]?\d{4,}%?")
_MISSING = frozenset(MISSING_TEXT)


@dataclass(frozen=True)
class Style:
    """How the numbers of one column are written.

    `decimal` is the decimal mark and `thousands` the separator that goes with it (blanks and apostrophes always do, if
    it is not given). `percent` says whether they may have a per cent sign, and `missing` which texts stand for none.
    """

    decimal: str = "."
    thousands: str = ","
    percent: bool = False
    missing: frozenset[str] = frozenset()

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        group = rf"[{re.escape(self.thousands)}'’ \u00a0\u202f]"
        mark = re.escape(self.decimal)
        percent = r"\s?%?" if self.percent else ""
        whole = rf"(?:[1-9]\d{{0,2}}(?:{group}\d{{3}})+|\d+)"
        return re.compile(rf"[+-]?(?:{whole}(?:{mark}\d*)?|{mark}\d+)(?:[eE][+-]?\d+)?{percent}")

    def accepts(self, text: str) -> bool:
        """Whether a text is a number in this style."""
        return self._pattern.fullmatch(text) is not None

    def plain(self, text: str) -> str | None:
        """Return a number as Python writes it, None if it is missing; what is no number is returned as it is."""
        stripped = text.strip()
        if stripped.lower() in self.missing:
            return None
        if not self.accepts(stripped):
            return text
        digits = stripped.rstrip("% \u00a0\u202f").translate(_SPACES).replace(self.thousands, "")
        return digits.replace(self.decimal, ".")


PLAIN = Style(thousands="")
ENGLISH = Style()
CONTINENTAL = Style(decimal=",", thousands=".")


@dataclass(frozen=True)
class DialectOptions:
    """What the user said about the numbers of a source; None: find out."""

    decimal: str | None = None
    thousands: str | None = None
    na_values: Sequence[str] = ()

    def check(self) -> None:
        """Raise SourceError if the options cannot be."""
        if self.decimal not in (None, ".", ","):
            raise SourceError(f"decimal is {self.decimal!r}; it must be '.' or ','")
        if self.thousands is not None and (len(self.thousands) != 1 or self.thousands not in _SEPARATORS):
            raise SourceError(f"thousands is {self.thousands!r}; it must be '.', ',', an apostrophe or a blank")
        if self.decimal is not None and self.decimal == self.thousands:
            raise SourceError(f"decimal and thousands are both {self.decimal!r}; give each a mark of its own")

    def styles(self) -> list[Style]:
        """Return the styles to choose from."""
        of_decimal = [s for s in (ENGLISH, CONTINENTAL) if self.decimal in (None, s.decimal)]
        if self.thousands is None:
            return of_decimal
        return [replace(s, thousands=self.thousands) for s in of_decimal if s.decimal != self.thousands]


@dataclass(frozen=True)
class Dialect:
    """The styles of the columns that are not written plainly."""

    styles: dict[str, Style]
    na_values: frozenset[str] = frozenset()

    @classmethod
    def find(
        cls,
        first: Sequence[Chunk],
        options: DialectOptions,
        *,
        as_they_are: Collection[str] = (),
        target: str | None = None,
    ) -> Dialect:
        """Find out how the first rows are written, except in the columns that shall be left as they are."""
        na_values = frozenset(text.strip() for text in options.na_values)
        looks = {}
        for name in first[0].columns if first else ():
            distinct = _distinct([chunk.columns[name] for chunk in first]) - na_values
            if distinct and name not in as_they_are:
                looks[name] = _Look.at(distinct, options, is_target=name == target)
        prefers_comma = {look.certain for look in looks.values()} - {None} == {","}
        styles = {name: look.choose(prefers_comma=prefers_comma) for name, look in looks.items()}
        return cls({name: style for name, style in styles.items() if style is not None}, na_values)

    def apply(self, chunk: Chunk) -> Chunk:
        """Return the chunk with plain numbers."""
        if not self.styles and not self.na_values:
            return chunk
        columns = {name: self._plain(name, raw) for name, raw in chunk.columns.items()}
        return replace(chunk, columns=columns)

    def _plain(self, name: str, raw: RawColumn) -> RawColumn:
        style = self.styles.get(name)
        if not _is_text(raw) or (style is None and not self.na_values):
            return raw
        pa = pyarrow("text")
        coded = raw if pa.types.is_dictionary(raw.type) else raw.cast(pa.string()).dictionary_encode()
        texts = coded.dictionary.to_pylist()
        plain = [None if text is None else self._plain_text(style, text) for text in texts]
        return pa.array(plain, pa.string()).take(coded.indices)

    def _plain_text(self, style: Style | None, text: str) -> str | None:
        if text.strip() in self.na_values:
            return None
        return text if style is None else style.plain(text)

    def notes(self) -> list[str]:
        """Return what was found out, for the user."""
        notes = []
        for decimal, what in ((",", "decimal commas, 1.234,56 for 1234.56"), (".", "separators, 1,234.56 for 1234.56")):
            names = [name for name, style in self.styles.items() if style.thousands and style.decimal == decimal]
            if names:
                notes.append(f"numbers are read with {what}, in {listed(names)}; set decimal= if that is wrong")
        names = [name for name, style in self.styles.items() if style.percent]
        if names:
            notes.append(f"numbers are read without their per cent sign, 12.3 for 12.3%, in {listed(names)}")
        for name, style in self.styles.items():
            if style.missing:
                texts = ", ".join(map(repr, sorted(style.missing)))
                notes.append(
                    f"column {name!r} has numbers, and {texts} is read as a missing one; if it is not, declare "
                    "the column categorical"
                )
        return notes

    def state(self) -> dict[str, Any]:
        """Return the state as JSON values."""
        return {
            "styles": {name: [s.decimal, s.thousands, s.percent, sorted(s.missing)] for name, s in self.styles.items()},
            "na_values": sorted(self.na_values),
        }

    @classmethod
    def restore(cls, fields: Fields) -> Dialect:
        """Return the dialect of which `state` was made."""
        styles = {}
        fields.part("styles")  # which checks that it has entries
        for name, found in fields.raw("styles").items():
            if not (isinstance(found, list) and list(map(type, found)) == [str, str, bool, list]):
                raise StateError(f"{fields.where}.styles holds {found!r:.60}, which is not a style")
            decimal, thousands, percent, missing = found
            if decimal not in (".", ",") or len(thousands) > 1 or not all(isinstance(text, str) for text in missing):
                raise StateError(f"{fields.where}.styles holds {found!r:.60}, which is not a style")
            styles[name] = Style(decimal, thousands, percent, frozenset(missing))
        na_values = fields.items("na_values")
        if not all(isinstance(text, str) for text in na_values):
            raise StateError(f"{fields.where}.na_values holds something that is not text")
        return cls(styles, frozenset(na_values))


@dataclass(frozen=True)
class _Look:
    """The styles in which the values of a column are numbers, and what speaks for one of them.

    Attributes
    ----------
    fitting : list of Style
        The styles in which they are; plain numbers have no other.
    certain : str or None
        The decimal mark, if it is certain.
    has_ungrouped : bool
        Whether some number of four or more digits has no separator.
    is_grouped : bool
        Whether all points may separate thousands.
    """

    fitting: list[Style]
    certain: str | None = None
    has_ungrouped: bool = False
    is_grouped: bool = False

    @classmethod
    def at(cls, distinct: set[str], options: DialectOptions, *, is_target: bool) -> _Look:
        """Look at the distinct values of a column, which are not missing. A target may have any text for a label."""
        markers = frozenset() if is_target else frozenset(text.lower() for text in distinct) & MARKERS
        values = [text for text in distinct if text.lower() not in markers]
        if not values:
            return cls([])
        percent = any(text.endswith("%") for text in values)
        enough = MIN_SHARE * len(values)
        if options.decimal != "," and sum(_is_plain(text, percent=percent) for text in values) >= enough:
            is_grouped = options.decimal is None and all(_GROUPED.fullmatch(text) for text in values)
            has_point = any("." in text for text in values)
            return cls(
                [replace(PLAIN, percent=percent, missing=markers)],
                "." if has_point and not is_grouped else None,
                is_grouped=is_grouped,
            )
        styles = [replace(style, percent=percent, missing=markers) for style in options.styles()]
        fitting = [style for style in styles if sum(map(style.accepts, values)) >= enough]
        certain = fitting[0].decimal if len(fitting) == 1 else None
        return cls(fitting, certain, has_ungrouped=any(_UNGROUPED.fullmatch(text) for text in values))

    def choose(self, *, prefers_comma: bool) -> Style | None:
        """Return the style of the column; None if it is plain, or not of numbers.

        `prefers_comma`: other columns of the source certainly have decimal commas, and none a decimal point.
        """
        if not self.fitting:
            return None
        first = self.fitting[0]
        if first.thousands:
            by_comma = next((style for style in self.fitting if style.decimal == ","), None)
            return by_comma if by_comma is not None and (prefers_comma or self.has_ungrouped) else first
        if self.is_grouped and prefers_comma:
            return replace(CONTINENTAL, percent=first.percent, missing=first.missing)
        return first if first.percent or first.missing else None


def _is_plain(text: str, *, percent: bool) -> bool:
    try:
        float(text.rstrip("% ") if percent else text)
    except ValueError:
        return False
    return "_" not in text  # Python accepts 1_000 as a thousand; no file format does


def _distinct(pieces: Iterable[RawColumn]) -> set[str]:
    """Return the distinct texts of a column that are not missing; none if it is not of text."""
    found: set[str] = set()
    for raw in pieces:
        if not _is_text(raw):
            return set()
        found.update(text.strip() for text in raw.unique().to_pylist() if text is not None)
    return found - _MISSING


def _is_text(raw: RawColumn) -> bool:
    try:
        return natural_kind(raw) == "text"
    except UnusableColumnError:
        return False

"""Features: how each column becomes inputs of a model, and the state that takes.

A feature turns one column into a fixed number of inputs. `parse` only reports which values are bad; `write` runs
afterwards, on good rows only, so that a rejected row never adds a category. `write_one` is a shortcut for single
values, with the same result; it declines a value of a rare type by raising `NotPlainError`, and the column is parsed.
"""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from sapwood.encoding import columns
from sapwood.encoding.columns import MISSING_TIMESTAMP, UnusableColumnError, Values
from sapwood.reading.chunk import RawColumn

MAX_CATEGORIES = 4096
"""Maximum number of categories per column. Later ones share one code, to bound memory."""

LARGEST_MAGNITUDE = 1e100
"""The engine squares and sums inputs, and refuses larger ones."""

_DAY = 86_400_000_000  # microseconds
_FIRST_MONDAY = 4 * _DAY  # 1970-01-05


class NotPlainError(Exception):
    """A single value is bad or of a rare type: it must be parsed as a column of one row."""


class Feature(Protocol):
    """One column of a table."""

    kind: ClassVar[str]
    expected: ClassVar[str]  # completes "... is not"
    name: str

    @property
    def outputs(self) -> list[str]:
        """Names of the inputs."""

    def parse(self, raw: RawColumn) -> Values:
        """Parse a column; the `values` of the result are for `write`."""

    def write(self, values: NDArray[Any], out: NDArray[np.float64], *, grow: bool) -> None:
        """Fill the columns of `out` from parsed values. Only if told to `grow` may categories be added."""

    def write_one(self, value: Any, out: NDArray[np.float64], *, grow: bool) -> None:
        """Fill `out`, of one row, from a single raw value. May raise `NotPlainError`."""

    def notes(self) -> list[str]:
        """Return remarks for the user on the values so far."""

    def state(self) -> dict[str, Any]:
        """Return the state as JSON values."""


class Number:
    """A number, unchanged."""

    kind: ClassVar[str] = "number"
    expected: ClassVar[str] = "a number"

    def __init__(self, name: str, rounded: bool = False) -> None:
        self.name = name
        self._rounded = rounded

    @property
    def outputs(self) -> list[str]:
        return [self.name]

    def parse(self, raw: RawColumn) -> Values:
        parsed = columns.numbers(raw)
        if not self._rounded:
            self._rounded = _holds_inexact_integers(raw, parsed.values)
        return parsed

    def write(self, values: NDArray[Any], out: NDArray[np.float64], *, grow: bool) -> None:
        out[:, 0] = values

    def write_one(self, value: Any, out: NDArray[np.float64], *, grow: bool) -> None:
        out[0, 0] = _plain_number(value)

    def notes(self) -> list[str]:
        if not self._rounded:
            return []
        return [
            f"column {self.name!r} holds integers of 2**53 or beyond, which are rounded to the nearest double; "
            "drop it if it is an identifier, or declare it categorical"
        ]

    def state(self) -> dict[str, Any]:
        return {"kind": self.kind, "name": self.name, "rounded": self._rounded}


class Boolean(Number):
    """1 for true, 0 for false."""

    kind: ClassVar[str] = "boolean"
    expected: ClassVar[str] = "true or false"

    def parse(self, raw: RawColumn) -> Values:
        return columns.booleans(raw)

    def write_one(self, value: Any, out: NDArray[np.float64], *, grow: bool) -> None:
        if isinstance(value, str):
            raise NotPlainError
        out[0, 0] = _plain_number(value)


class Category:
    """A category, encoded as the number of distinct categories seen before it: 0, 1, 2, ...

    This makes one input per column, whatever the number of categories. Indicator columns would multiply the inputs, and
    with them the minimum leaf size (2p + 4 for linear leaves) and the splits to search; and the categories at the end
    of a stream are not those at its start. With codes in order of appearance, a column of two categories is its own
    indicator, a tree isolates any category with at most two cuts, and a single cut separates new categories from old
    ones, which is where streams change. A new category takes the next code when it is learned; until then every unseen
    one has that code. Beyond `MAX_CATEGORIES`, all new ones share the last code. A missing value is NaN. The target is
    never used.
    """

    kind: ClassVar[str] = "category"
    expected: ClassVar[str] = "text"

    def __init__(
        self, name: str, categories: list[str] | None = None, overflowed: bool = False, doubt: str = ""
    ) -> None:
        self.name = name
        self._doubt = doubt
        self._code_of = {category: code for code, category in enumerate(categories or [])}
        self._overflowed = overflowed

    @property
    def outputs(self) -> list[str]:
        return [self.name]

    @property
    def categories(self) -> list[str]:
        """The categories so far, in the order of their codes."""
        return list(self._code_of)

    def parse(self, raw: RawColumn) -> Values:
        found = columns.texts(raw)
        # An object array can be indexed by row like any other column, and shares the strings instead of copying them.
        strings = np.array([*found.distinct, None], dtype=object)
        if columns.natural_kind(raw) != "text" and found.distinct and self._holds_words:
            raise UnusableColumnError(columns.type_name(raw))
        return Values(strings[found.ix])

    def write(self, values: NDArray[Any], out: NDArray[np.float64], *, grow: bool) -> None:
        code_of = self._code_of
        unseen = len(code_of)
        for i, category in enumerate(values.tolist()):
            if category is None:
                out[i, 0] = np.nan
                continue
            code = code_of.get(category)
            if code is None:
                code = self._add(category) if grow else unseen
            out[i, 0] = code

    def write_one(self, value: Any, out: NDArray[np.float64], *, grow: bool) -> None:
        if value is None:
            out[0, 0] = np.nan
            return
        if type(value) is not str:
            raise NotPlainError
        known = self._code_of.get(value)
        if known is not None:
            out[0, 0] = known
            return
        key = columns.canonical(value)
        if columns.is_missing_text(key):
            out[0, 0] = np.nan
        elif grow:
            out[0, 0] = self._code_of[key] if key in self._code_of else self._add(key)
        else:
            out[0, 0] = self._code_of.get(key, len(self._code_of))

    def _add(self, category: str) -> int:
        if len(self._code_of) < MAX_CATEGORIES:
            return self._code_of.setdefault(category, len(self._code_of))
        self._overflowed = True
        return MAX_CATEGORIES

    @property
    def _holds_words(self) -> bool:
        """Whether none of the categories could have come from a column of numbers."""
        return bool(self._code_of) and not any(map(columns.looks_typed, self._code_of))

    def forget_after(self, n_categories: int) -> None:
        """Drop all categories but the first, as when the rows that brought them were refused."""
        for category in self.categories[n_categories:]:
            del self._code_of[category]

    def notes(self) -> list[str]:
        notes = [f"column {self.name!r} {self._doubt}"] if self._doubt else []
        if self._overflowed:
            notes.append(
                f"column {self.name!r} has more than {MAX_CATEGORIES} categories; those met later share one code; "
                "drop the column if it is an identifier"
            )
        return notes

    def state(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "name": self.name,
            "categories": self.categories,
            "overflowed": self._overflowed,
            "doubt": self._doubt,
        }


class Timestamp:
    """A timestamp, as days since the first one, hour of the day, day of the week (Monday is 0) and day of the year.

    Plain numbers suit trees better than sines and cosines, since a cut then falls on an hour. All in UTC. The hour is
    left out if no timestamp among the first rows has one, as in a column of dates.
    """

    kind: ClassVar[str] = "timestamp"
    expected: ClassVar[str] = "a date or time (ISO 8601, such as 2024-05-17 or 2024-05-17T13:30:00)"

    def __init__(self, name: str, origin: int, has_hour: bool) -> None:
        self.name = name
        self._origin = origin
        self._has_hour = has_hour

    @property
    def outputs(self) -> list[str]:
        parts = ["days", "hour", "weekday", "yearday"] if self._has_hour else ["days", "weekday", "yearday"]
        return [f"{self.name}.{part}" for part in parts]

    def parse(self, raw: RawColumn) -> Values:
        return columns.timestamps(raw)

    def write(self, values: NDArray[Any], out: NDArray[np.float64], *, grow: bool) -> None:
        day = np.floor_divide(values, _DAY)
        date = day.astype("datetime64[D]")
        parts = [(values - self._origin) / _DAY]
        if self._has_hour:
            parts.append((values - day * _DAY) / 3.6e9)
        parts.append(np.floor_divide(values - _FIRST_MONDAY, _DAY) % 7)
        parts.append((date - date.astype("datetime64[Y]")).astype(np.int64) + 1)
        for i, part in enumerate(parts):
            out[:, i] = part
        out[values == MISSING_TIMESTAMP] = np.nan

    def write_one(self, value: Any, out: NDArray[np.float64], *, grow: bool) -> None:
        if value is None:
            out[:] = np.nan
            return
        micros = columns.one_timestamp(value) if type(value) in (str, datetime) else None
        if micros is None:
            raise NotPlainError
        self.write(np.array([micros]), out, grow=False)

    def notes(self) -> list[str]:
        return []

    def state(self) -> dict[str, Any]:
        return {"kind": self.kind, "name": self.name, "origin": self._origin, "has_hour": self._has_hour}


class TimeOfDay:
    """A time of day, in hours."""

    kind: ClassVar[str] = "time"
    expected: ClassVar[str] = "a time of day (such as 13:30 or 13:30:00)"

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def outputs(self) -> list[str]:
        return [f"{self.name}.hour"]

    def parse(self, raw: RawColumn) -> Values:
        return columns.hours(raw)

    def write(self, values: NDArray[Any], out: NDArray[np.float64], *, grow: bool) -> None:
        out[:, 0] = values

    def write_one(self, value: Any, out: NDArray[np.float64], *, grow: bool) -> None:
        if value is not None:
            raise NotPlainError
        out[0, 0] = np.nan

    def notes(self) -> list[str]:
        return []

    def state(self) -> dict[str, Any]:
        return {"kind": self.kind, "name": self.name}


def _plain_number(value: Any) -> float:
    kind = type(value)
    if kind is float:
        return float(value)
    if value is None:
        return math.nan
    if kind is str:
        number = columns.one_number(value)
    elif kind is bool or (kind is int and abs(value) < columns.FIRST_INEXACT_INTEGER) or isinstance(value, np.number):
        number = float(value)
    else:
        number = None
    if number is None:
        raise NotPlainError
    return number


_FEATURES: dict[str, Any] = {cls.kind: cls for cls in (Number, Boolean, Category, Timestamp, TimeOfDay)}


def restore(state: dict[str, Any]) -> Feature:
    """Restore a feature from its `state`."""
    arguments = dict(state)
    feature: Feature = _FEATURES[arguments.pop("kind")](**arguments)
    return feature


def _holds_inexact_integers(raw: RawColumn, values: NDArray[np.float64]) -> bool:
    beyond = np.abs(values) >= columns.FIRST_INEXACT_INTEGER
    if not beyond.any():
        return False
    if columns.natural_kind(raw) != "text":
        return columns.is_integer_type(raw)
    return bool(raw[int(np.argmax(beyond))].as_py().strip().lstrip("+-").isdigit())

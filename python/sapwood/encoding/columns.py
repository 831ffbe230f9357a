"""Parsing raw columns into numbers, timestamps or text: stateless, vectorised, and independent of the file format.

A text column is first parsed as a whole, by Arrow. Only if that fails is it parsed value by value, which also finds the
values at fault.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sapwood.reading._arrow import pyarrow, to_numpy
from sapwood.reading.chunk import RawColumn

Kind = Literal["number", "boolean", "timestamp", "time", "text"]

MISSING_TEXT = ("", "NA", "N/A", "na", "n/a", "#N/A", "NaN", "nan", "NAN", "null", "NULL", "Null", "?")
"""Spellings of a missing value. "None" is also missing in a numeric column, but may be a category elsewhere."""

_MISSING = frozenset(MISSING_TEXT)
_MISSING_NUMBER = _MISSING | {"None", "none"}
_BOOLEANS = {"true": 1.0, "false": 0.0}
_TIME_OF_DAY = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?")
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

MISSING_TIMESTAMP = int(np.iinfo(np.int64).min)
FIRST_INEXACT_INTEGER = 2.0**53  # as a double, it may also stand for its successor


@dataclass(frozen=True)
class Values:
    """Parsed values, and a mask of those that could not be parsed (None: all could)."""

    values: NDArray[Any]
    bad: NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class Texts:
    """Text as indices into a list of distinct strings. Missing values have index -1."""

    distinct: list[str]
    ix: NDArray[np.int64]


class UnusableColumnError(Exception):
    """A column of an unsupported type; the message is the name of the type."""


def natural_kind(raw: RawColumn) -> Kind:
    """Return the kind of a column by its type alone."""
    if isinstance(raw, np.ndarray):
        return "boolean" if raw.dtype.kind == "b" else "number"
    pa = pyarrow("a column that does not hold plain numbers")
    kind, types = raw.type, pa.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_boolean(kind):
        return "boolean"
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_null(kind):
        return "number"
    if types.is_duration(kind):
        return "number"
    if types.is_timestamp(kind) or types.is_date(kind):
        return "timestamp"
    if types.is_time(kind):
        return "time"
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "text"
    raise UnusableColumnError(str(kind))


def is_empty(raw: RawColumn) -> bool:
    """Whether all values are missing, so that the type of the column says nothing."""
    if isinstance(raw, np.ndarray):
        return bool(raw.dtype.kind == "f" and np.isnan(raw).all())
    return bool(raw.null_count == len(raw))


def is_dictionary(raw: RawColumn) -> bool:
    """Whether the column is categorical by its type."""
    return not isinstance(raw, np.ndarray) and bool(pyarrow("a table").types.is_dictionary(raw.type))


def is_integer_type(raw: RawColumn) -> bool:
    """Whether the column has an integer type."""
    if isinstance(raw, np.ndarray):
        return raw.dtype.kind in "iu"
    return bool(pyarrow("a table").types.is_integer(raw.type))


def numbers(raw: RawColumn) -> Values:
    """Parse as float64, NaN where missing."""
    if isinstance(raw, np.ndarray):
        return Values(raw.astype(np.float64, copy=False))
    kind = natural_kind(raw)
    if kind in ("timestamp", "time"):
        raise UnusableColumnError(str(raw.type))
    pa = pyarrow("a table")
    if kind == "text":
        raw = _plain_text(raw)
        try:
            return Values(to_numpy(raw.cast(pa.float64()), np.float64, math.nan))
        except pa.ArrowInvalid:
            return _parse_each(raw, _number, math.nan, np.float64)
    if pa.types.is_dictionary(raw.type):
        raw = raw.dictionary_decode()
    if pa.types.is_duration(raw.type):
        micros = raw.cast(pa.duration("us"), safe=False).cast(pa.int64())
        return Values(to_numpy(micros.cast(pa.float64(), safe=False), np.float64, math.nan) / 1e6)
    return Values(to_numpy(raw.cast(pa.float64(), safe=False), np.float64, math.nan))


def booleans(raw: RawColumn) -> Values:
    """Parse as 1.0 for true, 0.0 for false, NaN where missing. Numeric columns are left as they are."""
    if natural_kind(raw) != "text":
        return numbers(raw)
    return _parse_each(_plain_text(raw), _boolean, math.nan, np.float64)


def timestamps(raw: RawColumn) -> Values:
    """Parse as microseconds since 1970 in UTC, int64, `MISSING_TIMESTAMP` where missing."""
    if is_empty(raw):
        return Values(np.full(len(raw), MISSING_TIMESTAMP))
    kind = natural_kind(raw)
    if kind not in ("timestamp", "text"):
        raise UnusableColumnError(type_name(raw))
    pa = pyarrow("a table")
    if kind == "timestamp":
        zone = getattr(raw.type, "tz", None)
        return Values(_micros(raw.cast(pa.timestamp("us", zone), safe=False)))
    raw = _plain_text(raw)
    for zone in (None, "UTC"):
        try:
            return Values(_micros(raw.cast(pa.timestamp("us", zone))))
        except pa.ArrowInvalid:
            continue
    return _parse_each(raw, _timestamp, MISSING_TIMESTAMP, np.int64)


def hours(raw: RawColumn) -> Values:
    """Parse as time of day in hours, NaN where missing."""
    if is_empty(raw):
        return Values(np.full(len(raw), math.nan))
    kind = natural_kind(raw)
    if kind not in ("time", "text"):
        raise UnusableColumnError(type_name(raw))
    if kind == "text":
        return _parse_each(_plain_text(raw), _hour, math.nan, np.float64)
    pa = pyarrow("a table")
    micros = raw.cast(pa.time64("us"), safe=False).cast(pa.int64()).cast(pa.float64())
    return Values(to_numpy(micros, np.float64, math.nan) / 3.6e9)


def texts(raw: RawColumn) -> Texts:
    """Parse as text, distinct strings in order of first appearance; other types are formatted as text."""
    pa = pyarrow("text")
    if isinstance(raw, np.ndarray):
        raw = pa.array(raw, from_pandas=True)
    if natural_kind(raw) != "text":
        raw = pa.array([None if v is None else to_text(v) for v in raw.to_pylist()], pa.string())
    coded = _plain_text(raw).dictionary_encode()
    ix = to_numpy(coded.indices.cast(pa.int64()), np.int64, -1)
    strings = coded.dictionary.to_pylist()
    distinct: dict[str, int] = {}
    translate = np.empty(len(strings) + 1, dtype=np.int64)
    translate[-1] = -1  # index -1: a missing value stays missing
    for i, string in enumerate(strings):
        key = canonical(string)
        translate[i] = -1 if key in _MISSING else distinct.setdefault(key, len(distinct))
    return Texts(list(distinct), translate[ix])


def to_text(value: object) -> str:
    """Format a value of a table as in a CSV file; integers without a point, so that 1 and 1.0 are equal."""
    if isinstance(value, float) and value.is_integer() and abs(value) < FIRST_INEXACT_INTEGER:
        return str(int(value))
    return str(value)


def canonical(text: str) -> str:
    """Strip blanks, and write integers without a point, so that "1.0" and 1 are the same category."""
    text = text.strip()
    if text.endswith(".0") and text[:-2].lstrip("-").isdigit():
        return text[:-2]
    return text


def is_missing_text(text: str) -> bool:
    """Whether a stripped text stands for a missing value, in any kind of column."""
    return text in _MISSING


def looks_typed(text: str) -> bool:
    """Whether a category could be the text of a number or a boolean."""
    return _number(text) is not None or _boolean(text) is not None


def type_name(raw: RawColumn) -> str:
    """Return the name of the type of a column, for errors."""
    return str(raw.dtype if isinstance(raw, np.ndarray) else raw.type)


def shown_value(raw: RawColumn, ix: int) -> Any:
    """Return a value of a column as a Python object, for errors."""
    return raw[ix].item() if isinstance(raw, np.ndarray) else raw[ix].as_py()


def shown(raw: RawColumn, ix: int) -> str:
    """Return a value of a column as short text, for errors."""
    text = repr(shown_value(raw, ix))
    return text if len(text) <= 60 else text[:57] + "..."


def one_number(text: str) -> float | None:
    """Parse a single text as `numbers` does; None if it is not a number."""
    text = text.strip()
    return math.nan if text in _MISSING else _number(text)


def one_timestamp(value: str | datetime) -> int | None:
    """Parse a single timestamp as `timestamps` does; None if it is none."""
    if isinstance(value, datetime):
        return _micros_of(value)
    text = value.strip()
    return MISSING_TIMESTAMP if text in _MISSING else _timestamp(text)


def _plain_text(raw: Any) -> Any:
    pa = pyarrow("text")
    return raw if pa.types.is_string(raw.type) else raw.cast(pa.string())


def _micros(raw: Any) -> NDArray[np.int64]:
    pa = pyarrow("a table")
    return to_numpy(raw.cast(pa.int64()), np.int64, MISSING_TIMESTAMP)


def _parse_each(raw: Any, parse: Any, missing: float | int, dtype: Any) -> Values:
    """Parse text value by value. `parse` returns None for a bad value, and NaN for missing values of its own."""
    values = np.empty(len(raw), dtype=dtype)
    bad = np.zeros(len(raw), dtype=bool)
    for i, text in enumerate(raw.to_pylist()):
        text = "" if text is None else text.strip()
        value = missing if text in _MISSING else parse(text)
        bad[i] = value is None
        values[i] = missing if value is None else value
    return Values(values, bad if bad.any() else None)


def _number(text: str) -> float | None:
    if text in _MISSING_NUMBER:
        return math.nan
    if "_" in text:  # Python accepts 1_000 as a thousand; no file format does
        return None
    try:
        return float(text)
    except ValueError:
        return None


def _boolean(text: str) -> float | None:
    return _BOOLEANS.get(text.lower())


def _timestamp(text: str) -> int | None:
    text = text.replace("/", "-")
    if text.endswith(("Z", "z")):
        text = text[:-1] + "+00:00"
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        return None
    return _micros_of(parsed)


def _micros_of(moment: datetime) -> int:
    gap = (moment.replace(tzinfo=timezone.utc) if moment.tzinfo is None else moment) - _EPOCH
    return (gap.days * 86_400 + gap.seconds) * 1_000_000 + gap.microseconds


def _hour(text: str) -> float | None:
    match = _TIME_OF_DAY.fullmatch(text)
    if match is None:
        return None
    hour, minute, second = int(match[1]), int(match[2]), float(match[3] or 0.0)
    if hour > 23 or minute > 59 or second >= 60.0:
        return None
    return ((hour * 60 + minute) * 60_000_000 + round(second * 1e6)) / 3.6e9

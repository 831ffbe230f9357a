"""Tables as nobody would write them on purpose: every kind of column, value, name and size, drawn from a number."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Rng = np.random.Generator
Column = list[Any]

NAMES = (
    *(
        "a",
        "b",
        "x1",
        "y",
        "price",
        "größe",
        "日本",
        " padded ",
        "[/]",
        "$x^$",
        "a,b",
        'say "hi"',
        "=1+1",
        "nan",
        "1e5",
    ),
    *("two\nlines", "\x1b[31m", "row", "prediction", "p_a", "a.hour", "", "A", "x" * 300),
)
TEXTS = (
    "red",
    "blue",
    "NA",
    "",
    " ",
    "1",
    "1.0",
    "nan",
    "None",
    "=cmd()",
    'q"q',
    "é",
    "\U0001f600",
    "a" * 200,
    "-",
    "0x1F",
)
NUMBERS = (0.0, -0.0, 1.0, 5e-324, 1e-300, 1e100, -1e100, 1.1e100, 1e308, 2.0**53, 2.0**63, np.inf, -np.inf, np.nan)


@dataclass(frozen=True)
class Table:
    """Named columns of one length, and the column to predict."""

    names: list[str]
    columns: list[Column]
    target: str
    task: str

    @property
    def n_rows(self) -> int:
        return len(self.columns[0])

    def as_dict(self) -> dict[str, Column]:
        return dict(zip(self.names, self.columns, strict=True))


def draw_table(rng: Rng, *, most_rows: int = 60, most_columns: int = 5) -> Table:
    """Draw a table: mostly sane columns, now and then a hostile one or a few hostile values."""
    n_rows = int(rng.choice([1, 2, 3, 10, most_rows], p=[0.05, 0.05, 0.1, 0.3, 0.5]))
    n_columns = int(rng.integers(1, most_columns + 1))
    kinds = list(_COLUMNS)
    columns = [_COLUMNS[kinds[rng.integers(len(kinds))]](rng, n_rows) for _ in range(n_columns)]
    is_numeric = rng.random() < 0.5
    target_kind = "normal" if is_numeric else "few"
    if rng.random() < 0.2:
        target_kind = kinds[rng.integers(len(kinds))]
    columns.append(_COLUMNS[target_kind](rng, n_rows))
    names = [NAMES[ix] for ix in rng.permutation(len(NAMES))[: n_columns + 1]]
    if rng.random() < 0.02:
        names[0] = names[-1]
    for column in columns:
        _damage(rng, column)
    return Table(names, columns, names[-1], "regression" if is_numeric else "classification")


def _damage(rng: Rng, column: Column) -> None:
    """Replace a few values by missing or hostile ones, in some of the columns."""
    fate = rng.random()
    for _ in range(int(rng.integers(1, 4)) if fate < 0.25 else 0):
        ix = int(rng.integers(len(column)))
        column[ix] = None if fate < 0.15 else NUMBERS[rng.integers(len(NUMBERS))] if fate < 0.2 else "oops"


def _normal(rng: Rng, n: int) -> Column:
    scale = 10.0 ** float(rng.choice([0, 0, 0, 3, -3, 12, -12, 99, -300]))
    values: Column = (scale * rng.normal(size=n) + float(rng.choice([0.0, 0.0, 1e6]))).tolist()
    return values


def _constant(rng: Rng, n: int) -> Column:
    return [float(rng.choice([0.0, 1.0, -3.5, 1e99]))] * n


def _integers(rng: Rng, n: int) -> Column:
    top = int(rng.choice([2, 10, 10**6, 2**53, 2**62]))
    values: Column = rng.integers(-top, top, size=n).tolist()
    return values


def _few(rng: Rng, n: int) -> Column:
    levels = rng.permutation(len(TEXTS))[: int(rng.integers(1, 5))]
    return [TEXTS[levels[ix]] for ix in rng.integers(len(levels), size=n)]


def _many(rng: Rng, n: int) -> Column:
    return [f"id {ix}" for ix in rng.permutation(n)]


def _booleans(rng: Rng, n: int) -> Column:
    return [bool(value) for value in rng.integers(2, size=n)]


def _dates(rng: Rng, n: int) -> Column:
    days = rng.integers(-(10**5), 10**5, size=n)
    return [str(np.datetime64("2000-01-01") + int(day)) for day in days]


def _moments(rng: Rng, n: int) -> Column:
    seconds = rng.integers(-(10**9), 10**10, size=n)
    return [str(np.datetime64("1970-01-01T00:00:00") + int(second)) for second in seconds]


def _steps(rng: Rng, n: int) -> Column:
    values: Column = np.repeat([float(rng.normal()), float(1e6 * rng.normal())], [n // 2, n - n // 2]).tolist()
    return values


def _hostile_numbers(rng: Rng, n: int) -> Column:
    return [NUMBERS[ix] for ix in rng.integers(len(NUMBERS), size=n)]


def _mixed(rng: Rng, n: int) -> Column:
    values: Column = [*TEXTS, *NUMBERS, None, True, 7]
    return [values[ix] for ix in rng.integers(len(values), size=n)]


def _empty(rng: Rng, n: int) -> Column:
    return [None] * n


_COLUMNS: dict[str, Callable[[Rng, int], Column]] = {
    "normal": _normal,
    "constant": _constant,
    "integers": _integers,
    "few": _few,
    "many": _many,
    "booleans": _booleans,
    "dates": _dates,
    "moments": _moments,
    "steps": _steps,
    "hostile numbers": _hostile_numbers,
    "mixed": _mixed,
    "empty": _empty,
}


def as_csv(table: Table, rng: Rng) -> bytes:
    """Write a table as CSV, in one of the usual dialects."""
    text = io.StringIO()
    out = csv.writer(
        text,
        delimiter=str(rng.choice([",", ",", ";", "\t", "|"])),
        quoting=[csv.QUOTE_MINIMAL, csv.QUOTE_ALL][int(rng.integers(2))],
        lineterminator=str(rng.choice(["\n", "\n", "\r\n", "\r"])),
    )
    out.writerow(table.names)
    out.writerows(zip(*(["" if value is None else value for value in column] for column in table.columns), strict=True))
    mark = b"\xef\xbb\xbf" if rng.random() < 0.1 else b""
    return mark + text.getvalue().encode("utf-8", "surrogatepass")

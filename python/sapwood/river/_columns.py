"""river's dictionaries and tables as rows of numbers: which feature is which column."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sapwood import errors
from sapwood._input import LARGEST_MAGNITUDE, is_tame
from sapwood.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]


class Columns:
    """The features met so far, each with a column of its own. Immutable.

    Parameters
    ----------
    names : iterable of hashable
        One a column.

    Examples
    --------
    >>> columns = Columns().extended({"b": 1, "a": 2})
    >>> columns.names
    ('a', 'b')
    >>> columns.row({"b": 3, "c": 4})
    array([[nan, 3.]])
    """

    def __init__(self, names: Iterable[Hashable] = ()) -> None:
        self.names = tuple(names)

    @property
    def n_inputs(self) -> int:
        """Columns of the rows. The engine needs one even where no feature has been met."""
        return max(1, len(self.names))

    @cached_property
    def _position(self) -> dict[Hashable, int]:
        return {name: ix for ix, name in enumerate(self.names)}

    def missing_from(self, features: Iterable[Hashable]) -> list[Hashable]:
        """The features that have no column yet, sorted: the order of a dictionary's keys means nothing in river."""
        fresh = [name for name in features if name not in self._position]
        return sorted(fresh, key=lambda name: (str(name), type(name).__name__))

    def extended(self, features: Iterable[Hashable]) -> Columns:
        """These columns and, after them, one for each new feature."""
        fresh = self.missing_from(features)
        return Columns((*self.names, *fresh)) if fresh else self

    def row(self, x: Mapping[Hashable, Any]) -> Floats:
        """One row of a dictionary: NaN where a feature is absent; features without a column are left out."""
        values = np.full((1, self.n_inputs), math.nan)
        for name, value in x.items():
            ix = self._position.get(name)
            if ix is not None:
                values[0, ix] = _number(value, name, 0)
        self._refuse_wild(values)
        return values

    def rows(self, X: pd.DataFrame) -> Floats:
        """The rows of a table, as `row` would make them one by one."""
        values = np.full((len(X), self.n_inputs), math.nan)
        for at, name in enumerate(X.columns):
            ix = self._position.get(name)
            if ix is not None:
                column = X.iloc[:, at]
                if column.dtype.kind in "biuf":
                    values[:, ix] = column.to_numpy(dtype=np.float64, na_value=math.nan)
                else:
                    values[:, ix] = [_number(value, name, row) for row, value in enumerate(column)]
        self._refuse_wild(values)
        return values

    def widened(self, rows: Floats) -> Floats:
        """Rows made when there were fewer columns, with NaN in the columns added since."""
        values = np.full((len(rows), self.n_inputs), math.nan)
        values[:, : rows.shape[1]] = rows
        return values

    def _refuse_wild(self, values: Floats) -> None:
        if is_tame(values):
            return
        wild = np.argwhere(np.abs(values) > LARGEST_MAGNITUDE)
        if len(wild):
            row, ix = map(int, wild[0])
            value = values[row, ix]
            code = "huge-input" if math.isfinite(value) else "infinite-input"
            raise errors.make(code, row=row, column=repr(self.names[ix]), value=value)


def _number(value: Any, name: Hashable, row: int) -> float:
    if value is None:
        return math.nan
    if not isinstance(value, (str, bytes)):
        try:
            return float(value)
        except (TypeError, ValueError):
            if _is_missing(value):
                return math.nan
    raise InputError(
        f"feature {name!r} is {value!r} (row {row}), which is not a number; turn such features into numbers before the "
        "model, for example with river.preprocessing.OneHotEncoder() in the pipeline.",
        "x-text",
    )


def _is_missing(value: Any) -> bool:
    # pandas.NA equals nothing, and says so with another pandas.NA.
    return (value == value) is value

"""From river's dictionaries and tables to rows of numbers: the mapping of features to columns."""

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
    """The features seen so far, one column each. Immutable.

    Parameters
    ----------
    names : iterable of hashable
        One per column.

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
        """Number of columns of a row. The engine needs at least one, even before any feature has been seen."""
        return max(1, len(self.names))

    @cached_property
    def _position(self) -> dict[Hashable, int]:
        return {name: ix for ix, name in enumerate(self.names)}

    def missing_from(self, features: Iterable[Hashable]) -> list[Hashable]:
        """Return the features without a column, sorted, since the order of keys has no meaning in river."""
        fresh = [name for name in features if name not in self._position]
        return sorted(fresh, key=lambda name: (str(name), type(name).__name__))

    def extended(self, features: Iterable[Hashable]) -> Columns:
        """Return these columns followed by one for each new feature."""
        fresh = self.missing_from(features)
        return Columns((*self.names, *fresh)) if fresh else self

    def row(self, x: Mapping[Hashable, Any]) -> Floats:
        """Convert a dictionary to a row: NaN where a feature is absent; features without a column are ignored."""
        values = np.full((1, self.n_inputs), math.nan)
        for name, value in x.items():
            ix = self._position.get(name)
            if ix is not None:
                values[0, ix] = _number(value, name, 0)
        self._check_magnitude(values)
        return values

    def rows(self, X: pd.DataFrame) -> Floats:
        """Convert a table to rows, as `row` does for single ones."""
        values = np.full((len(X), self.n_inputs), math.nan)
        for at, name in enumerate(X.columns):
            ix = self._position.get(name)
            if ix is not None:
                column = X.iloc[:, at]
                if column.dtype.kind in "biuf":
                    values[:, ix] = column.to_numpy(dtype=np.float64, na_value=math.nan)
                else:
                    values[:, ix] = [_number(value, name, row) for row, value in enumerate(column)]
        self._check_magnitude(values)
        return values

    def widened(self, rows: Floats) -> Floats:
        """Extend rows from when there were fewer columns, with NaN in the columns added since."""
        values = np.full((len(rows), self.n_inputs), math.nan)
        values[:, : rows.shape[1]] = rows
        return values

    def _check_magnitude(self, values: Floats) -> None:
        if is_tame(values):
            return
        outside = np.argwhere(np.abs(values) > LARGEST_MAGNITUDE)
        if len(outside):
            row, ix = map(int, outside[0])
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
        f"feature {name!r} is {value!r} (row {row}), which is not a number; encode such features before the "
        "model, for example with river.preprocessing.OneHotEncoder() in the pipeline.",
        "x-text",
    )


def _is_missing(value: Any) -> bool:
    # Comparing pandas.NA with itself returns pandas.NA.
    return (value == value) is value

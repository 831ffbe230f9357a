"""From river's dictionaries and tables to inputs: features, which come and go, as columns of an encoder."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sapwood import _input
from sapwood.encoding.encoder import Encoder, NotPlainError
from sapwood.encoding.tables import Table, read_table

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]


class Columns:
    """The features seen so far, one column each. Immutable, except that categories join those known.

    Parameters
    ----------
    names : iterable of hashable
        The features; the encoder knows each by its text.
    encoder : Encoder or None
        None if there is no feature yet.

    Examples
    --------
    >>> columns = Columns().extended({"b": "red", "a": 2})
    >>> columns.names
    ('a', 'b')
    >>> columns.row({"b": "red", "c": 4})
    array([[nan,  0.]])
    """

    def __init__(self, names: Iterable[Hashable] = (), encoder: Encoder | None = None) -> None:
        self.names = tuple(names)
        self.encoder = encoder

    @property
    def n_inputs(self) -> int:
        """Number of inputs. The engine needs at least one, even before any feature has been seen."""
        return 1 if self.encoder is None else self.encoder.n_inputs

    @cached_property
    def _column_of(self) -> dict[Hashable, str]:
        return {} if self.encoder is None else dict(zip(self.names, self.encoder.columns, strict=True))

    def missing_from(self, features: Iterable[Hashable]) -> list[Hashable]:
        """Return the features without a column, sorted, since the order of keys has no meaning in river."""
        fresh = [name for name in features if name not in self._column_of]
        return sorted(fresh, key=lambda name: (str(name), type(name).__name__))

    def extended(self, rows: Mapping[Hashable, Any] | pd.DataFrame) -> Columns:
        """Return these columns followed by one for each new feature, whose kind is that of its first value."""
        fresh = self.missing_from(rows)
        if not fresh:
            return self
        table = _table(rows)
        first = {name: column[:1] for name, column in zip(table.names, table.columns, strict=True)}
        taken = list(self._column_of.values())
        columns = {}
        for name in fresh:
            text = str(name) if str(name) not in taken else repr(name)
            columns[text] = first[name]
            taken.append(text)
        added = _input.infer_encoder(Table(list(columns), list(columns.values()), 1))
        known = [] if self.encoder is None else self.encoder.features
        return Columns((*self.names, *fresh), Encoder([*known, *added.features]))

    def row(self, x: Mapping[Hashable, Any], *, grow: bool = False) -> Floats:
        """Convert a dictionary: an absent feature is a missing value, and one without a column is ignored."""
        if self.encoder is None:
            return np.full((1, 1), math.nan)
        values = {column: x.get(name) for name, column in self._column_of.items()}
        try:
            encoded = self.encoder.encode_one(values, grow=grow)
            if _input.is_tame(encoded):
                return encoded
        except NotPlainError:
            pass
        return self._encode(_table(values), dict(zip(values, values, strict=True)), grow=grow)

    def rows(self, X: pd.DataFrame, *, grow: bool = False) -> Floats:
        """Convert a table, as `row` does single rows."""
        if self.encoder is None:
            return np.full((len(X), 1), math.nan)
        return self._encode(_table(X), self._column_of, grow=grow)

    def _encode(self, table: Table, column_of: Mapping[Hashable, str], *, grow: bool) -> Floats:
        assert self.encoder is not None
        columns: dict[str, Any] = {column: np.full(table.n_rows, math.nan) for column in column_of.values()}
        for name, raw in zip(table.names, table.columns, strict=True):
            if name in column_of:
                columns[column_of[name]] = raw
        return _input.encode(self.encoder, columns, grow=grow)

    def widened(self, rows: Floats) -> Floats:
        """Extend rows from when there were fewer columns, with NaN in the inputs added since."""
        values = np.full((len(rows), self.n_inputs), math.nan)
        values[:, : rows.shape[1]] = rows
        return values


def _table(rows: Mapping[Hashable, Any] | pd.DataFrame) -> Table:
    table = read_table(rows)
    assert table is not None, "river passes dictionaries and tables of pandas"
    return table

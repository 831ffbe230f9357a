"""Tables that a user passes to a model, as raw columns: pandas, polars, Arrow, a list of dictionaries or one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from sapwood import errors
from sapwood.reading._arrow import pyarrow
from sapwood.reading.chunk import RawColumn
from sapwood.reading.readers.memory import raw_column


@dataclass(frozen=True)
class Table:
    """A table as raw columns. `names` may hold what is not text, which cannot name a column of a model."""

    names: list[Any]
    columns: list[RawColumn]
    n_rows: int

    def named(self) -> dict[str, RawColumn]:
        """Return the columns by name."""
        return dict(zip(self.names, self.columns, strict=True))


def is_row(X: Any) -> bool:
    """Whether X is a single row: a mapping from names to values."""
    return isinstance(X, Mapping) and not hasattr(X, "tocsr")  # sparse arrays of scipy may be dictionaries


def read_table(X: Any) -> Table | None:
    """Return the raw columns of a table; None if X is something else, such as an array."""
    if is_row(X):
        return _of_rows([X])
    if isinstance(X, (list, tuple)):
        return _of_rows(X) if X and all(map(is_row, X)) else None
    if isinstance(X, np.ndarray) or hasattr(X, "tocsr"):
        return None  # arrays, dense and sparse
    try:
        frame = nw.from_native(X, pass_through=True)
    except nw.exceptions.DuplicateError:
        names = [str(name) for name in X.columns]
        repeated = next(name for name in names if names.count(name) > 1)
        raise errors.make("x-names", reason=f"two columns of X are called {repeated!r}. Rename one.") from None
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    elif frame is X and type(X).__name__ == "RecordBatch":
        frame = nw.from_native(_as_arrow_table(X), pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return None
    names = list(X.columns) if nw.dependencies.is_pandas_dataframe(X) else frame.columns
    return Table(names, [_raw(frame[:, ix]) for ix in range(len(names))], len(frame))


def _as_arrow_table(batch: Any) -> Any:
    """Turn a record batch of Arrow, which narwhals does not know, into a table; leave anything else as it is."""
    pa = pyarrow("a record batch")
    return pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch


def _of_rows(rows: Sequence[Mapping[Any, Any]]) -> Table:
    """Return rows as columns; a key that only some rows have is a missing value in the others."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return Table(names, [raw_column([row.get(name) for row in rows]) for name in names], len(rows))


def _raw(column: nw.Series[Any]) -> RawColumn:
    dtype, n_missing = column.dtype, column.null_count()
    if n_missing == len(column):
        return np.full(len(column), np.nan)
    if dtype.is_numeric():
        return column.cast(nw.Float64).to_numpy()
    if dtype == nw.Boolean and not n_missing:
        return column.to_numpy().astype(np.bool_)
    if dtype == nw.Object:
        return raw_column(column.to_list())
    arrow = column.to_arrow()
    return arrow.combine_chunks() if hasattr(arrow, "combine_chunks") else arrow

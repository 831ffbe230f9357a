"""Tables in memory, or from an iterable of tables."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import narwhals as nw

from sapwood.reading._arrow import pyarrow
from sapwood.reading.chunk import Chunk, skip_rows
from sapwood.reading.errors import SourceError, nearest
from sapwood.reading.readers.columnar import chunk_of
from sapwood.reading.readers.memory import ROWS_AT_A_TIME, InMemory


def is_table(value: object) -> bool:
    """Whether `value` is a pandas, polars or Arrow table, or anything else that exports an Arrow stream."""
    return hasattr(value, "__arrow_c_stream__") or nw.dependencies.is_into_dataframe(value) or _is_record_batch(value)


def _is_record_batch(value: object) -> bool:
    return hasattr(value, "schema") and hasattr(value, "num_rows") and hasattr(value, "to_pylist")


class TablesReader(InMemory):
    """Reads one table, or an iterable of them, a slice at a time.

    Parameters
    ----------
    tables : iterable of tables
    n_rows : int or None
        Their total length, if known.
    """

    label = "<table>"

    def __init__(self, tables: Iterable[Any], n_rows: int | None = None) -> None:
        self.n_rows = n_rows
        self._n_read = 0
        self._tables = iter(tables)
        first = next(self._tables, None)
        if first is None:
            raise SourceError("the iterable of tables is empty; it must yield at least one table", file=self.label)
        self._tables = itertools.chain([first], self._tables)
        self.names = names_of(first)

    def chunks(self, skip: int, columns: list[str]) -> Iterator[Chunk]:
        """Yield the rows after the first `skip`."""
        return skip_rows(self._read(columns), skip)

    def _read(self, columns: list[str]) -> Iterator[Chunk]:
        for i, table in enumerate(self._tables):
            names = names_of(table)
            absent = [name for name in columns if name not in names]
            if absent:
                raise SourceError(
                    f"{self.label} {i}: column {absent[0]!r} is missing{nearest(absent[0], names)}; all tables must "
                    "have the same columns",
                    file=self.label,
                )
            for batch in _record_batches(table):
                yield chunk_of(batch.select(columns), self.label, self._n_read)
                self._n_read += batch.num_rows

    def fraction(self) -> float | None:
        """Return how much has been read."""
        return self._n_read / self.n_rows if self.n_rows else None


def names_of(table: Any) -> list[str]:
    """Return the column names of a table of any kind."""
    if hasattr(table, "schema") and hasattr(table.schema, "names") and not callable(table.schema.names):
        return [str(name) for name in table.schema.names]
    return [str(name) for name in table.columns]


def _record_batches(table: Any) -> Iterator[Any]:
    """Yield a table as Arrow record batches, converted slice by slice if the table supports slicing."""
    pa = pyarrow("reading tables")
    if isinstance(table, pa.RecordBatch):
        yield table
        return
    if not nw.dependencies.is_into_dataframe(table):
        yield from pa.RecordBatchReader.from_stream(table)
        return
    frame = nw.from_native(table, eager_only=True)
    for start in range(0, len(frame), ROWS_AT_A_TIME):
        part = frame[start : start + ROWS_AT_A_TIME]
        try:
            arrow = part.to_arrow()
        except (pa.ArrowException, TypeError) as error:
            raise SourceError(
                f"<table>, row {start} or after: a column cannot be converted ({str(error).splitlines()[0]}); "
                "give each column a single type",
                file="<table>",
                row=start,
            ) from error
        names = [str(name) for name in arrow.column_names]
        yield from arrow.rename_columns(names).combine_chunks().to_batches()

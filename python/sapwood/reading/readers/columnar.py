"""Parquet and Arrow files, at constant memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sapwood.reading._arrow import pyarrow
from sapwood.reading.chunk import Chunk, row_place, skip_rows
from sapwood.reading.errors import SourceError
from sapwood.reading.readers.bytes import open_bytes

READ_ROWS = 16_384
READ_BUFFER = 1 << 16  # bytes per column


def chunk_of(batch: Any, label: str, first_row: int) -> Chunk:
    """Return a chunk for an Arrow record batch whose first row is row `first_row` of `label`."""
    return Chunk(
        columns={name: batch.column(i) for i, name in enumerate(batch.schema.names)},
        n_rows=batch.num_rows,
        place=row_place(label, first_row),
        text=lambda offset: json.dumps(batch.slice(offset, 1).to_pylist()[0], default=str),
    )


class ParquetReader:
    """Reads one Parquet file, a few thousand rows at a time.

    Two settings keep memory constant: without `pre_buffer=False`, every column chunk read stays in memory, and without
    `buffer_size`, a column chunk is read as a whole, however large its row group.
    """

    def __init__(self, path: Path) -> None:
        self.label = str(path)
        self._pa = pyarrow("reading Parquet files")
        parquet = pyarrow("reading Parquet files", "parquet")
        open_bytes(path).close()  # for its error messages: missing file, no permission
        try:
            self._file = parquet.ParquetFile(path, pre_buffer=False, buffer_size=READ_BUFFER)
        except (self._pa.ArrowException, OSError) as error:
            raise _damaged(self.label, "Parquet", error) from error
        self.names = list(self._file.schema_arrow.names)
        self.n_rows: int | None = self._file.metadata.num_rows
        self._n_read = 0

    def chunks(self, skip: int, columns: list[str]) -> Iterator[Chunk]:
        """Yield the rows after the first `skip`; whole row groups are skipped without being read."""
        metadata = self._file.metadata
        first_group, n_before = 0, 0
        while first_group < metadata.num_row_groups and n_before + metadata.row_group(first_group).num_rows <= skip:
            n_before += metadata.row_group(first_group).num_rows
            first_group += 1
        self._n_read = n_before
        groups = list(range(first_group, metadata.num_row_groups))
        return skip_rows(self._batches(groups, columns), skip - n_before)

    def _batches(self, groups: list[int], columns: list[str]) -> Iterator[Chunk]:
        batches = self._file.iter_batches(READ_ROWS, row_groups=groups, columns=columns, use_threads=False)
        while True:
            try:
                batch = next(batches, None)
            except (self._pa.ArrowException, OSError) as error:
                raise _damaged(self.label, "Parquet", error, self._n_read) from error
            if batch is None:
                return
            yield chunk_of(batch, self.label, self._n_read)
            self._n_read += batch.num_rows

    def fraction(self) -> float | None:
        """Return how much of the file has been read."""
        return self._n_read / self.n_rows if self.n_rows else None

    def notes(self) -> list[str]:
        """Return no notes."""
        return []

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class ArrowReader:
    """Reads one Arrow IPC (Feather version 2) file, or a stream in the IPC streaming format.

    Memory is bounded by the largest record batch in the file. The file is not memory-mapped: mapped pages count as
    resident, so the process would appear as large as its input.
    """

    def __init__(self, stream: Any, label: str, *, seekable: bool) -> None:
        self._pa = pyarrow("reading Arrow files")
        ipc = pyarrow("reading Arrow files", "ipc")
        self.label = label
        self._stream = stream
        try:
            self._batches = ipc.open_file(stream) if seekable else ipc.open_stream(stream)
        except (self._pa.ArrowException, OSError) as error:
            raise _damaged(label, "Arrow", error) from error
        self._seekable = seekable
        self.names = list(self._batches.schema.names)
        self.n_rows: int | None = None
        self._n_done = 0

    def chunks(self, skip: int, columns: list[str]) -> Iterator[Chunk]:
        """Yield the rows after the first `skip`, one record batch at a time."""
        return skip_rows(self._read(columns), skip)

    def _read(self, columns: list[str]) -> Iterator[Chunk]:
        n_rows = 0
        while True:
            try:
                batch = self._next_batch()
            except (self._pa.ArrowException, OSError) as error:
                raise _damaged(self.label, "Arrow", error, n_rows) from error
            if batch is None:
                return
            self._n_done += 1
            yield chunk_of(batch.select(columns), self.label, n_rows)
            n_rows += batch.num_rows

    def _next_batch(self) -> Any:
        if self._seekable:
            return self._batches.get_batch(self._n_done) if self._n_done < self._batches.num_record_batches else None
        return next(self._batches, None)

    def fraction(self) -> float | None:
        """Return how much of the file has been read, in record batches."""
        return (
            self._n_done / self._batches.num_record_batches
            if self._seekable and self._batches.num_record_batches
            else None
        )

    def notes(self) -> list[str]:
        """Return no notes."""
        return []

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


def _damaged(label: str, what: str, error: Exception, row: int | None = None) -> SourceError:
    """Make an error with the first line of Arrow's message, which may have several."""
    where = f"{label}: " if row is None else f"{label}, row {row} or after: "
    reason = str(error).splitlines()[0].rstrip(". ") if str(error) else type(error).__name__
    return SourceError(
        f"{where}the {what} data is damaged or truncated ({reason}); copy or write the file again", file=label, row=row
    )

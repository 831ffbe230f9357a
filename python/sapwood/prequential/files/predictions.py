"""Prediction files: appended to during a run, safe against crashes, and truncated when a run is resumed.

`sync` makes everything appended so far durable and returns the state to store in a checkpoint. Given that state, a new
writer continues after exactly those rows and drops whatever a crashed run had written after them.
"""

from __future__ import annotations

import csv
import io
import os
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, TextIO

import numpy as np
from numpy.typing import NDArray

from sapwood._disk import OutputFile, replacing, sync_folder, system
from sapwood._state import Fields, StateError
from sapwood.prequential.files.writing import writing
from sapwood.reading._arrow import pyarrow
from sapwood.reading.errors import SourceError

Columns = Mapping[str, NDArray[Any]]

_ROW_GROUP = 65_536
_HELD_ROWS = 4_096
_SEGMENT = struct.Struct("<QQ")  # length and number of rows


class PredictionFile(Protocol):
    """A file to append predictions to. Columns may be added at any time; they hold 0 in earlier rows."""

    path: Path

    def append(self, columns: Columns) -> None:
        """Append rows."""

    def flush(self) -> None:
        """Hand the rows so far to the operating system, if the format can be read while it grows."""

    def sync(self) -> dict[str, int]:
        """Make the rows so far durable, and return the state to resume from."""

    def publish(self) -> None:
        """Make the rows so far readable under the name of the file."""

    def notes(self) -> list[str]:
        """Return remarks for the user on what was written."""

    def close(self, *, finished: bool) -> None:
        """Close the file. `finished`: the source has ended, so a resumed run only appends if the source has grown."""


def open_predictions(path: str | os.PathLike[str], state: dict[str, int] | None = None) -> PredictionFile:
    """Open a prediction file, Parquet or CSV by its suffix, whose errors name the file."""
    target = Path(path)
    kind = ParquetPredictions if _is_parquet(target) else CsvPredictions
    with writing(path):
        return _Named(kind(target, state))


def check_file_state(state: Any, *, wanted: bool) -> None:
    """Raise StateError unless `state`, read from a checkpoint, is what `sync` returns (None without a file)."""
    if (state is not None) != wanted:
        raise StateError("checkpoint.predictions does not match the predictions file of this run")
    if state is not None:
        fields = Fields(state, "checkpoint.predictions")
        for name in ("bytes", "rows", *(["columns"] if "columns" in fields else [])):
            fields.integer(name)


def predictions_paths(path: Path) -> dict[str, Path]:
    """Return the files of predictions, by role."""
    return {"predictions": path, **({"unfinished predictions": _part_of(path)} if _is_parquet(path) else {})}


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in (".parquet", ".pq")


def _part_of(path: Path) -> Path:
    return path.with_name(path.name + ".part")


class _Named:
    """Wraps a prediction file so that its errors name it."""

    def __init__(self, file: PredictionFile) -> None:
        self._file = file
        self.path = file.path

    def append(self, columns: Columns) -> None:
        with writing(self.path):
            self._file.append(columns)

    def flush(self) -> None:
        with writing(self.path):
            self._file.flush()

    def sync(self) -> dict[str, int]:
        with writing(self.path):
            return self._file.sync()

    def publish(self) -> None:
        with writing(self.path):
            self._file.publish()

    def notes(self) -> list[str]:
        return self._file.notes()

    def close(self, *, finished: bool) -> None:
        with writing(self.path):
            self._file.close(finished=finished)


class CsvPredictions:
    """A CSV file that can be read while it grows.

    Adding a column late (the probability of a new class) rewrites the file; resuming from a checkpoint before that
    removes the column again.
    """

    def __init__(self, path: Path, state: dict[str, int] | None = None) -> None:
        self.path = path
        self._names: list[str] = []
        self._n_rows = 0
        self._file: OutputFile
        if state is None or not state.get("columns"):
            self._file = OutputFile.create(path)
            sync_folder(path.absolute().parent)
        else:
            self._resume(state)

    def _resume(self, state: dict[str, int]) -> None:
        _check_length(self.path, state["bytes"])
        with _open_text(self.path) as file:
            names = next(csv.reader(file))
        if len(names) > state["columns"]:
            self._rewrite(lambda _, row: row[: state["columns"]], state["rows"])
        self._names, self._n_rows = names[: state["columns"]], state["rows"]
        self._file = OutputFile.extend(self.path, state["bytes"])

    def append(self, columns: Columns) -> None:
        added = [name for name in columns if name not in self._names]
        if added and self._names:
            self._file.close()
            self._rewrite(lambda i, row: [*row, *(["0.0"] * len(added) if i else added)], None)
            self._file = OutputFile.extend(self.path, self.path.stat().st_size)
        if added:
            first = not self._names
            self._names += added
            if first:
                self._file.write(csv_text([self._names]))
        n_rows = len(next(iter(columns.values())))
        self._file.write(csv_text(zip(*(csv_cells(columns, name, n_rows) for name in self._names), strict=True)))
        self._n_rows += n_rows

    def _rewrite(self, change: Callable[[int, list[str]], list[str]], n_rows: int | None) -> None:
        """Pass the header (row 0) and `n_rows` rows through `change`, and replace the file atomically."""
        with _open_text(self.path) as old, replacing(self.path) as new:
            for i, row in enumerate(csv.reader(old)):
                if n_rows is not None and i > n_rows:
                    break
                new.write(csv_text([change(i, row)]))

    def flush(self) -> None:
        self._file.flush()

    def sync(self) -> dict[str, int]:
        self._file.sync()
        return {"bytes": self._file.tell(), "rows": self._n_rows, "columns": len(self._names)}

    def publish(self) -> None:
        self.sync()

    def notes(self) -> list[str]:
        return []

    def close(self, *, finished: bool) -> None:
        self._file.close()


class ParquetPredictions:
    """A Parquet file, which cannot be appended to: rows are collected in ``NAME.part``, and `publish` writes NAME.

    The part file is a sequence of segments, each its length and number of rows followed by an Arrow stream of its own,
    so that it is valid after any number of them. Row groups have a fixed size: the published bytes do not depend on how
    rows arrived.
    """

    def __init__(self, path: Path, state: dict[str, int] | None = None) -> None:
        self.path = path
        self._pa = pyarrow("writing Parquet files")
        self._parquet = pyarrow("writing Parquet files", "parquet")
        self._part = _part_of(path)
        self._held: list[Any] = []
        self._n_held = 0
        self._n_rows = 0
        if self._part.is_symlink() or (state is None and self._part.exists()):
            system.unlink(self._part)  # nobody else's file is written to
        self._file: OutputFile
        if state is None:
            self._file = OutputFile.create(self._part, private=True)
            sync_folder(path.absolute().parent)
            return
        if not self._part.exists():
            self._unpublish(state["rows"])
        self._file = OutputFile.extend(self._part, self._length_of(state["rows"]))
        self._n_rows = state["rows"]

    def _unpublish(self, n_rows: int) -> None:
        """Rebuild the part file from a published one: the run had finished, but the source has grown since."""
        if not self.path.exists():
            raise _missing(self.path)
        n_left = n_rows
        with self._parquet.ParquetFile(self.path) as table, replacing(self._part, follow_link=False) as part:
            for batch in table.iter_batches(_HELD_ROWS):
                if n_left > 0:
                    self._write(batch.slice(0, n_left), part)
                    n_left -= min(n_left, batch.num_rows)
            if n_left:
                raise _missing(self.path)

    def _length_of(self, n_rows: int) -> int:
        """Return the length of the segments that hold the first `n_rows`.

        It is not the length that the checkpoint recorded where the part was rebuilt from a published file.
        """
        with open(self._part, "rb") as file:
            n_bytes = os.fstat(file.fileno()).st_size
            while n_rows > 0 and len(header := file.read(_SEGMENT.size)) == _SEGMENT.size:
                length, n_here = _SEGMENT.unpack(header)
                n_rows -= n_here
                file.seek(length, os.SEEK_CUR)
            if n_rows or file.tell() > n_bytes:
                raise _missing(self._part)
            return file.tell()

    def append(self, columns: Columns) -> None:
        arrays = [self._pa.array(values, from_pandas=True) for values in columns.values()]
        batch = self._pa.record_batch(arrays, names=list(columns))
        self._held.append(batch)
        self._n_held += batch.num_rows
        if self._n_held >= _HELD_ROWS:
            self._write_held()

    def _write_held(self) -> None:
        for batch in self._held:
            self._write(batch, self._file)
            self._n_rows += batch.num_rows
        self._held, self._n_held = [], 0

    def _write(self, batch: Any, file: OutputFile) -> None:
        sink = io.BytesIO()
        with self._pa.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        file.write(_SEGMENT.pack(sink.tell(), batch.num_rows) + sink.getvalue())

    def flush(self) -> None:
        pass  # nobody can read it before it is published

    def sync(self) -> dict[str, int]:
        self._write_held()
        self._file.sync()
        return {"bytes": self._file.tell(), "rows": self._n_rows}

    def publish(self) -> None:
        self.sync()
        if not self._n_rows:
            return
        schema = self._schema()
        with replacing(self.path) as file, self._parquet.ParquetWriter(file, schema) as writer:
            for table in self._row_groups(schema):
                writer.write_table(table, row_group_size=_ROW_GROUP)

    def _segments(self) -> Iterator[Any]:
        with open(self._part, "rb") as file:
            while header := file.read(_SEGMENT.size):
                with self._pa.ipc.open_stream(file.read(_SEGMENT.unpack(header)[0])) as stream:
                    yield from stream

    def _schema(self) -> Any:
        """Merge the schemas of all segments; a label column has type null in segments without a label."""
        schemas: list[Any] = []
        for batch in self._segments():
            if batch.schema not in schemas:
                schemas.append(batch.schema)
        return self._pa.unify_schemas(schemas, promote_options="permissive")

    def _row_groups(self, schema: Any) -> Iterator[Any]:
        held, n_held = [], 0
        for batch in self._segments():
            table = self._pa.Table.from_batches([batch])
            for field in list(schema)[table.num_columns :]:
                table = table.append_column(field, self._pa.array(np.zeros(table.num_rows)))
            held.append(table.cast(schema))
            n_held += table.num_rows
            while n_held >= _ROW_GROUP:
                joined = self._pa.concat_tables(held)
                yield joined.slice(0, _ROW_GROUP)
                held, n_held = [joined.slice(_ROW_GROUP)], n_held - _ROW_GROUP
        if n_held:
            yield self._pa.concat_tables(held)

    def notes(self) -> list[str]:
        return []

    def close(self, *, finished: bool) -> None:
        self._file.close()
        if finished and self._n_rows and self._part.exists():
            system.unlink(self._part)


def csv_cells(columns: Columns, name: str, n_rows: int) -> list[Any]:
    """Return the cells of one column: empty where a number is NaN, 0 where a column was added later."""
    values = columns.get(name)
    if values is None:
        return [0.0] * n_rows
    if values.dtype.kind == "f" and np.isnan(values).any():
        return ["" if value != value else value for value in values.tolist()]
    cells: list[Any] = values.tolist()
    return cells


def csv_text(rows: Iterable[Iterable[Any]]) -> bytes:
    """Format rows as CSV; numbers round-trip."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode("utf-8", "surrogateescape")


def _open_text(path: Path) -> TextIO:
    """Open a CSV file to read; bytes that a torn write left after the last good row must not stop it."""
    return open(path, encoding="utf-8", errors="surrogateescape", newline="")


def _check_length(path: Path, n_bytes: int) -> None:
    if not path.exists() or path.stat().st_size < n_bytes:
        raise _missing(path)


def _missing(path: Path) -> SourceError:
    return SourceError(
        f"{path}: is missing or shorter than the checkpoint says; put it back, or start again without resuming",
        file=str(path),
    )

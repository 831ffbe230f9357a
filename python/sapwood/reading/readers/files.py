"""Files, folders and globs: finding files, ordering them, and checking that their columns agree."""

from __future__ import annotations

import glob
import io
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

from sapwood.reading._arrow import pyarrow
from sapwood.reading.chunk import Chunk, Reader, skip_rows
from sapwood.reading.errors import SourceError, check_columns
from sapwood.reading.readers.bytes import HEAD_BYTES, detect_format, open_bytes
from sapwood.reading.readers.columnar import ArrowReader, ParquetReader
from sapwood.reading.readers.csv import CsvReader, TextForm
from sapwood.reading.readers.live import LiveCsvReader, Pipe, is_live

STDIN = "<stdin>"
"""What standard input is called in errors."""

_TEXT_ENDINGS = (".csv", ".tsv")
ENDINGS = (
    *(text + packed for text in _TEXT_ENDINGS for packed in ("", ".gz", ".zst")),
    ".parquet",
    ".pq",
    ".arrow",
    ".feather",
    ".ipc",
)


def natural_key(name: str) -> list[tuple[int, int, str]]:
    """Sort key for natural order: part2 before part10.

    Examples
    --------
    >>> sorted(["part10.csv", "part2.csv"], key=natural_key)
    ['part2.csv', 'part10.csv']
    """
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"(\d+)", name) if part]


def find_files(spec: str) -> list[Path]:
    """Return the files of a path, folder or glob, in natural order."""
    path = Path(spec).expanduser()
    if path.is_dir():
        found = [p for p in path.rglob("*") if is_data_file(p.relative_to(path)) and p.is_file()]
        if not found:
            raise SourceError(
                f"{spec}: the folder holds no data file; files must end in {', '.join(ENDINGS)}", file=spec
            )
    elif not path.exists() and glob.has_magic(spec):
        found = [Path(name) for name in glob.glob(str(path), recursive=True) if Path(name).is_file()]
        if not found:
            raise SourceError(f"{spec}: no file matches this pattern; check it, and quote it in a shell", file=spec)
    else:
        return [path]
    return sorted(found, key=lambda p: natural_key(str(p)))


def open_file(path: Path, form: TextForm) -> Reader:
    """Return a reader for one file, chosen by its first bytes."""
    stream = open_bytes(path)
    file_format = detect_format(stream.read(HEAD_BYTES))
    stream.seek(0)
    label = str(path)
    if file_format in ("parquet", "arrow"):
        stream.close()
    if file_format == "parquet":
        return ParquetReader(path)
    if file_format == "arrow":
        return ArrowReader(pyarrow("reading Arrow files").OSFile(label), label, seekable=True)
    return open_stream(stream, label, form, file_format=file_format)


def open_stream(stream: BinaryIO | io.RawIOBase, label: str, form: TextForm, *, file_format: str = "text") -> Reader:
    """Return a reader for an open file or pipe, which need not be seekable."""
    if file_format == "arrow-stream":
        return ArrowReader(stream, label, seekable=False)
    if file_format == "feather-v1":
        raise SourceError(f"{label}: is a Feather file of version 1; write it again as version 2", file=label)
    try:
        return CsvReader(stream, label, form)
    except SourceError:
        stream.close()
        raise


def open_stdin(form: TextForm) -> Reader:
    """Return a reader for CSV on standard input, plain or compressed. Only a plain pipe can be read row by row."""
    stream = sys.stdin.buffer
    if not is_live(stream):
        return open_stream(stream, STDIN, form)
    pipe = Pipe(stream.fileno())
    if detect_format(pipe.peek()) == "text":
        return LiveCsvReader(pipe, STDIN, form)
    return open_stream(pipe, STDIN, form)


class FilesReader:
    """Reads several files as one stream. All must have the same columns; their order may differ."""

    def __init__(self, paths: Sequence[Path], form: TextForm) -> None:
        self.paths = list(paths)
        self._form = form
        self._notes: list[str] = []
        self.label = str(paths[0]) if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"
        self._current: Reader | None = None
        self._n_done = 0
        lengths: list[int | None] = []
        # Check all of them now, rather than fail on the last one after hours of learning.
        for path in self.paths:
            with closing(open_file(path, form)) as reader:
                if not lengths:
                    self.names = reader.names
                check_columns(reader.label, reader.names, self.names, str(self.paths[0]))
                lengths.append(reader.n_rows)
                self._notes += reader.notes()
        self._lengths = lengths
        self.n_rows = None if None in lengths else sum(n for n in lengths if n is not None)

    def chunks(self, skip: int, columns: list[str]) -> Iterator[Chunk]:
        """Yield the rows of all files in turn; files of known length are skipped without being read."""
        first = 0
        while first < len(self.paths) and (length := self._lengths[first]) is not None and skip >= length:
            skip -= length
            first += 1
        if first < len(self.paths) and self._lengths[first] is not None:
            return self._read(first, skip, columns)
        return skip_rows(self._read(first, 0, columns), skip)

    def _read(self, first: int, skip: int, columns: list[str]) -> Iterator[Chunk]:
        self._n_done = first
        for path in self.paths[first:]:
            self._current = open_file(path, self._form)
            yield from self._current.chunks(skip, columns)
            self.close()
            self._n_done += 1
            skip = 0

    def fraction(self) -> float | None:
        """Return how much has been read, giving all files the same weight."""
        within = self._current.fraction() if self._current else 0.0
        return None if within is None else (self._n_done + within) / len(self.paths)

    def notes(self) -> list[str]:
        """Return the notes on the files."""
        return self._notes

    def close(self) -> None:
        """Close the open file."""
        if self._current is not None:
            self._current.close()
            self._current = None


def is_data_file(relative: Path) -> bool:
    """Whether a file of a folder, named relative to it, is read as part of the folder."""
    hidden = any(part.startswith((".", "_")) for part in relative.parts)
    return not hidden and relative.name.lower().endswith(ENDINGS)

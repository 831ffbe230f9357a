"""Feeds: pipes, and files that grow. They are read without waiting for more than the rows that have arrived."""

from __future__ import annotations

import io
import os
import select
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sapwood.reading.chunk import Chunk, skip_rows
from sapwood.reading.errors import SourceError, check_columns
from sapwood.reading.readers.bytes import HEAD_BYTES, detect_format, open_bytes
from sapwood.reading.readers.csv import DELIMITERS, MAX_RECORD, CsvReader, TextForm
from sapwood.reading.readers.record_ends import RecordEnds

BLOCK = 1 << 16
_LOOK_EVERY = 0.05  # seconds between two looks at a file that is followed
_REMEMBERED = 256  # bytes before the position, by which a file that was written anew is recognised


class Pipe(io.RawIOBase):
    """A pipe, a socket or a terminal, by its file descriptor.

    `wait` returns whether `read1` will return at once, after at most so many seconds.
    """

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._head = b""

    def peek(self) -> bytes:
        """Return the first bytes, which will be read again: enough to tell the format, or a line."""
        while len(self._head) < HEAD_BYTES and b"\n" not in self._head and (data := os.read(self._handle, BLOCK)):
            self._head += data
        return self._head

    def readable(self) -> bool:
        return True

    def wait(self, seconds: float) -> bool:
        if self._head or os.name != "posix":
            return True  # Windows cannot tell; reading then waits, and returns what comes first
        return bool(select.select([self._handle], [], [], seconds)[0])

    def read1(self, n_bytes: int = BLOCK, /) -> bytes:
        data, self._head = self._head[:n_bytes], self._head[n_bytes:]
        return data or os.read(self._handle, n_bytes)

    def readinto(self, buffer: Any) -> int:
        data = self.read1(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def is_live(stream: Any) -> bool:
    """Whether an open file is a pipe, a socket or a terminal, rather than a file on disk or in memory."""
    try:
        mode = os.fstat(stream.fileno()).st_mode
    except (AttributeError, OSError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISCHR(mode)


class LiveCsvReader(CsvReader):
    """Reads CSV from a feed. `ready` tells when the next chunk can be had without waiting.

    `continues` are the columns of the file before this one, if it is the continuation of another.
    """

    def __init__(
        self,
        stream: Pipe | FollowedFile,
        label: str,
        form: TextForm,
        *,
        continues: list[str] | None = None,
    ) -> None:
        self._pipe = stream
        super().__init__(stream, label, form, live=True, continues=continues)

    def ready(self, seconds: float) -> bool:
        """Wait for at most `seconds` for a whole record, or the end of the feed; return whether it is there."""
        deadline = time.monotonic() + seconds
        while not self.has_record():
            if not self._pipe.wait(max(0.0, deadline - time.monotonic())):
                return False
            self.read_more()
        return True


class FollowedFile(io.RawIOBase):
    """One file that grows, read until it is replaced, truncated or written anew; that is its end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with open_bytes(path) as file:
            self._file = os.fdopen(os.dup(file.fileno()), "rb", buffering=0)
        self._position = 0
        self._remembered = b""
        self._replaced = False

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._file.fileno()

    def close(self) -> None:
        self._file.close()
        super().close()

    def wait(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while not self._replaced:
            if self._was_written_anew():
                self._replaced = True
            elif os.fstat(self.fileno()).st_size > self._position:
                return True
            elif self._was_moved():
                # Its writer may have added rows between the two looks; only then is it at its end.
                self._replaced = os.fstat(self.fileno()).st_size <= self._position
            elif (left := deadline - time.monotonic()) <= 0:
                return False
            else:
                time.sleep(min(_LOOK_EVERY, left))
        return True

    def read1(self, n_bytes: int = BLOCK, /) -> bytes:
        while not self.wait(_LOOK_EVERY):
            pass
        if self._replaced:
            return b""
        data = self.at(self._position, n_bytes)
        self._position += len(data)
        self._remembered = (self._remembered + data)[-_REMEMBERED:]
        return data

    def readinto(self, buffer: Any) -> int:
        data = self.read1(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def _was_moved(self) -> bool:
        """Whether another file has the name now."""
        try:
            found = os.stat(self._path)
        except FileNotFoundError:
            return False  # between the old file and the new one
        own = os.fstat(self.fileno())
        return (found.st_dev, found.st_ino) != (own.st_dev, own.st_ino)

    def _was_written_anew(self) -> bool:
        """Whether the bytes just read are gone: the file was truncated, and possibly written to since."""
        n_bytes = len(self._remembered)
        return self.at(self._position - n_bytes, n_bytes) != self._remembered

    def at(self, position: int, n_bytes: int) -> bytes:
        """Return bytes of the file, without moving on."""
        self._file.seek(position)
        data = self._file.read(n_bytes)
        return data or b""


class FollowingReader:
    """Reads a CSV file that grows, and the files that take its place, as one stream without an end.

    A new file may begin with the header, in any order of the columns, or go on with rows in the order of the old file.
    """

    n_rows: int | None = None

    def __init__(self, path: Path, form: TextForm) -> None:
        self.label = str(path)
        self._path = path
        self._form = form
        if not path.is_file():
            open_bytes(path).close()  # for its error messages: missing file, no permission
            raise SourceError(f"{path}: is not a file; only a CSV file can be followed", file=str(path))
        with open_bytes(path) as file:
            found = detect_format(file.read(HEAD_BYTES))
        if found != "text":
            raise SourceError(
                f"{path}: holds {found} data, which cannot be read while it grows; follow a plain CSV file",
                file=str(path),
            )
        self._current: LiveCsvReader | None = LiveCsvReader(FollowedFile(path), self.label, form)
        self.names = self._current.names
        self._columns: list[str] = []
        self._rows: Iterator[Chunk] = iter(())
        self.n_replaced = 0

    def ready(self, seconds: float) -> bool:
        """Wait for at most `seconds` for a whole record; return whether it is there."""
        deadline = time.monotonic() + seconds
        while True:
            left = max(0.0, deadline - time.monotonic())
            if self._current is None:
                if not self._open_next():
                    if left <= 0:
                        return False
                    time.sleep(min(_LOOK_EVERY, left))
            elif not self._current.ready(left):
                return False
            elif self._current.has_rows():
                return True
            else:
                self._current.close()
                self._current = None

    def chunks(self, skip: int, columns: list[str]) -> Iterator[Chunk]:
        """Yield the rows after the first `skip`, of one file after another."""
        assert self._current is not None
        self._columns = columns
        self._rows = self._current.chunks(0, columns)
        return skip_rows(self._read(), skip)

    def _read(self) -> Iterator[Chunk]:
        while True:
            if self.ready(_LOOK_EVERY):
                yield next(self._rows)

    def _open_next(self) -> bool:
        """Open the file that has taken the place of the last one, once it holds a whole line."""
        try:
            file = FollowedFile(self._path)
        except SourceError:
            return False  # it is still to be created
        if not RecordEnds((self._form.delimiter or "".join(DELIMITERS)).encode()).first(file.at(0, MAX_RECORD)):
            file.close()
            return False
        reader = LiveCsvReader(file, self.label, self._form, continues=self.names)
        check_columns(self.label, reader.names, self.names, "the file before it")
        self._current, self._rows = reader, reader.chunks(0, self._columns)
        self.n_replaced += 1
        return True

    def fraction(self) -> float | None:
        """Return None: a file that grows has no end."""
        return None

    def notes(self) -> list[str]:
        """Return a note on the files that took the place of the first."""
        if not self.n_replaced:
            return []
        times = "once" if self.n_replaced == 1 else f"{self.n_replaced} times"
        return [f"{self.label} was replaced or written anew {times}; each new file was read from its beginning"]

    def close(self) -> None:
        """Close the file."""
        if self._current is not None:
            self._current.close()

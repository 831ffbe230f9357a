"""Files as bytes: opening, recognising what is inside by its first bytes, and decompressing on the way."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from pathlib import Path
from typing import Any, BinaryIO

from sapwood.reading._arrow import pyarrow
from sapwood.reading.errors import SourceError, nearest

_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PAR1": "parquet",
    b"PARE": "parquet",
    b"ARROW1": "arrow",
    b"FEA1": "feather-v1",
    b"\xff\xff\xff\xff": "arrow-stream",
}
HEAD = max(len(magic) for magic in _MAGIC)


def recognise(head: bytes) -> str:
    """What a file is by its first bytes; "text" when no magic number is there."""
    return next((what for magic, what in _MAGIC.items() if head.startswith(magic)), "text")


def open_bytes(path: Path) -> BinaryIO:
    """Open a file for reading, or say in one sentence why not."""
    label = str(path)
    try:
        return open(path, "rb")
    except FileNotFoundError:
        siblings = sorted(entry.name for entry in path.parent.iterdir()) if path.parent.is_dir() else []
        hint = nearest(path.name, siblings) or "; check the name"
        raise SourceError(f"{label}: there is no such file{hint}", file=label) from None
    except PermissionError:
        raise SourceError(
            f"{label}: no permission to read it; change its permissions or its owner", file=label
        ) from None
    except OSError as error:
        raise SourceError(f"{label}: cannot be opened ({error.strerror}); check the path", file=label) from error


class Rewound(io.RawIOBase):
    """A stream whose first bytes were read to recognise it, and are served again."""

    def __init__(self, head: bytes, rest: Any) -> None:
        self._head = head
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._head[: len(buffer)] if self._head else self._more(len(buffer))
        self._head = self._head[len(data) :]
        buffer[: len(data)] = data
        return len(data)

    def _more(self, n_bytes: int) -> bytes:
        read = getattr(self._rest, "read1", self._rest.read)
        more: bytes = read(n_bytes)
        return more


class ByteFeed:
    """Decompressed bytes in blocks, with errors that name the file.

    Parameters
    ----------
    stream : binary file
        Where the bytes come from; need not be seekable.
    label : str
        What to call it in errors.
    live : bool
        Hand over what a pipe holds now, instead of waiting until a block is full.
    """

    def __init__(self, stream: BinaryIO, label: str, *, live: bool = False) -> None:
        self.label = label
        self._raw = stream
        head = stream.read(HEAD)
        self.what = recognise(head)
        rewound = io.BufferedReader(Rewound(head, stream), buffer_size=1 << 16)
        self._size = _size_of(stream)
        self.compressed = self.what in ("gzip", "zstd")
        self._live = live and not self.compressed
        self._feed: Any = rewound
        if self.what == "gzip":
            self._feed = gzip.GzipFile(fileobj=rewound, mode="rb")
        elif self.what == "zstd":
            pa = pyarrow("a file compressed with zstd")
            self._feed = pa.CompressedInputStream(pa.PythonFile(rewound, mode="r"), "zstd")

    def read(self, n_bytes: int) -> bytes:
        """Up to `n_bytes` further bytes; none at the end."""
        try:
            data: bytes = self._feed.read1(n_bytes) if self._live else self._feed.read(n_bytes)
        except EOFError:
            raise self._damaged("ends before its end: it was cut short") from None
        except (OSError, zlib.error) as error:
            if not self.compressed:
                raise SourceError(
                    f"{self.label}: cannot be read ({error}); check the disk or pipe", file=self.label
                ) from error
            cut = "Truncated" in str(error)
            raise self._damaged("ends before its end: it was cut short" if cut else f"is damaged ({error})") from error
        return data

    def fraction(self) -> float | None:
        """How much of the file has been read, from 0 to 1."""
        return None if not self._size else min(1.0, self._raw.tell() / self._size)

    def _damaged(self, how: str) -> SourceError:
        return SourceError(
            f"{self.label}: the {self.what} data {how}; copy or compress the file again", file=self.label
        )


def _size_of(stream: BinaryIO) -> int | None:
    """Size of a regular file; None for pipes and other streams."""
    try:
        return os.fstat(stream.fileno()).st_size or None if stream.seekable() else None
    except (AttributeError, OSError):
        return None

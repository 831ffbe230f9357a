"""Files as bytes: opening, detecting the format from the first bytes, and decompressing on the fly."""

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
HEAD_BYTES = max(len(magic) for magic in _MAGIC)


def detect_format(head: bytes) -> str:
    """Return the format of a file by its first bytes; "text" without a known magic number."""
    return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), "text")


def open_bytes(path: Path) -> BinaryIO:
    """Open a file for reading, or raise an error that says why not."""
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


class PrefixedStream(io.RawIOBase):
    """Bytes that were read to detect the format, followed by the rest of the stream."""

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
        The source of the bytes; need not be seekable.
    label : str
        What to call it in errors.
    live : bool
        Return what a pipe holds now, instead of waiting for a full block.
    """

    def __init__(self, stream: BinaryIO | io.RawIOBase, label: str, *, live: bool = False) -> None:
        self.label = label
        self._raw = stream
        head = stream.read(HEAD_BYTES) or b""
        self.format = detect_format(head)
        whole = io.BufferedReader(PrefixedStream(head, stream), buffer_size=1 << 16)
        self._size = _size_of(stream)
        self.compressed = self.format in ("gzip", "zstd")
        self._live = live and not self.compressed
        self._feed: Any = whole
        if self.format == "gzip":
            self._feed = gzip.GzipFile(fileobj=whole, mode="rb")
        elif self.format == "zstd":
            pa = pyarrow("a file compressed with zstd")
            self._feed = pa.CompressedInputStream(pa.PythonFile(whole, mode="r"), "zstd")

    def read(self, n_bytes: int) -> bytes:
        """Return up to `n_bytes` more bytes; none at the end."""
        try:
            data: bytes = self._feed.read1(n_bytes) if self._live else self._feed.read(n_bytes)
        except EOFError:
            raise self._damaged("is truncated") from None
        except (OSError, zlib.error) as error:
            if not self.compressed:
                raise SourceError(
                    f"{self.label}: cannot be read ({error}); check the disk or pipe", file=self.label
                ) from error
            truncated = "Truncated" in str(error)
            raise self._damaged("is truncated" if truncated else f"is damaged ({error})") from error
        return data

    def fraction(self) -> float | None:
        """Return how much of the file has been read, from 0 to 1."""
        return None if not self._size else min(1.0, self._raw.tell() / self._size)

    def _damaged(self, how: str) -> SourceError:
        return SourceError(
            f"{self.label}: the {self.format} data {how}; copy or compress the file again", file=self.label
        )


def _size_of(stream: BinaryIO | io.RawIOBase) -> int | None:
    """Return the size of a regular file; None for pipes and other streams."""
    try:
        return os.fstat(stream.fileno()).st_size or None if stream.seekable() else None
    except (AttributeError, OSError):
        return None

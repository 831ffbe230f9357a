"""Files that survive crashes: private temporary files, atomic replacement, and everything flushed to disk.

All writing goes through the functions of `os` that `system` holds. Tests put another object in its place, which fails,
tears or reorders writes.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

FilePath = str | os.PathLike[str]

_BUFFER = 1 << 16
_NEVER_THROUGH_A_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_ANY_FILE = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_TEMPORARY = re.compile(r"\.(?P<name>.+)\.[0-9a-f]{16}\.new")

system: Any = SimpleNamespace(
    open=os.open,
    write=os.write,
    fsync=os.fsync,
    ftruncate=os.ftruncate,
    close=os.close,
    replace=os.replace,
    unlink=os.unlink,
)


class OutputFile:
    """A file being written, buffered. It has what Arrow's writers need."""

    def __init__(self, handle: int, path: Path, position: int = 0) -> None:
        self.path = path
        self.closed = False
        self._handle = handle
        self._position = position
        self._held = bytearray()

    @classmethod
    def create(cls, path: Path, mode: int = 0o666, *, private: bool = False) -> OutputFile:
        """Create a file, or empty the one that is there. A `private` one must not exist, and is never a link."""
        flags = os.O_WRONLY | os.O_CREAT
        flags |= os.O_EXCL | _NEVER_THROUGH_A_LINK if private else os.O_TRUNC | _ANY_FILE
        return cls(system.open(path, flags, mode), path)

    @classmethod
    def extend(cls, path: Path, n_bytes: int) -> OutputFile:
        """Open a file to write after its first `n_bytes`; what follows them is dropped."""
        handle = system.open(path, os.O_WRONLY | _ANY_FILE, 0)
        try:
            system.ftruncate(handle, n_bytes)
            os.lseek(handle, n_bytes, os.SEEK_SET)
        except BaseException:
            system.close(handle)
            raise
        return cls(handle, path, n_bytes)

    def write(self, data: Any) -> int:
        """Add bytes at the end."""
        self._held += data
        self._position += len(data)
        if len(self._held) >= _BUFFER:
            self.flush()
        return len(data)

    def flush(self) -> None:
        """Hand everything to the operating system."""
        while self._held:
            del self._held[: system.write(self._handle, bytes(self._held))]

    def sync(self) -> None:
        """Make everything durable."""
        self.flush()
        system.fsync(self._handle)

    def tell(self) -> int:
        """Return the length."""
        return self._position

    def close(self) -> None:
        """Flush and close."""
        if not self.closed:
            self.closed = True
            try:
                self.flush()
            finally:
                system.close(self._handle)

    def abandon(self) -> None:
        """Close without writing what is held."""
        self._held.clear()
        self.close()

    def writable(self) -> bool:
        """Return True."""
        return True

    def readable(self) -> bool:
        """Return False."""
        return False

    def seekable(self) -> bool:
        """Return False."""
        return False


@contextmanager
def replacing(path: FilePath, *, follow_link: bool = True) -> Iterator[OutputFile]:
    """Write a file that takes the place of `path` as a whole, or not at all if anything fails.

    It is written beside the target under a name that nobody else can have prepared, flushed to disk, given the mode of
    the file it replaces, and renamed; then the folder is flushed. A link is kept, and what it points to replaced,
    unless `follow_link` is False.
    """
    target = Path(os.path.realpath(path)) if follow_link else Path(path)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.new")
    replaced = _status_of(target)
    file = OutputFile.create(temporary, 0o666 if replaced is None else 0o600, private=True)
    try:
        yield file
        file.sync()
        file.close()
        if replaced is not None:
            _copy_access(replaced, temporary)
        system.replace(temporary, target)
    except BaseException:
        with suppress(OSError):  # the error that led here is the one to report
            file.abandon()
        with suppress(OSError):
            system.unlink(temporary)
        raise
    sync_folder(target.parent)


def write_atomically(path: FilePath, data: bytes) -> None:
    """Replace a file: afterwards, and after a crash, it is the old one or the new one, never a part."""
    with replacing(path) as file:
        file.write(data)


def sync_folder(folder: Path) -> None:
    """Make new names and renames in a folder durable, on systems where a folder can be opened."""
    if os.name != "posix":
        return
    handle = system.open(folder, os.O_RDONLY | _ANY_FILE, 0)
    try:
        system.fsync(handle)
    finally:
        system.close(handle)


def discard_leftovers(path: FilePath) -> None:
    """Remove temporary files that killed processes left beside `path`. Only for a path that this process has locked."""
    target = Path(os.path.realpath(path))
    for entry in target.parent.iterdir():
        match = _TEMPORARY.fullmatch(entry.name)
        if match is not None and match["name"] == target.name and not entry.is_dir():
            system.unlink(entry)


def _status_of(path: Path) -> os.stat_result | None:
    """Return mode and owner of a regular file; None if there is none."""
    try:
        status = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def _copy_access(replaced: os.stat_result, path: Path) -> None:
    """Give a new file the owner, if that is allowed, and the mode of the one it replaces."""
    if hasattr(os, "chown"):
        with suppress(PermissionError):
            os.chown(path, replaced.st_uid, replaced.st_gid, follow_symlinks=False)
    os.chmod(path, stat.S_IMODE(replaced.st_mode))

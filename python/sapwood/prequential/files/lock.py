"""Locks on the files of a run, so that two runs never write the same one."""

from __future__ import annotations

import os
import socket
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from sapwood._disk import FilePath, discard_leftovers
from sapwood.prequential.files.writing import WriteError, writing

_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_held: set[int] = set()


class LockedError(WriteError):
    """Another run is writing a file. The message names the file and the process."""

    def __init__(self, path: FilePath, owner: str) -> None:
        super().__init__(11, f"it is being written by {owner}", os.fspath(path))

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror}; wait until that run ends, or name another file"


@contextmanager
def locked(paths: Iterable[FilePath | None]) -> Iterator[None]:
    """Hold the locks of all files, or raise LockedError. The operating system releases those of a killed process."""
    with ExitStack() as locks:
        # In a fixed order, so that of two runs one gets all of them.
        for path in sorted({Path(os.path.realpath(path)) for path in paths if path is not None}):
            if not path.exists() or path.is_file():  # not a device or a pipe
                with writing(path):
                    locks.enter_context(_locked(path))
                    discard_leftovers(path)
        yield


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    name = path.with_name(f".{path.name}.lock")
    handle = _acquire(name, path)
    _held.add(handle)
    try:
        os.ftruncate(handle, 0)
        os.write(handle, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        yield
    finally:
        if handle in _held:  # not in a forked child, which has closed its copy
            _held.discard(handle)
            # Removed while the lock is held: whoever waits for it then notices that the file is gone, and starts over.
            with suppress(OSError):
                os.unlink(name)
            os.close(handle)


def _acquire(name: Path, path: Path) -> int:
    while True:
        handle = os.open(name, _FLAGS, 0o644)
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise WriteError(22, f"{name} is not a lock file", os.fspath(path))
            if not _try_lock(handle):
                owner = os.pread(handle, 200, 0).decode("utf-8", "replace") if hasattr(os, "pread") else ""
                raise LockedError(path, " ".join(owner.split()) or "another run")
            if _is_at(handle, name):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # its owner removed it between our opening and locking it


def _is_at(handle: int, name: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(name, follow_symlinks=False))
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        try:
            os.lseek(handle, 1 << 30, os.SEEK_SET)  # beyond the text, which others may then still read
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(handle, 0, os.SEEK_SET)
        return True

else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _close_in_child() -> None:
        """Close the copies in a forked child, which would otherwise hold the locks after the run has ended."""
        while _held:
            os.close(_held.pop())

    os.register_at_fork(after_in_child=_close_in_child)

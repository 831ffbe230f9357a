"""A disk that fails, tears and reorders writes, in place of the system calls that `sapwood._disk` writes with."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sapwood import _disk


class PowerCut(BaseException):
    """The machine stops here: nothing that the process does afterwards reaches the disk."""


class File:
    """What is on the disk for certain, and the changes that may or may not be: (offset, bytes), or a new length."""

    def __init__(self, durable: bytes = b"") -> None:
        self.durable = durable
        self.pending: list[tuple[int, bytes] | int] = []

    def sync(self) -> None:
        for change in self.pending:
            self.durable = applied(self.durable, change)
        self.pending = []

    def after_power_cut(self, rng: np.random.Generator) -> bytes:
        """Each pending change is lost, kept or torn, whatever happened to those before it."""
        data = self.durable
        for change in self.pending:
            fate = rng.choice(["lost", "kept", "torn"])
            if fate == "kept":
                data = applied(data, change)
            elif fate == "torn" and isinstance(change, tuple):
                offset, written = change
                data = applied(data, (offset, written[: int(rng.integers(len(written) + 1))]))
        return data


def applied(data: bytes, change: tuple[int, bytes] | int) -> bytes:
    if isinstance(change, int):
        return data[:change].ljust(change, b"\0")
    offset, written = change
    return data[:offset].ljust(offset, b"\0") + written + data[offset + len(written) :]


def key(path: Any) -> str:
    return os.path.join(os.path.realpath(os.path.dirname(os.path.abspath(path))), os.path.basename(path))


class SimulatedDisk:
    """Carries out every call, and keeps book of what a power cut would leave.

    A file's data are certain once it is synced, and its name once its folder is. `before` is called with the name of
    each call and may raise; `largest_write` makes the system accept only so many bytes at a time.
    """

    def __init__(self, before: Callable[[str], None] = lambda name: None, largest_write: int | None = None) -> None:
        self.calls: list[str] = []
        self.is_off = False
        self._before = before
        self._largest_write = largest_write
        self._seen: dict[str, File] = {}  # the files by name, as the process sees them
        self._certain: dict[str, File] = {}  # and as they are on the disk for certain
        self._changes: list[tuple[str, ...]] = []  # of names, which may or may not have reached the disk
        self._made: dict[tuple[str, ...], File] = {}
        self._handles: dict[int, str] = {}
        self._file_of: dict[int, File] = {}

    def adopt(self, folder: Path) -> None:
        """Take what is in a folder for certain."""
        for path in folder.iterdir():
            if path.is_file():
                self._seen[key(path)] = self._certain[key(path)] = File(path.read_bytes())

    def system(self) -> SimpleNamespace:
        """What takes the place of `_disk.system`."""
        kinds = {
            "open": self._open,
            "write": self._write,
            "fsync": self._fsync,
            "ftruncate": self._ftruncate,
            "close": self._close,
            "replace": self._replace,
            "unlink": self._unlink,
        }
        return SimpleNamespace(**{name: self._call(name, carry_out) for name, carry_out in kinds.items()})

    def _call(self, name: str, carry_out: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            if self.is_off:
                raise PowerCut
            try:
                self._before(name)
            except PowerCut:
                self.is_off = True
                raise
            finally:
                self.calls.append(name)
            return carry_out(*arguments)

        return call

    def _open(self, path: Any, flags: int, mode: int) -> int:
        name = key(path)
        is_new = not os.path.lexists(path)
        handle = os.open(path, flags, mode)
        self._handles[handle] = name
        if os.path.isdir(path):
            return handle
        if is_new:
            self._seen[name] = File()
            self._change("create", name, file=self._seen[name])
        elif flags & os.O_TRUNC:
            self._seen[name].pending.append(0)
        self._file_of[handle] = self._seen[name]
        return handle

    def _write(self, handle: int, data: bytes) -> int:
        offset = os.lseek(handle, 0, os.SEEK_CUR)
        n_written = os.write(handle, data[: self._largest_write])
        self._file_of[handle].pending.append((offset, bytes(data[:n_written])))
        return n_written

    def _fsync(self, handle: int) -> None:
        if handle in self._file_of:
            self._file_of[handle].sync()
            return
        folder = self._handles[handle]
        self._apply(self._certain, [change for change in self._changes if os.path.dirname(change[1]) == folder])
        self._changes = [change for change in self._changes if os.path.dirname(change[1]) != folder]

    def _ftruncate(self, handle: int, length: int) -> None:
        os.ftruncate(handle, length)
        self._file_of[handle].pending.append(length)

    def _close(self, handle: int) -> None:
        self._file_of.pop(handle, None)
        self._handles.pop(handle, None)
        os.close(handle)

    def _replace(self, source: Any, target: Any) -> None:
        os.replace(source, target)
        self._change("replace", key(source), key(target), file=self._seen[key(source)])
        self._seen[key(target)] = self._seen.pop(key(source))

    def _unlink(self, path: Any) -> None:
        os.unlink(path)
        self._change("unlink", key(path), file=self._seen.pop(key(path)))

    def _change(self, *change: str, file: File) -> None:
        change = (*change, str(len(self._made)))  # distinct, so that each has a file of its own
        self._changes.append(change)
        self._made[change] = file

    def _apply(self, names: dict[str, File], changes: list[tuple[str, ...]]) -> None:
        for change in changes:
            kind, name = change[0], change[1]
            if kind == "create":
                names[name] = self._made[change]
            else:
                names.pop(name, None)
            if kind == "replace":
                names[change[2]] = self._made[change]

    def after_power_cut(self, rng: np.random.Generator, into: Path) -> None:
        """Write what could be left after a power cut now: any of the uncertain changes, torn data among them.

        Changes of names in one folder happen in order up to some point, as every journalling file system does it, or,
        one time in two, each for itself.
        """
        if rng.integers(2):
            kept = self._changes[: int(rng.integers(len(self._changes) + 1))]
        else:
            kept = [change for change in self._changes if rng.integers(2)]
        names = dict(self._certain)
        self._apply(names, kept)
        left: dict[int, bytes] = {}
        for name, file in names.items():
            if id(file) not in left:
                left[id(file)] = file.after_power_cut(rng)
            (into / os.path.basename(name)).write_bytes(left[id(file)])


@pytest.fixture
def on_disk(monkeypatch: pytest.MonkeyPatch) -> Callable[[SimulatedDisk], SimulatedDisk]:
    """Puts a simulated disk in the place of the real one."""

    def put(disk: SimulatedDisk) -> SimulatedDisk:
        for name, call in vars(disk.system()).items():
            monkeypatch.setattr(_disk.system, name, call)
        return disk

    return put

"""Checkpoints: everything a run needs to continue after a crash, in one file that is replaced atomically.

A file holds a magic number with the version of the format, the SHA-256 of what follows, and the state of the run as
plain data (`sapwood._state`): settings, positions, arrays, and the model in the format of model files. There is no
pickle in it, so that a checkpoint from an untrusted source cannot run code. It is written under a temporary name,
flushed to disk and renamed. The previous checkpoint is kept as ``NAME.previous``, for when the newest is missing or
damaged.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sapwood._core import __version__
from sapwood._disk import replacing, system
from sapwood._state import Fields, StateError, pack, unpack
from sapwood.errors import ModelFileError
from sapwood.prequential.files.writing import writing
from sapwood.reading.errors import SourceError

_MAGIC = b"SAPWOOD-CHECKPOINT-"
_FORMAT = b"2\n"
_START = len(_MAGIC) + len(_FORMAT) + hashlib.sha256().digest_size


@dataclass(frozen=True)
class Checkpoint:
    """The contents of a checkpoint file: JSON values, arrays and bytes, in nested dictionaries and lists."""

    content: dict[str, Any]

    @property
    def source(self) -> dict[str, Any]:
        """The state of the source, for `open_source`, which checks it."""
        state: dict[str, Any] = self.content["source"]
        return state

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write to `path`; a checkpoint already there becomes the previous one."""
        data = sealed(pack({**self.content, "version": __version__}))
        target = Path(path)
        with writing(target), replacing(target, follow_link=False) as file:
            file.write(data)
            file.sync()  # before touching the other checkpoints: a full disk must not cost them
            if target.exists():
                system.replace(target, previous_of(target))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Checkpoint | None:
        """Read the checkpoint at `path`, or the previous one if that is missing or damaged; None if neither exists."""
        newest, previous = Path(path), previous_of(Path(path))
        problem: SourceError | None = None
        for candidate in (newest, previous):
            try:
                return cls._from_bytes(candidate.read_bytes(), candidate)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise SourceError(
                    f"{candidate}: cannot be read ({error.strerror}); check the path and its permissions",
                    file=str(candidate),
                ) from error
            except SourceError as error:
                problem = problem or error
        if problem is not None:
            raise problem
        return None

    @classmethod
    def _from_bytes(cls, data: bytes, path: Path) -> Checkpoint:
        if data.startswith(_MAGIC) and b"\n" in data[:_START] and not data.startswith(_MAGIC + _FORMAT):
            found = data[len(_MAGIC) :].partition(b"\n")[0].decode("ascii", "backslashreplace")
            raise SourceError(
                f"{path}: has checkpoint format {found}, this version reads {_FORMAT.decode().strip()}; use the "
                "version that wrote it, or start again without resuming",
                file=str(path),
            )
        body = data[_START:]
        if not data.startswith(_MAGIC) or hashlib.sha256(body).digest() != data[_START - 32 : _START]:
            raise SourceError(
                f"{path}: is not a checkpoint, or is damaged; delete it and start again without resuming",
                file=str(path),
            )
        with refusing_crafted_state(path):
            content = unpack(body)
            fields = Fields(content, "checkpoint")
            version = fields.text("version")
            for name in ("settings", "source"):
                fields.part(name)
        if version != __version__:
            raise SourceError(
                f"{path}: was written by sapwood {version}, this is {__version__}, which may continue differently; "
                "use that version, or start again without resuming",
                file=str(path),
            )
        return cls(content)


def sealed(body: bytes) -> bytes:
    """Return the bytes of a checkpoint file."""
    return _MAGIC + _FORMAT + hashlib.sha256(body).digest() + body


@contextmanager
def refusing_crafted_state(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn what is wrong inside an intact checkpoint into an error that names the file and the remedy."""
    try:
        yield
    except (StateError, ModelFileError) as error:
        raise SourceError(
            f"{path}: holds something that no run writes ({error}); do not use this file, and start again without "
            "resuming",
            file=os.fspath(path),
        ) from error


def checkpoint_paths(path: Path) -> dict[str, Path]:
    """Return the files of a checkpoint, by role."""
    return {"checkpoint": path, "previous checkpoint": previous_of(path)}


def previous_of(path: Path) -> Path:
    """Return the path of the checkpoint before the one at `path`."""
    return path.with_name(path.name + ".previous")

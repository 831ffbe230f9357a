"""Checkpoints: everything a run needs to continue after a crash, in one file that is replaced atomically.

A file holds a magic number, the SHA-256 of what follows, a JSON header, and blobs. It is written under a temporary
name, flushed to disk and renamed. The previous checkpoint is kept as ``NAME.previous``, for when the newest is missing
or damaged.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sapwood._core import __version__
from sapwood._files import write_atomically
from sapwood.prequential.files.writing import writing
from sapwood.reading.errors import SourceError

_MAGIC = b"SAPWOOD-CHECKPOINT-1\n"
_LENGTH = struct.Struct("<Q")


@dataclass(frozen=True)
class Checkpoint:
    """The contents of a checkpoint file.

    Attributes
    ----------
    header : dict
        Settings, and the state of the source and of the predictions file, as JSON values.
    blobs : dict from str to bytes
        The model, and the pickled state of the loop.
    """

    header: dict[str, Any]
    blobs: dict[str, bytes]

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write to `path`; a checkpoint already there becomes the previous one."""
        data = self._to_bytes()
        target = Path(path)
        fresh = target.with_name(target.name + ".next")
        with writing(target):
            write_atomically(fresh, data)  # before touching the others: a full disk must not cost them
            if target.exists():
                os.replace(target, previous_of(target))
            os.replace(fresh, target)

    def _to_bytes(self) -> bytes:
        header = {
            **self.header,
            "version": __version__,
            "blobs": {name: len(blob) for name, blob in self.blobs.items()},
        }
        text = json.dumps(header, sort_keys=True).encode()
        body = b"".join([_LENGTH.pack(len(text)), text, *self.blobs.values()])
        return _MAGIC + hashlib.sha256(body).digest() + body

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
        start = len(_MAGIC) + hashlib.sha256().digest_size
        body = data[start:]
        if not data.startswith(_MAGIC) or hashlib.sha256(body).digest() != data[len(_MAGIC) : start]:
            raise SourceError(
                f"{path}: is not a checkpoint, or is damaged; delete it and start again without resuming",
                file=str(path),
            )
        (n_text,) = _LENGTH.unpack_from(body)
        header = json.loads(body[_LENGTH.size : _LENGTH.size + n_text])
        if header["version"] != __version__:
            raise SourceError(
                f"{path}: was written by sapwood {header['version']}, this is {__version__}, which may continue "
                "differently; use that version, or start again without resuming",
                file=str(path),
            )
        blobs, at = {}, _LENGTH.size + n_text
        for name, n_bytes in header["blobs"].items():
            blobs[name] = body[at : at + n_bytes]
            at += n_bytes
        return cls(header, blobs)


def previous_of(path: Path) -> Path:
    """Return the path of the checkpoint before the one at `path`."""
    return path.with_name(path.name + ".previous")


def dump_state(state: Any) -> bytes:
    """Pickle the state of a loop."""
    return pickle.dumps(state, protocol=5)


def load_state(data: bytes) -> Any:
    """Unpickle what `dump_state` returned. Only numpy arrays and classes of this package are accepted."""
    return _SafeUnpickler(io.BytesIO(data)).load()


class _SafeUnpickler(pickle.Unpickler):
    """Limited to an allow-list, so that a checkpoint from an untrusted source cannot run code."""

    _LOOP = frozenset({"sapwood.prequential.rows", "sapwood.prequential.run_history", "sapwood.prequential.scoring"})
    _NUMPY = frozenset({"_reconstruct", "_frombuffer", "ndarray", "dtype", "scalar"})

    def find_class(self, module: str, name: str) -> Any:
        ours = module.startswith("sapwood.metrics.") or module in self._LOOP
        of_numpy = module.split(".")[0] == "numpy" and name in self._NUMPY
        if ours or of_numpy:
            return super().find_class(module, name)
        raise SourceError(f"the checkpoint holds a {module}.{name}, which no run writes; do not use this file")

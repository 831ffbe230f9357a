"""Saved state as plain data: JSON values, arrays and bytes, packed without pickle and read back with distrust.

`pack` turns nested dictionaries and lists into bytes, and `unpack` turns them back. Nothing in the bytes names a class
or a function, so reading them cannot run code. `Fields` then takes the state apart entry by entry and checks the type,
the range and the shape of each, so that a damaged or crafted file is refused instead of causing errors later.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LENGTH = struct.Struct("<Q")
_ARRAY, _BYTES = "array", "bytes"
_DTYPES = ("<f8", "<i8")  # little-endian, whatever the machine
_MAX_DEPTH = 32

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class StateError(ValueError):
    """Saved state is not what any run of this version saves."""


def pack(state: dict[str, Any]) -> bytes:
    """Pack nested dictionaries and lists of JSON values, arrays (float64, int64) and bytes.

    Examples
    --------
    >>> import numpy as np
    >>> unpack(pack({"n": 2, "x": np.array([0.5, np.nan])}))
    {'n': 2, 'x': array([0.5, nan])}
    """
    blobs: list[bytes] = []
    text = json.dumps(_plain(state, blobs), sort_keys=True, separators=(",", ":")).encode("ascii")
    return b"".join([_LENGTH.pack(len(text)), text, *blobs])


def unpack(data: bytes) -> dict[str, Any]:
    """Return what `pack` packed; arrays are read-only views of `data`. Raises StateError."""
    if len(data) < _LENGTH.size:
        raise StateError("it is truncated")
    (n_text,) = _LENGTH.unpack_from(data)
    if n_text > len(data) - _LENGTH.size:
        raise StateError("it is truncated")
    start = _LENGTH.size + n_text
    try:
        plain = json.loads(data[_LENGTH.size : start].decode("ascii"))
    except (ValueError, RecursionError) as error:
        raise StateError(f"its text is not JSON ({error})") from None
    reader = _BlobReader(memoryview(data)[start:])
    state = reader.revive(plain, 0)
    if not isinstance(state, dict):
        raise StateError("it is not an object")
    reader.check_end()
    return state


def _plain(value: Any, blobs: list[bytes]) -> Any:
    """Replace arrays and bytes by references to blobs; every other object becomes {"entries": ...}."""
    if isinstance(value, dict):
        return {"entries": {name: _plain(entry, blobs) for name, entry in sorted(value.items())}}
    if isinstance(value, (list, tuple)):
        return [_plain(entry, blobs) for entry in value]
    if isinstance(value, bytes):
        blobs.append(value)
        return {_BYTES: len(value)}
    if isinstance(value, np.ndarray):
        dtype = value.dtype.newbyteorder("<").str
        if dtype not in _DTYPES:
            raise TypeError(f"an array of type {value.dtype} cannot be saved; allowed are float64 and int64")
        blobs.append(np.ascontiguousarray(value, dtype=dtype).tobytes())
        return {_ARRAY: [dtype, *value.shape]}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"a value of type {type(value).__name__} cannot be saved")


class _BlobReader:
    """Puts blobs back in the places that refer to them, in the order in which they were packed."""

    def __init__(self, rest: memoryview) -> None:
        self._rest = rest

    def revive(self, plain: Any, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            raise StateError("it is nested too deeply")
        if isinstance(plain, list):
            return [self.revive(entry, depth + 1) for entry in plain]
        if not isinstance(plain, dict):
            return plain
        if len(plain) == 1:
            ((kind, what),) = plain.items()
            if kind == "entries" and isinstance(what, dict):
                return {name: self.revive(entry, depth + 1) for name, entry in what.items()}
            if kind == _BYTES:
                return bytes(self._take(what))
            if kind == _ARRAY and isinstance(what, list) and what and what[0] in _DTYPES:
                return self._array(what[0], what[1:])
        raise StateError("it holds an object that is neither entries, bytes nor an array")

    def _array(self, dtype: str, shape: list[Any]) -> NDArray[Any]:
        if len(shape) > _MAX_DEPTH or not all(_is_integer(n) and n >= 0 for n in shape):
            raise StateError(f"an array has shape {shape!r:.80}")
        values = np.frombuffer(self._take(math.prod(shape) * np.dtype(dtype).itemsize), dtype=dtype)
        return values.astype(values.dtype.newbyteorder("="), copy=False).reshape(shape)

    def _take(self, n_bytes: Any) -> memoryview:
        if not _is_integer(n_bytes) or not 0 <= n_bytes <= len(self._rest):
            raise StateError("it is truncated")
        taken, self._rest = self._rest[:n_bytes], self._rest[n_bytes:]
        return taken

    def check_end(self) -> None:
        if len(self._rest):
            raise StateError(f"{len(self._rest)} bytes are left over")


class Fields:
    """The entries of saved state, read with a check of each. `where` is their place, for errors.

    Examples
    --------
    >>> Fields({"n_rows": -1}, "scoring").integer("n_rows")
    Traceback (most recent call last):
        ...
    sapwood._state.StateError: scoring.n_rows is -1; it must be an integer from 0 to 9223372036854775807
    """

    def __init__(self, entries: Any, where: str) -> None:
        if not isinstance(entries, dict):
            raise StateError(f"{where} is {_shown(entries)}; it must be an object")
        self._entries = entries
        self.where = where

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def raw(self, name: str) -> Any:
        """Return an entry as it is."""
        if name not in self._entries:
            raise StateError(f"{self.where}.{name} is missing")
        return self._entries[name]

    def integer(self, name: str, minimum: int = 0, maximum: int = 2**63 - 1) -> int:
        """Return an integer in a range."""
        value = self.raw(name)
        if not _is_integer(value) or not minimum <= value <= maximum:
            raise self._refuse(name, value, f"an integer from {minimum} to {maximum}")
        return int(value)

    def number(self, name: str) -> float:
        """Return a number, which may be infinite or NaN."""
        value = self.raw(name)
        if not isinstance(value, float):
            raise self._refuse(name, value, "a number")
        return value

    def text(self, name: str) -> str:
        """Return a string."""
        value = self.raw(name)
        if not isinstance(value, str):
            raise self._refuse(name, value, "text")
        return value

    def data(self, name: str) -> bytes:
        """Return bytes."""
        value = self.raw(name)
        if not isinstance(value, bytes):
            raise self._refuse(name, value, "bytes")
        return value

    def items(self, name: str) -> list[Any]:
        """Return a list."""
        value = self.raw(name)
        if not isinstance(value, list):
            raise self._refuse(name, value, "a list")
        return value

    def part(self, name: str) -> Fields:
        """Return the entries of a nested object."""
        return Fields(self.raw(name), f"{self.where}.{name}")

    def floats(self, name: str, shape: Sequence[int | None]) -> Floats:
        """Return a writable array of floats whose shape is `shape`, None standing for any length."""
        return self._array(name, np.dtype(np.float64), shape)

    def integers(self, name: str, shape: Sequence[int | None], minimum: int = -(2**63)) -> Integers:
        """Return a writable array of integers of at least `minimum`."""
        values = self._array(name, np.dtype(np.int64), shape)
        if values.size and values.min() < minimum:
            raise self._refuse(name, int(values.min()), f"an array of integers of at least {minimum}")
        return values

    def _array(self, name: str, dtype: np.dtype[Any], shape: Sequence[int | None]) -> NDArray[Any]:
        value = self.raw(name)
        fits = isinstance(value, np.ndarray) and value.dtype == dtype and len(value.shape) == len(shape)
        if not fits or not all(want in (None, n) for n, want in zip(value.shape, shape, strict=True)):
            wanted = ", ".join("any" if n is None else str(n) for n in shape)
            raise self._refuse(name, value, f"an array of {dtype} of shape ({wanted})")
        return value.copy()

    def _refuse(self, name: str, value: Any, wanted: str) -> StateError:
        return StateError(f"{self.where}.{name} is {_shown(value)}; it must be {wanted}")


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    return f"an array of {value.dtype}, shape {value.shape}" if isinstance(value, np.ndarray) else f"{value!r:.60}"

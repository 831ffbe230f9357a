"""A fingerprint of the rows read so far, by which a resumed run recognises its source."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.reading._arrow import pyarrow
from sapwood.reading.chunk import Chunk, RawColumn


class Fingerprint:
    """A hash of the values of consecutive rows, column by column.

    It depends on the columns that are read and on their values, but not on how the rows were divided into chunks, nor
    on the compression of the file. The same values stored as another type of numbers have the same fingerprint.

    Examples
    --------
    >>> import numpy as np
    >>> from sapwood.reading.chunk import Chunk
    >>> def rows(*values):
    ...     return Chunk({"x": np.array(values)}, len(values), None, None)
    >>> empty = Fingerprint(["x"])
    >>> empty.extended([rows(1.0, 2.0), rows(3.0)]).digest() == empty.extended([rows(1, 2, 3)]).digest()
    True
    """

    def __init__(self, columns: Iterable[str]) -> None:
        # Two hashes per column: of numbers and lengths of text, and of the characters. Each is over all rows.
        self._hashes = {name: (hashlib.sha256(), hashlib.sha256()) for name in columns}

    def extended(self, chunks: Iterable[Chunk]) -> Fingerprint:
        """Return the fingerprint of these rows and those of `chunks` after them."""
        longer = Fingerprint(())
        longer._hashes = {name: (numbers.copy(), text.copy()) for name, (numbers, text) in self._hashes.items()}
        for chunk in chunks:
            for name, (numbers, text) in longer._hashes.items():
                of_numbers, of_text = _canonical(chunk.columns[name])
                numbers.update(of_numbers)
                text.update(of_text)
        return longer

    def digest(self) -> str:
        """Return the fingerprint as text."""
        whole = hashlib.sha256()
        for name, (numbers, text) in sorted(self._hashes.items(), key=lambda item: item[0]):
            encoded = name.encode("utf-8", "surrogatepass")
            whole.update(len(encoded).to_bytes(8, "little") + encoded + numbers.digest() + text.digest())
        return whole.hexdigest()


def _canonical(raw: RawColumn) -> tuple[bytes, bytes]:
    """Return numbers (of text: its lengths, -1 where it is missing) and characters."""
    if isinstance(raw, np.ndarray):
        return _number_bytes(raw), b""
    pa = pyarrow("fingerprinting columns")
    if isinstance(raw, pa.ChunkedArray):
        raw = raw.combine_chunks()
    if pa.types.is_dictionary(raw.type):
        raw = raw.dictionary_decode()
    kind = raw.type
    if pa.types.is_null(kind):
        return _number_bytes(np.full(len(raw), np.nan)), b""
    if pa.types.is_temporal(kind):
        ticks = raw.cast(pa.int32() if kind.bit_width == 32 else pa.int64()).cast(pa.int64())
        return ticks.fill_null(-(2**63)).to_numpy().astype("<i8").tobytes(), b""
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return _number_bytes(raw.to_numpy(zero_copy_only=False)), b""
    if not pa.types.is_string(kind):
        raw = pa.array([None if value is None else str(value) for value in raw.to_pylist()], pa.large_string())
    missing = raw.is_null().to_numpy(zero_copy_only=False)
    filled = raw.fill_null("").cast(pa.large_binary())
    _, offsets, characters = filled.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[filled.offset : filled.offset + len(filled) + 1]
    lengths = np.where(missing, -1, np.diff(ends)).astype("<i8")
    text = b"" if characters is None or not len(filled) else memoryview(characters)[ends[0] : ends[-1]].tobytes()
    return lengths.tobytes(), text


def _number_bytes(values: NDArray[Any]) -> bytes:
    numbers = values.astype("<f8")
    numbers[np.isnan(numbers)] = np.nan  # one bit pattern for all missing values
    return numbers.tobytes()

"""Labels that come from a second source, matched to the rows of the first by position or by a key."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.stream.chunk import Chunk, skip_rows
from sapwood.stream.errors import SourceError, unknown_column
from sapwood.stream.opening import DEFAULT_TARGET, open_reader
from sapwood.stream.source import SCHEMA_ROWS
from sapwood.stream.target import Target, Task


class LateLabels:
    """A source of labels, of which entry j arrives after row ``j + delay`` of the main source has been forecast.

    An entry belongs to the row with the same key, or without a key to the row at the same position. Its label is
    learned when both have come. A row whose label is not among the next `wait` entries is never learned.
    """

    def __init__(
        self, spec: Any, *, target: str | None, key: str | None, task: Task, delay: int, wait: int, n_read: int = 0
    ) -> None:
        self._reader, found = open_reader(spec, target, None, SCHEMA_ROWS)
        label = self._reader.label
        name = found or DEFAULT_TARGET
        for column, role in ((name, "the target"), (key, "the key")):
            if column is not None and column not in self._reader.names:
                raise unknown_column(column, role, self._reader.names, label)
        self.target, self._key = name, key
        self._delay, self._wait = delay, wait
        self._n_read = n_read
        self._unmatched: dict[Any, tuple[int, Any]] = {}
        wanted = [name] if key is None else [key, name]
        chunks = self._reader.chunks(0, wanted)
        head = next(chunks, None)
        if head is None:
            raise SourceError(f"{label}: has no rows; there are no labels to learn from", file=label)
        first = head.slice(0, SCHEMA_ROWS)
        self._label = Target.infer(name, [first.columns[name]], task, False, label)
        self._key_reader = None if key is None else Target.infer(key, [first.columns[key]], None, False, label)
        self._chunks: Iterator[Chunk] = skip_rows(chain([head], chunks), n_read)

    def match(self, first_row: int, positions: NDArray[np.int64], keys: NDArray[Any] | None) -> tuple[Any, Any]:
        """Labels (None where there is none) and arrivals of rows, the first of which is row `first_row`."""
        wanted = (positions if keys is None else keys).tolist()
        horizon = int(positions[-1]) + 1 + self._wait
        missing = {key for key in wanted if key not in self._unmatched}
        while missing and self._n_read < horizon and (chunk := next(self._chunks, None)) is not None:
            missing -= self._read(chunk)
        labels: list[Any] = []
        arrivals = np.arange(first_row, first_row + len(wanted), dtype=np.int64)
        for i, key in enumerate(wanted):
            entry, value = self._unmatched.pop(key, (-1, None))
            labels.append(value)
            arrivals[i] = max(arrivals[i], entry + self._delay)
        oldest = int(positions[0]) - self._wait
        for key in [key for key, (entry, _) in self._unmatched.items() if entry < oldest]:
            del self._unmatched[key]
        return labels, arrivals

    def _read(self, chunk: Chunk) -> set[Any]:
        """Take in some entries; entries without a usable label or key are passed over. Gives their keys."""
        values, faults = self._label.parse(chunk.columns[self._label.name])
        bad = np.zeros(len(values), dtype=bool)
        for fault in faults:
            bad |= fault.bad
        entries = self._n_read + chunk.offsets()
        keys: NDArray[Any] = entries
        if self._key_reader is not None:
            keys, faults = self._key_reader.parse(chunk.columns[self._key_reader.name])
            for fault in faults:
                bad |= fault.bad
        good = ~bad
        found = list(zip(keys[good].tolist(), entries[good].tolist(), values[good].tolist(), strict=True))
        self._unmatched.update({key: (entry, value) for key, entry, value in found})
        self._n_read += chunk.n_rows
        return {key for key, _, _ in found}

    def state(self) -> dict[str, Any]:
        """What must be remembered, fit for JSON."""
        return {"n_read": self._n_read, "unmatched": [[key, *rest] for key, rest in self._unmatched.items()]}

    def restore(self, unmatched: list[list[Any]]) -> None:
        """Take back the entries that had been read and not used."""
        self._unmatched = {key: (entry, value) for key, entry, value in unmatched}

    def close(self) -> None:
        """Let go of files."""
        self._reader.close()

"""Labels from a second source, matched to the rows of the first by position or by a key."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.prequential.settings import LabelSettings
from sapwood.reading.chunk import Chunk, skip_rows
from sapwood.reading.encoding.target import Target, Task
from sapwood.reading.errors import SourceError, unknown_column
from sapwood.reading.opening import DEFAULT_TARGET, open_reader
from sapwood.reading.source import SCHEMA_ROWS

_INITIAL_STATE: dict[str, Any] = {"n_read": 0, "n_unlabelled": 0, "unmatched": []}


class LateLabels:
    """A source of labels, matched to the rows of the main source by a key, or by position if there is none.

    Labels arrive in the order of their source, one per row: if every row has a label, entry j arrives after row
    ``j + delay`` has been forecast, and each row without a label postpones those after it by one. A label that arrives
    before its row waits for the row. A label more than `wait` entries late is given up, and its row is never learned.

    `state` is what `state()` returned in the run that is resumed.
    """

    def __init__(self, settings: LabelSettings, task: Task, state: dict[str, Any] | None = None) -> None:
        state = state or _INITIAL_STATE
        key = settings.key
        self._reader, found = open_reader(settings.spec, settings.target, None, SCHEMA_ROWS)
        label = self._reader.label
        name = found or DEFAULT_TARGET
        for column, role in ((name, "the target"), (key, "the key")):
            if column is not None and column not in self._reader.names:
                raise unknown_column(column, role, self._reader.names, label)
        self.target = name
        self._delay, self._wait = settings.delay, settings.wait
        self._n_read: int = state["n_read"]
        self._n_unlabelled: int = state["n_unlabelled"]
        self._unmatched: dict[Any, tuple[int, Any]] = {key: (entry, value) for key, entry, value in state["unmatched"]}
        wanted = [name] if key is None else [key, name]
        chunks = self._reader.chunks(0, wanted)
        head = next(chunks, None)
        if head is None:
            raise SourceError(f"{label}: has no rows; there are no labels to learn from", file=label)
        first = head.slice(0, SCHEMA_ROWS)
        self._label = Target.infer(name, [first.columns[name]], task, False, label)
        self._key = None if key is None else Target.infer(key, [first.columns[key]], None, False, label)
        self._entries = self._read(skip_rows(chain([head], chunks), self._n_read), self._n_read)

    @property
    def has_key(self) -> bool:
        """Whether labels are matched by a key rather than by position."""
        return self._key is not None

    def match(self, first_row: int, positions: NDArray[np.int64], keys: NDArray[Any] | None) -> tuple[Any, Any]:
        """Return the labels (None where there is none) and arrivals of rows, the first of which is row `first_row`."""
        labels: list[Any] = []
        arrivals = np.arange(first_row, first_row + len(positions), dtype=np.int64)
        wanted = (positions if keys is None else keys).tolist()
        for i, (position, key) in enumerate(zip(positions.tolist(), wanted, strict=True)):
            turn = position - self._n_unlabelled
            self._read_until(key, turn + 1 + self._wait)
            entry, value = self._unmatched.pop(key, (turn, None))
            labels.append(value)
            arrivals[i] += max(0, entry - turn + self._delay)
            self._n_unlabelled += self.has_key and value is None
        self._forget(int(positions[-1]) - self._n_unlabelled - self._wait)
        return labels, arrivals

    def _read_until(self, key: Any, end: int) -> None:
        """Read entries until that of `key` has been found, up to entry `end`."""
        while key not in self._unmatched and self._n_read < end and (entry := next(self._entries, None)) is not None:
            number, found, value = entry
            self._n_read = number + 1
            if value is not None:
                self._unmatched[found] = (number, value)

    def _forget(self, before: int) -> None:
        """Drop old entries that match no row, to bound memory."""
        for key in [key for key, (entry, _) in self._unmatched.items() if entry < before]:
            del self._unmatched[key]

    def _read(self, chunks: Iterator[Chunk], first: int) -> Iterator[tuple[int, Any, Any]]:
        """Yield entries as number, key and label; the label is None if it or the key is unusable."""
        for chunk in chunks:
            values, faults = self._label.parse(chunk.columns[self._label.name])
            numbers = first + chunk.offsets()
            keys: NDArray[Any] = numbers
            if self._key is not None:
                keys, more = self._key.parse(chunk.columns[self._key.name])
                faults = [*faults, *more]
            bad = np.logical_or.reduce([np.zeros(len(values), dtype=bool), *(fault.bad for fault in faults)])
            entries = zip(numbers.tolist(), keys.tolist(), values.tolist(), bad.tolist(), strict=True)
            yield from ((number, key, None if unusable else value) for number, key, value, unusable in entries)
            first += chunk.n_rows

    def state(self) -> dict[str, Any]:
        """Return the state to resume from, as JSON values."""
        unmatched = [[key, *rest] for key, rest in self._unmatched.items()]
        return {"n_read": self._n_read, "n_unlabelled": self._n_unlabelled, "unmatched": unmatched}

    def close(self) -> None:
        """Close the files."""
        self._reader.close()

"""Labels from a second source, matched to the rows of the first by position or by a key."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood._options import Task
from sapwood._state import Fields, StateError
from sapwood.encoding.encoder import SCHEMA_ROWS
from sapwood.encoding.target import Target
from sapwood.prequential.settings import LabelSettings
from sapwood.reading.chunk import Chunk
from sapwood.reading.dialect import Dialect, DialectOptions
from sapwood.reading.errors import SourceError, unknown_column
from sapwood.reading.fingerprint import Fingerprint
from sapwood.reading.opening import DEFAULT_TARGET, open_reader
from sapwood.reading.readers.csv import TextForm


class LateLabels:
    """A source of labels, matched to the rows of the main source by a key, or by position if there is none.

    Labels arrive in the order of their source, one per row: if every row has a label, entry j arrives after row
    ``j + delay`` has been forecast, and each row without a label postpones those after it by one. A label that arrives
    before its row waits for the row. A label more than `wait` entries late is given up, and its row is never learned.

    `state` is what `state()` returned in the run that is resumed.
    """

    def __init__(self, settings: LabelSettings, task: Task, state: dict[str, Any] | None = None) -> None:
        key = settings.key
        self._reader, found = open_reader(settings.spec, settings.target, TextForm(), SCHEMA_ROWS)
        label = self._reader.label
        name = found or DEFAULT_TARGET
        for column, role in ((name, "the target"), (key, "the key")):
            if column is not None and column not in self._reader.names:
                raise unknown_column(column, role, self._reader.names, label)
        self.target = name
        self._delay, self._wait = settings.delay, settings.wait
        self._n_read = 0
        self._n_unlabelled = 0
        self._unmatched: dict[Any, tuple[int, Any]] = {}
        wanted = [name] if key is None else [key, name]
        chunks = self._reader.chunks(0, wanted)
        head = next(chunks, None)
        if head is None:
            raise SourceError(f"{label}: has no rows; there are no labels to learn from", file=label)
        dialect = Dialect.find([head.slice(0, SCHEMA_ROWS)], DialectOptions(), target=name)
        first = dialect.apply(head.slice(0, SCHEMA_ROWS))
        self._label = Target.infer(name, [first.columns[name]], task, False, label)
        self._key = None if key is None else Target.infer(key, [first.columns[key]], None, False, label)
        # The fingerprint of all chunks before the current one, whose first entry is number `_first`.
        self._fingerprint = Fingerprint(wanted)
        self._current: Chunk | None = None
        self._first = 0
        self._chunks = map(dialect.apply, chain([head], chunks))
        if state is not None:
            self._restore(Fields(state, "checkpoint.late"))
        self._entries = self._read()

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

    def _next_chunk(self) -> Chunk | None:
        """Read the next chunk, now that all entries of the current one have been read."""
        if self._current is not None:
            self._fingerprint = self._fingerprint.extended([self._current])
            self._first += self._current.n_rows
        self._current = next(self._chunks, None)
        return self._current

    def _restore(self, fields: Fields) -> None:
        """Read again what was read before, compare it, and continue after it."""
        n_read, digest = fields.integer("n_read"), fields.text("fingerprint")
        self._n_unlabelled = fields.integer("n_unlabelled")
        for entry in fields.items("unmatched"):
            if not isinstance(entry, list) or len(entry) != 3 or not _is_entry(*entry):
                raise StateError(f"{fields.where}.unmatched holds {entry!r:.60}, which is not a key, number and label")
            self._unmatched[entry[0]] = (entry[1], entry[2])
        while self._first + (0 if self._current is None else self._current.n_rows) < n_read:
            if self._next_chunk() is None:
                break
        self._n_read = n_read
        if self._first_missing() or self._digest() != digest:
            label = self._reader.label
            raise SourceError(
                f"{label}: its first {n_read} labels are not those that the run to be resumed had read; put back the "
                "data that it was started with, or start again without resuming, with other output files",
                file=label,
            )

    def _first_missing(self) -> bool:
        return self._n_read > self._first + (0 if self._current is None else self._current.n_rows)

    def _digest(self) -> str:
        """Return the fingerprint of the entries read so far."""
        if self._current is None:
            return self._fingerprint.digest()
        return self._fingerprint.extended([self._current.slice(0, self._n_read - self._first)]).digest()

    def _read(self) -> Iterator[tuple[int, Any, Any]]:
        """Yield entries as number, key and label; the label is None if it or the key is unusable."""
        done = self._n_read - self._first  # of the current chunk, in a resumed run
        while (chunk := self._current if done else self._next_chunk()) is not None:
            chunk, first, done = chunk.slice(done, chunk.n_rows), self._first + done, 0
            values, faults = self._label.parse(chunk.columns[self._label.name])
            numbers = first + chunk.offsets()
            keys: NDArray[Any] = numbers
            if self._key is not None:
                keys, more = self._key.parse(chunk.columns[self._key.name])
                faults = [*faults, *more]
            bad = np.logical_or.reduce([np.zeros(len(values), dtype=bool), *(fault.bad for fault in faults)])
            entries = zip(numbers.tolist(), keys.tolist(), values.tolist(), bad.tolist(), strict=True)
            yield from ((number, key, None if unusable else value) for number, key, value, unusable in entries)

    def state(self) -> dict[str, Any]:
        """Return the state to resume from, as JSON values."""
        unmatched = [[key, *rest] for key, rest in self._unmatched.items()]
        return {
            "n_read": self._n_read,
            "n_unlabelled": self._n_unlabelled,
            "unmatched": unmatched,
            "fingerprint": self._digest(),
        }

    def close(self) -> None:
        """Close the files."""
        self._reader.close()


def _is_entry(key: Any, number: Any, value: Any) -> bool:
    plain = (bool, int, float, str)
    return isinstance(key, plain) and isinstance(value, plain) and type(number) is int and number >= 0

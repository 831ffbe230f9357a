"""Rows from a Python iterable."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from sapwood.reading.chunk import Chunk, Reject, row_place, skip_rows
from sapwood.reading.errors import SourceError
from sapwood.reading.readers.memory import ROWS_AT_A_TIME, InMemory, raw_column


class PairsReader(InMemory):
    """Reads an iterable of pairs (x, y), x being a mapping or a sequence, or of mappings that include the target.

    The columns are the keys of the first `look_ahead` rows. A key absent from a later row is a missing value; a key
    that first appears later is ignored.
    """

    label = "<iterable>"

    def __init__(self, items: Iterable[Any], target: str, look_ahead: int) -> None:
        self._target = target
        self._items = iter(items)
        first = list(itertools.islice(self._items, look_ahead))
        if not first:
            raise SourceError("the iterable is empty; it must yield at least one (x, y) pair", file=self.label)
        self._items = itertools.chain(first, self._items)
        self._unknown: set[str] = set()
        rows = [self._as_row(item) for item in first]
        mappings = [row for row in rows if isinstance(row, Mapping)]
        self._by_key = bool(mappings)
        if self._by_key:
            self.names = list(dict.fromkeys(str(key) for row in mappings for key in row))
        else:
            self.names = [*(f"x{i}" for i in range(1, len(rows[0]))), target]

    def _as_row(self, item: Any) -> Mapping[str, Any] | list[Any]:
        """Return a mapping that includes the target, or a list with the target last."""
        if isinstance(item, Mapping):
            return item
        if not isinstance(item, tuple) or len(item) != 2:
            raise SourceError(
                f"the iterable yielded {type(item).__name__}; it must yield (x, y) pairs, mappings or tables",
                file=self.label,
            )
        x, y = item
        if isinstance(x, Mapping):
            if self._target in x:
                raise SourceError(
                    f"x holds the key {self._target!r}, which is also the name of the target; name it differently with "
                    "target=...",
                    file=self.label,
                )
            return {**x, self._target: y}
        return [*np.ravel(x).tolist(), y] if isinstance(x, np.ndarray) else [*x, y]

    def chunks(self, skip: int, columns: list[str]) -> Iterator[Chunk]:
        """Yield the rows after the first `skip`."""
        return skip_rows(self._read(columns), skip)

    def _read(self, columns: list[str]) -> Iterator[Chunk]:
        start = 0
        while items := list(itertools.islice(self._items, ROWS_AT_A_TIME)):
            rows: list[list[Any]] = []
            rejects = []
            kept = []
            for offset, item in enumerate(items):
                row = self._as_row(item)
                values = self._values(row)
                if values is None:
                    detail = f"x has {len(row) - 1} entries; the first row had {len(self.names) - 1}"
                    rejects.append(Reject(offset, "wrong number of fields", detail))
                else:
                    rows.append(values)
                    kept.append(offset)
            raw = {name: raw_column([row[self.names.index(name)] for row in rows]) for name in columns}
            yield Chunk(
                raw,
                len(items),
                row_place(self.label, start),
                partial(_shown, items),
                np.array(kept, dtype=np.int64),
                tuple(rejects),
            )
            start += len(items)

    def _values(self, row: Mapping[str, Any] | list[Any]) -> list[Any] | None:
        if isinstance(row, Mapping):
            if self._by_key:
                self._unknown.update(str(key) for key in row if key not in self.names)
                return [row.get(name) for name in self.names]
            return None
        return row if not self._by_key and len(row) == len(self.names) else None

    def fraction(self) -> float | None:
        """Return None: the length is unknown."""
        return None

    def notes(self) -> list[str]:
        """Return a note on the keys that appeared too late."""
        if not self._unknown:
            return []
        return [f"keys that were not in the first rows are left out: {', '.join(sorted(self._unknown))}"]


def _shown(items: list[Any], offset: int) -> str:
    return str(items[offset])

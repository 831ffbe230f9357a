"""What readers produce: rows as raw columns, traceable to where they came from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

# A raw column is a one-dimensional numpy array of booleans or numbers, or a pyarrow array of anything.
RawColumn = Any


@dataclass(frozen=True)
class Place:
    """The position of a row: a line of a text file (counting from 1) or a row of a table (counting from 0)."""

    file: str
    unit: Literal["line", "row"]
    number: int

    def __str__(self) -> str:
        return f"{self.file}, {self.unit} {self.number}"


def row_place(label: str, first_row: int) -> Callable[[int], Place]:
    """Return a function from offsets after row `first_row` to places."""
    return lambda offset: Place(label, "row", first_row + offset)


@dataclass(frozen=True)
class Reject:
    """An unusable row: its offset in the chunk, the kind of fault, a description of it, and the remedy."""

    offset: int
    reason: str
    detail: str
    remedy: str = "correct it"


@dataclass(frozen=True)
class Chunk:
    """Consecutive rows of a source.

    Attributes
    ----------
    columns : mapping from str to RawColumn
        The usable rows, one entry per row.
    n_rows : int
        Number of rows of the source in this chunk, including unusable ones.
    place, text : callables
        Functions from an offset to the place and the original text of the row. They are only called for bad rows, so
        they may be slow.
    kept : ndarray or None
        Offset of each usable row; None if all rows are usable.
    rejects : tuple of Reject
        The rows that could not be split into columns.
    base : int
        Added to an offset before it is passed to `place` and `text`.
    """

    columns: Mapping[str, RawColumn]
    n_rows: int
    place: Callable[[int], Place]
    text: Callable[[int], str]
    kept: NDArray[np.int64] | None = None
    rejects: tuple[Reject, ...] = ()
    base: int = 0

    def offsets(self) -> NDArray[np.int64]:
        """Return the offset in the chunk of each usable row."""
        return np.arange(self.n_rows, dtype=np.int64) if self.kept is None else self.kept

    def place_of(self, offset: int) -> Place:
        """Return the place of the row at `offset`."""
        return self.place(self.base + offset)

    def text_of(self, offset: int) -> str:
        """Return the original text of the row at `offset`."""
        return self.text(self.base + offset)

    def slice(self, start: int, stop: int) -> Chunk:
        """Return the rows at offsets start, ..., stop - 1."""
        if start == 0 and stop >= self.n_rows:
            return self
        stop = min(stop, self.n_rows)
        if self.kept is None:
            low, high, kept = start, stop, None
        else:
            low, high = (int(i) for i in np.searchsorted(self.kept, (start, stop)))
            kept = self.kept[low:high] - start
        return Chunk(
            columns={name: values[low:high] for name, values in self.columns.items()},
            n_rows=stop - start,
            place=self.place,
            text=self.text,
            kept=kept,
            rejects=tuple(
                Reject(r.offset - start, r.reason, r.detail, r.remedy) for r in self.rejects if start <= r.offset < stop
            ),
            base=self.base + start,
        )


class Reader(Protocol):
    """One kind of source. `names` are its columns in order, `n_rows` its length if known in advance."""

    label: str
    names: list[str]
    n_rows: int | None

    def chunks(self, skip: int, columns: list[str]) -> Iterator[Chunk]:
        """Yield the rows after the first `skip`, with the named columns only."""

    def fraction(self) -> float | None:
        """Return how much of the source has been read, from 0 to 1; None if unknown."""

    def notes(self) -> list[str]:
        """Return remarks for the user on what was read so far."""

    def close(self) -> None:
        """Close the files."""


@runtime_checkable
class LiveReader(Protocol):
    """A reader of a feed, whose rows arrive over time."""

    def ready(self, seconds: float) -> bool:
        """Wait for at most `seconds` until the next chunk, or the end, is there; return whether it is."""


def skip_rows(chunks: Iterator[Chunk], skip: int) -> Iterator[Chunk]:
    """Drop the first `skip` rows."""
    for chunk in chunks:
        if skip >= chunk.n_rows:
            skip -= chunk.n_rows
        else:
            yield chunk.slice(skip, chunk.n_rows)
            skip = 0

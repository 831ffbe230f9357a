"""Rows that cannot be used: raise an error, skip and count them, or write them to a quarantine file with the reason."""

from __future__ import annotations

import csv
import io
import os
from collections import Counter
from pathlib import Path
from typing import Any, Literal, get_args

from sapwood._disk import OutputFile, sync_folder
from sapwood._state import Fields, StateError
from sapwood.reading.chunk import Chunk, Reject
from sapwood.reading.errors import SourceError

OnBadRow = Literal["error", "skip", "quarantine"]
ON_BAD_ROW: tuple[OnBadRow, ...] = get_args(OnBadRow)
_HEADER = ("file", "place", "number", "reason", "detail", "text")


class BadRows:
    """Counts bad rows and writes the quarantine file.

    The file is a CSV with the columns file, place ("line" or "row"), number, reason, detail and text. On resuming it is
    truncated to its length at the checkpoint, so that no bad row is listed twice.
    """

    def __init__(self, policy: OnBadRow, quarantine: str | os.PathLike[str] | None) -> None:
        if policy not in ON_BAD_ROW:
            *others, last = map(repr, ON_BAD_ROW)
            raise SourceError(f"on_bad_row is {policy!r}; it must be {', '.join(others)} or {last}")
        if (policy == "quarantine") != (quarantine is not None):
            raise SourceError(
                f"on_bad_row is {policy!r} and quarantine is {quarantine!r}; give quarantine=FILE with "
                "on_bad_row='quarantine', and only then"
            )
        self._policy = policy
        self._path = None if quarantine is None else Path(quarantine)
        self._file: OutputFile | None = None
        self._n_bytes = 0
        self._pending: list[tuple[str, bytes]] = []
        self.reasons: Counter[str] = Counter()

    @property
    def n_bad(self) -> int:
        """Number of rows left out so far."""
        return sum(self.reasons.values())

    def start(self, state: dict[str, Any] | None) -> None:
        """Open the quarantine file: empty, or truncated to its length in `state`."""
        if state is not None:
            self.reasons = Counter(state["reasons"])
        if self._path is None:
            return
        n_bytes = 0 if state is None else int(state["quarantine_bytes"])
        try:
            if n_bytes and self._path.stat().st_size < n_bytes:
                raise SourceError(
                    f"{self._path}: is shorter than the run to be resumed left it; put it back, or start again "
                    "without resuming",
                    file=str(self._path),
                )
            self._file = OutputFile.extend(self._path, n_bytes) if n_bytes else OutputFile.create(self._path)
            if not n_bytes:
                sync_folder(self._path.absolute().parent)
        except OSError as error:
            raise SourceError(
                f"{self._path}: cannot write bad rows there ({error.strerror}); name a writable file",
                file=str(self._path),
            ) from error
        self._n_bytes = n_bytes
        if n_bytes == 0:
            self._n_bytes = self._file.write(_line(_HEADER))

    def add(self, chunk: Chunk, rejects: list[Reject]) -> None:
        """Handle the bad rows of a chunk, in order. They are counted and written by `commit_batch`."""
        for reject in rejects:
            place = chunk.place_of(reject.offset)
            if self._policy == "error":
                raise SourceError(
                    f"{place}: {reject.detail}; {reject.remedy}, or leave such rows out with on_bad_row='skip' or "
                    "'quarantine'",
                    file=place.file,
                    **{place.unit: place.number},
                )
            text = chunk.text_of(reject.offset)
            line = _line((place.file, place.unit, place.number, reject.reason, reject.detail, text))
            self._pending.append((reject.reason, line))

    def begin_batch(self) -> None:
        """Discard the bad rows of an interrupted batch, which will be read again."""
        self._pending.clear()

    def commit_batch(self) -> None:
        """Count and write the bad rows of a complete batch."""
        for reason, line in self._pending:
            self.reasons[reason] += 1
            if self._file is not None:
                self._n_bytes += self._file.write(line)
        self._pending.clear()

    def state(self) -> dict[str, Any]:
        """Return the counts and the length of the quarantine file, flushed to disk."""
        if self._file is not None:
            self._file.sync()
        return {"reasons": dict(self.reasons), "quarantine_bytes": self._n_bytes}

    def close(self) -> None:
        """Close the quarantine file."""
        if self._file is not None:
            self._file.close()
            self._file = None


def check_bad_rows(fields: Fields) -> None:
    """Raise StateError unless the entries are those of `BadRows.state`."""
    reasons = fields.part("reasons")
    counts = fields.raw("reasons")
    if not all(isinstance(reason, str) for reason in counts):
        raise StateError(f"{reasons.where} has a reason that is not text")
    for reason in counts:
        reasons.integer(reason)
    fields.integer("quarantine_bytes")


def _line(fields: tuple[object, ...]) -> bytes:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(fields)
    return line.getvalue().encode("utf-8", "backslashreplace")

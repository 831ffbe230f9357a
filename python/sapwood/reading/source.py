"""Open anything as a stream of rows, and read it batch by batch at constant memory."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any

from sapwood._options import Task
from sapwood.encoding.encoder import SCHEMA_ROWS, Encoder
from sapwood.encoding.schema import Encoded, Roles, Schema
from sapwood.reading.bad_rows import BadRows
from sapwood.reading.batch import Batch, join
from sapwood.reading.chunk import Chunk, LiveReader, Reader
from sapwood.reading.dialect import Dialect, DialectOptions
from sapwood.reading.errors import SourceError, unknown_column
from sapwood.reading.fingerprint import Fingerprint
from sapwood.reading.first_look import Look, column_notes
from sapwood.reading.opening import check_names
from sapwood.reading.readers.files import STDIN
from sapwood.reading.resume import STATE_FORMAT, Resume

PAUSE = 0.2
"""Seconds without a row after which a feed is thought to pause: the rows so far then determine the types."""

_FOREVER = 3600.0  # seconds to wait at a time
_LONGEST_LOOK = 0.7  # seconds after which they do in any case, so that the first forecast comes within a second


@dataclass(frozen=True)
class _Consumed:
    """How many rows were consumed, including those before the start, and the fingerprint of those after it.

    One object, so that an interruption never leaves one without the other.
    """

    position: int
    fingerprint: Fingerprint


class Source:
    """A stream of rows, read once from start to end. Created by :func:`open_source`.

    Iterating yields :class:`Batch` objects. Between two of them, `state()` is all that is needed to continue later from
    the same row, with the same encoding as without the interruption.
    """

    # More than eight parameters: those of `open_source`, the only caller, in groups where they belong together.
    def __init__(
        self,
        reader: Reader,
        *,
        roles: Roles,
        bad_rows: BadRows,
        schema: Schema | None,
        batch_rows: int,
        start: int,
        max_rows: int | None,
        resume: Resume | None,
        key: str | None,
        keep_unlabelled: bool | None,
        dialect: DialectOptions,
    ) -> None:
        self._reader = reader
        self._dialect_options = dialect
        self._dialect = None if resume is None else resume.dialect
        self._bad_rows = bad_rows
        self._batch_rows = batch_rows
        self._start = start
        self._end = None if max_rows is None else start + max_rows
        self._held: deque[Chunk] = deque()
        check_names(reader)
        self._live = reader if isinstance(reader, LiveReader) else None
        self._look: Look | None = None
        self._column_notes: list[str] = []
        self.key = key
        of_key = [] if key is None else [key]
        if key is not None and key not in reader.names:
            raise unknown_column(key, "the key", reader.names, reader.label)
        if schema is None:
            of_target = [] if roles.target is None else [roles.target]
            wanted = [*of_key, *roles.inputs(reader.names, reader.label), *of_target]
            self._chunks = reader.chunks(start, wanted)
            schema = self._infer(roles)
        else:
            known = set(reader.names)
            for name in schema.columns:
                if name not in known:
                    raise unknown_column(name, "required by the schema", reader.names, reader.label)
            self._chunks = reader.chunks(start, [*of_key, *schema.columns])
        is_expected = key is not None or self._live is not None
        schema.keeps_unlabelled = is_expected if keep_unlabelled is None else keep_unlabelled
        self._schema = schema
        self._consumed = _Consumed(start, Fingerprint(schema.columns))
        if resume is not None:
            self._skip_to(resume)

    def _skip_to(self, resume: Resume) -> None:
        """Read the rows that were consumed before, and refuse to continue if they are not the same."""
        label, seen = self._reader.label, self._consumed
        while seen.position < resume.position and (chunk := self._next_chunk()) is not None:
            part = chunk.slice(0, resume.position - seen.position)
            if part.n_rows < chunk.n_rows:
                self._held.append(chunk.slice(part.n_rows, chunk.n_rows))
            seen = _Consumed(seen.position + part.n_rows, seen.fingerprint.extended([part]))
        again = (
            "pipe the same data in again from the start" if label == STDIN else "put back the data it was started with"
        )
        remedy = f"{again}, or start again without resuming, with other output files"
        if seen.position < resume.position:
            raise SourceError(
                f"{label}: ends after row {seen.position}, but the run to be resumed had read {resume.position} rows; "
                + remedy,
                file=label,
            )
        if seen.fingerprint.digest() != resume.fingerprint:
            raise SourceError(
                f"{label}: its first {resume.position} rows are not those that the run to be resumed had read; "
                + remedy,
                file=label,
            )
        self._consumed = seen

    def _infer(self, roles: Roles) -> Schema:
        first: list[Chunk] = []
        n_rows, looked_until = 0, None
        while n_rows < SCHEMA_ROWS and self._is_worth_waiting(looked_until):
            chunk = next(self._chunks, None)
            if chunk is None:
                break
            self._held.append(chunk)
            first.append(chunk.slice(0, SCHEMA_ROWS - n_rows))
            n_rows += chunk.n_rows
            if looked_until is None and len(chunk.offsets()):
                looked_until = time.monotonic() + _LONGEST_LOOK
        if n_rows == 0:
            label = self._reader.label
            after = f" after the first {self._start}" if self._start else ""
            raise SourceError(f"{label}: has no rows{after}; there is nothing to learn from", file=label)
        as_they_are = {name for name, kind in roles.given_kinds().items() if kind != "number"}
        self._dialect = Dialect.find(first, self._dialect_options, as_they_are=as_they_are, target=roles.target)
        first = [self._dialect.apply(chunk) for chunk in first]
        self._held = deque(self._dialect.apply(chunk) for chunk in self._held)
        schema = Schema.infer(first, self._reader.names, roles, self._reader.label)
        if self._live is not None and n_rows < SCHEMA_ROWS:
            self._look = Look.at(first, schema)
        self._column_notes = column_notes(first, schema)
        return schema

    def _next_chunk(self) -> Chunk | None:
        """Return the next chunk, with plain numbers: as in the rows before it, or those of the chunk itself."""
        chunk = next(self._chunks, None)
        if chunk is None:
            return None
        if self._dialect is None:
            as_they_are = {
                feature.name for feature in self._schema.encoder.features if feature.kind not in ("number", "boolean")
            }
            self._dialect = Dialect.find([chunk], self._dialect_options, as_they_are=as_they_are, target=self.target)
        return self._dialect.apply(chunk)

    def _is_worth_waiting(self, until: float | None) -> bool:
        """Whether to read more before the types are fixed: of a feed with a usable row, only if more arrives soon."""
        if self._live is None or until is None:
            return True
        return self._live.ready(max(0.0, min(PAUSE, until - time.monotonic())))

    @property
    def is_live(self) -> bool:
        """Whether rows arrive over time, from a pipe or a file that is followed. Batches are then what has arrived."""
        return self._live is not None

    @property
    def encoder(self) -> Encoder:
        """What turns the columns into inputs."""
        return self._schema.encoder

    def adopt(self, encoder: Encoder) -> None:
        """Encode all further rows with the encoder of a model, which must have the same columns."""
        columns, label = self._schema.encoder.columns, self._reader.label
        known, wanted = set(columns), set(encoder.columns)
        for name in encoder.columns:
            if name not in known:
                raise unknown_column(name, "which the model needs", columns, label)
        for name in columns:
            if name not in wanted:
                raise SourceError(f"{label}: the model does not know the column {name!r}; drop it", file=label)
        styled = {} if self._dialect is None else self._dialect.styles
        for feature in encoder.features:
            if feature.kind != "number" and feature.name in styled:
                known_as = f"but the model knows it as a {feature.kind}; set its type with types="
                raise SourceError(f"{label}: column {feature.name!r} is read as numbers, {known_as}", file=label)
        self._schema.encoder = encoder

    @property
    def feature_names(self) -> list[str]:
        """Names of the columns of `X`."""
        return self._schema.encoder.input_names

    @property
    def target(self) -> str | None:
        """Name of the target column."""
        return self._schema.target.name if self._schema.target else None

    @property
    def task_hint(self) -> Task | None:
        """The likely task: "classification" for text and booleans, and for integers with at most 32 distinct values
        among the first 1000 rows, each occurring ten times on average (or any two distinct values); "regression" for
        all other numbers; None without a target, or if the few whole numbers that begin a feed do not tell. It does not
        affect what is read."""
        if self._schema.target is None or (self._look is not None and self._look.leaves_task_open):
            return None
        return self._schema.target.hint

    @property
    def position(self) -> int:
        """Number of rows consumed so far, including bad rows: the row number at which the next batch starts."""
        return self._consumed.position

    @property
    def files(self) -> list[Path]:
        """The files that are read, if the source consists of files."""
        return list(getattr(self._reader, "paths", ()))

    @property
    def n_rows(self) -> int | None:
        """Number of rows in the whole source, if known without reading it."""
        total = self._reader.n_rows
        if total is None or self._end is None:
            return total
        return min(total, self._end)

    @property
    def fraction(self) -> float | None:
        """How much has been consumed, from 0 to 1; None if unknown."""
        if self.n_rows:
            return self.position / self.n_rows
        return self._reader.fraction()

    @property
    def n_bad(self) -> int:
        """Number of rows left out because they could not be used."""
        return self._bad_rows.n_bad

    @property
    def bad_reasons(self) -> dict[str, int]:
        """Number of rows left out, by reason."""
        return dict(self._bad_rows.reasons)

    @property
    def notes(self) -> list[str]:
        """Remarks for the user, for example on integers too large for a double, too many categories, or late keys."""
        first = [] if self._look is None else [self._look.note]
        first += [] if self._dialect is None else self._dialect.notes()
        return [*first, *self._schema.notes(), *self._reader.notes(), *self._column_notes]

    def state(self) -> dict[str, Any]:
        """Return everything needed to continue from here, as JSON values, for ``open_source(..., resume=state)``.

        "Here" is after the last batch returned, even if reading the next one failed or was interrupted.

        Its entry ``"schema"``, passed as ``open_source(..., schema=...)``, makes another source encode like this one.
        """
        return {
            "format": STATE_FORMAT,
            "start": self._start,
            "position": self._consumed.position,
            "fingerprint": self._consumed.fingerprint.digest(),
            "schema": self._schema.state(),
            "bad": self._bad_rows.state(),
            "dialect": None if self._dialect is None else self._dialect.state(),
        }

    def __iter__(self) -> Iterator[Batch]:
        return self

    def __next__(self) -> Batch:
        while True:
            batch = self.next_within(None)
            if batch is not None:
                return batch

    def next_within(self, seconds: float | None) -> Batch | None:
        """Return the next batch; None if a feed has no row within `seconds` (None: ever), or all rows read are bad.

        Raises StopIteration at the end of the source.
        """
        row, n_wanted = self.position, self._rows_wanted()
        if n_wanted and not self._is_ready(_FOREVER if seconds is None else seconds):
            return None
        self._bad_rows.begin_batch()
        parts, chunks = self._encode_rows(n_wanted)
        n_rows = sum(chunk.n_rows for chunk in chunks)
        if n_rows == 0:
            raise StopIteration
        after = _Consumed(row + n_rows, self._consumed.fingerprint.extended(chunks))
        self._bad_rows.commit_batch()
        self._consumed = after
        if not any(len(part.x) for part in parts):
            return None
        return join(parts, chunks, row, self.feature_names, self.key)

    def _is_ready(self, seconds: float) -> bool:
        """Whether the next chunk of a feed is there within `seconds`; that of anything else is read in any case."""
        return self._live is None or bool(self._held) or self._live.ready(seconds)

    def _rows_wanted(self) -> int:
        return self._batch_rows if self._end is None else min(self._batch_rows, self._end - self.position)

    def _encode_rows(self, n_wanted: int) -> tuple[list[Encoded], list[Chunk]]:
        """Encode the next rows, up to `n_wanted` of the source; offsets count from the first of them."""
        parts: list[Encoded] = []
        chunks: list[Chunk] = []
        n_rows = 0
        while n_rows < n_wanted:
            if n_rows and not self._is_ready(0.0):
                break
            chunk = self._held.popleft() if self._held else self._next_chunk()
            if chunk is None:
                break
            part = chunk.slice(0, n_wanted - n_rows)
            if part.n_rows < chunk.n_rows:
                self._held.appendleft(chunk.slice(part.n_rows, chunk.n_rows))
            encoded = self._schema.encode(part)
            self._bad_rows.add(part, encoded.rejects)
            parts.append(replace(encoded, offsets=encoded.offsets + n_rows, rejects=[]))
            chunks.append(part)
            n_rows += part.n_rows
        return parts, chunks

    def close(self) -> None:
        """Close the files."""
        self._reader.close()
        self._bad_rows.close()

    def __enter__(self) -> Source:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

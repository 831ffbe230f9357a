"""The state of a source, from which it can be continued."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sapwood._state import Fields, StateError
from sapwood.reading.bad_rows import check_bad_rows
from sapwood.reading.dialect import Dialect
from sapwood.reading.errors import SourceError

STATE_FORMAT = 2


@dataclass(frozen=True)
class Resume:
    """The state to resume from, checked."""

    start: int
    position: int
    fingerprint: str
    schema: dict[str, Any]
    bad: dict[str, Any]
    dialect: Dialect | None

    @classmethod
    def of(cls, state: dict[str, Any]) -> Resume:
        """Check what `Source.state` returned, possibly long ago and in a file that others could change."""
        if not isinstance(state, dict) or state.get("format") != STATE_FORMAT:
            found = state.get("format") if isinstance(state, dict) else state
            raise SourceError(f"the state to resume from has format {found!r:.60}; this version reads {STATE_FORMAT}")
        try:
            fields = Fields(state, "source")
            start = fields.integer("start")
            check_bad_rows(fields.part("bad"))
            return cls(
                start,
                fields.integer("position", start),
                fields.text("fingerprint"),
                fields.raw("schema"),
                fields.raw("bad"),
                None if fields.raw("dialect") is None else Dialect.restore(fields.part("dialect")),
            )
        except StateError as error:
            raise SourceError(f"the state to resume from cannot be used ({error}); start again without it") from error

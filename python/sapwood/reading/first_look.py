"""What the user should know of the first rows, from which the types of columns are inferred."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sapwood.encoding.columns import MISSING_TIMESTAMP, booleans, hours, numbers, texts, timestamps
from sapwood.encoding.schema import Schema
from sapwood.reading.chunk import Chunk, RawColumn

_TELLING_ROWS = 50
"""With fewer rows, a column that never changes or never repeats means little."""

_TELLING_TARGETS = 20
"""Fewer whole numbers than this may be classes or quantities."""


@dataclass(frozen=True)
class Look:
    """The rows that had arrived when the types of a feed's columns were decided.

    Attributes
    ----------
    note : str
        What was decided, for the user.
    leaves_task_open : bool
        Whether the targets so far may be classes as well as quantities.
    """

    note: str
    leaves_task_open: bool

    @classmethod
    def at(cls, first: list[Chunk], schema: Schema) -> Look:
        """Describe what `schema` was inferred from."""
        n_rows = sum(len(chunk.offsets()) for chunk in first)
        kinds = ", ".join(f"{feature.name} is a {feature.kind}" for feature in schema.encoder.features)
        rows = "row" if n_rows == 1 else f"{n_rows} rows"
        note = (
            f"the types of the columns are those of the first {rows}, which had arrived when the feed paused: {kinds}; "
            "set others with types="
        )
        return cls(note, _leaves_task_open(first, schema))


def column_notes(first: Sequence[Chunk], schema: Schema) -> list[str]:
    """Return remarks on inputs that can be of no use: those that never change, and those that never repeat."""
    n_rows = sum(len(chunk.offsets()) for chunk in first)
    if n_rows < _TELLING_ROWS:
        return []
    constant, distinct = [], []
    for feature in schema.encoder.features:
        n_distinct, n_known = _count([chunk.columns[feature.name] for chunk in first], feature.kind)
        if n_distinct == 0 or (n_distinct == 1 and n_known == n_rows):
            constant.append(feature.name)
        elif n_distinct == n_rows and feature.kind == "category":
            distinct.append(feature.name)
    notes = []
    if constant:
        notes.append(f"{listed(constant)}: the same in all of the first {n_rows} rows, which teaches nothing")
    if distinct:
        notes.append(
            f"{listed(distinct)}: another text in each of the first {n_rows} rows; drop what is only an identifier"
        )
    return notes


def _count(pieces: list[RawColumn], kind: str) -> tuple[int, int]:
    """Return the number of distinct values of a column, and of those that are not missing."""
    if kind == "category":
        found = [texts(raw) for raw in pieces]
        return len({text for part in found for text in part.distinct}), sum(int(np.sum(part.ix >= 0)) for part in found)
    parse = {"timestamp": timestamps, "time": hours, "boolean": booleans}.get(kind, numbers)
    values = np.concatenate([parse(raw).values for raw in pieces])
    known = values[values != MISSING_TIMESTAMP] if kind == "timestamp" else values[~np.isnan(values)]
    return len(np.unique(known)), len(known)


def listed(names: list[str]) -> str:
    """Return the first few of some columns, for a note."""
    shown = ", ".join(repr(name) for name in names[:5])
    if len(names) > 5:
        shown += f" and {len(names) - 5} more"
    return f"column{'s' * (len(names) > 1)} {shown}"


def _leaves_task_open(first: list[Chunk], schema: Schema) -> bool:
    target = schema.target
    if target is None or target.kind not in ("number", "integer"):
        return False
    values = np.concatenate([target.parse(chunk.columns[target.name])[0].astype(float) for chunk in first])
    known = values[np.isfinite(values)]
    return len(known) < _TELLING_TARGETS and bool(np.all(known == np.round(known)))

"""What the first rows of a feed leave open, since there may be very few of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sapwood.encoding.schema import Schema
from sapwood.reading.chunk import Chunk

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


def _leaves_task_open(first: list[Chunk], schema: Schema) -> bool:
    target = schema.target
    if target is None or target.kind not in ("number", "integer"):
        return False
    values = np.concatenate([target.parse(chunk.columns[target.name])[0].astype(float) for chunk in first])
    known = values[np.isfinite(values)]
    return len(known) < _TELLING_TARGETS and bool(np.all(known == np.round(known)))

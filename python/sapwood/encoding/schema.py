"""The schema of a source, fixed by its first rows: which columns are inputs, how each is encoded, and the target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from sapwood._options import Task
from sapwood._state import Fields, StateError
from sapwood.encoding.columns import UnusableColumnError, shown
from sapwood.encoding.encoder import BadColumnError, Encoder, Parsed
from sapwood.encoding.probe import ColumnKind
from sapwood.encoding.target import MISSING_TARGET, Fault, Target, TargetKind
from sapwood.reading.chunk import Chunk, RawColumn, Reject
from sapwood.reading.errors import SourceError, unknown_column


@dataclass(frozen=True)
class Encoded:
    """The usable rows of a chunk: inputs, targets, offsets in the chunk, and which have a target (None: all).

    And the rejected rows.
    """

    x: NDArray[np.float64]
    y: NDArray[Any] | None
    offsets: NDArray[np.int64]
    rejects: list[Reject]
    labelled: NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class Roles:
    """The roles that the user assigned to columns."""

    target: str | None
    drop: Sequence[str] = ()
    categorical: Sequence[str] = ()
    task: Task | None = None
    types: Mapping[str, ColumnKind] = field(default_factory=dict)

    def inputs(self, names: list[str], where: str) -> list[str]:
        """Return the columns that become inputs; raise if a column the user named does not exist."""
        known, dropped = set(names), set(self.drop)
        for role, given in (
            ("the target", [] if self.target is None else [self.target]),
            ("to drop", self.drop),
            ("categorical", self.categorical),
            ("in types", self.types),
        ):
            for name in given:
                if name not in known:
                    raise unknown_column(name, role, names, where)
        allowed = get_args(ColumnKind)
        for name, kind in self.types.items():
            if kind not in allowed:
                raise SourceError(
                    f"{where}: types says that column {name!r} is a {kind!r}; choose from {', '.join(allowed)}",
                    file=where,
                )
        inputs = [name for name in names if name != self.target and name not in dropped]
        if not inputs:
            raise SourceError(
                f"{where} has no input column left besides the target {self.target!r}; keep at least one column",
                file=where,
            )
        return inputs

    def given_kinds(self) -> dict[str, ColumnKind]:
        """Return the types that the user gave."""
        return {**self.types, **dict.fromkeys(self.categorical, "category")}


class Schema:
    """Encodes the chunks of a source: its encoder, and its target.

    Attributes
    ----------
    encoder : Encoder
        What makes inputs of the columns. It may be that of a model, which then learns from this source.
    target : Target or None
    """

    def __init__(self, encoder: Encoder, target: Target | None, *, grow: bool = True) -> None:
        self.encoder = encoder
        self.target = target
        self._grow = grow
        self.keeps_unlabelled = False  # rows without a target are then usable

    @classmethod
    def infer(cls, first: list[Chunk], names: list[str], roles: Roles, where: str) -> Schema:
        """Infer the type of every column from the first chunks of a source."""
        inputs, given = roles.inputs(names, where), roles.given_kinds()
        try:
            encoder = Encoder.infer([chunk.columns for chunk in first], inputs, given)
        except BadColumnError as error:
            raise _unusable(error.column, error.type, where) from error
        if roles.target is None:
            return cls(encoder, None)
        pieces = [chunk.columns[roles.target] for chunk in first]
        is_category = given.get(roles.target) == "category"
        return cls(encoder, Target.infer(roles.target, pieces, roles.task, is_category, where))

    @classmethod
    def restore(cls, state: dict[str, Any], target: str | None, *, grow: bool) -> Schema:
        """Restore a schema from its `state`; with `target` None, leave its target out, as when only predicting.

        Only if told to `grow` will it add categories.
        """
        try:
            fields = Fields(state, "schema")
            encoder = Encoder.restore(fields.raw("features"), "schema.features")
            remembered = _checked_target(fields)
        except StateError as error:
            raise SourceError(f"the schema cannot be used ({error}); learn the source again") from error
        if target is not None and (remembered is None or remembered["name"] != target):
            known = "no target" if remembered is None else f"the target {remembered['name']!r}"
            raise SourceError(f"the target is {target!r}, but this schema was made with {known}; use the same")
        return cls(encoder, None if target is None else Target(**remembered), grow=grow)

    @property
    def columns(self) -> list[str]:
        """The columns to read, the target last."""
        return self.encoder.columns + ([self.target.name] if self.target else [])

    def notes(self) -> list[str]:
        """Return remarks for the user on the values so far."""
        return self.encoder.notes() + (self.target.notes() if self.target else [])

    def state(self) -> dict[str, Any]:
        """Return the state as JSON values."""
        return {"features": self.encoder.state(), "target": self.target.state() if self.target else None}

    def encode(self, chunk: Chunk) -> Encoded:
        """Encode the usable rows of a chunk. Rejected rows add no categories."""
        offsets = chunk.offsets()
        bad = np.zeros(len(offsets), dtype=bool)
        rejects = list(chunk.rejects)
        labelled = np.ones(len(offsets), dtype=bool)
        y = self._parse_target(chunk, offsets, bad, rejects, labelled)
        parsed = self._parse(chunk)
        for column, fault in parsed.faults:
            _mark(fault, chunk.columns[column], offsets, bad, rejects)
        keep: Any = ~bad if bad.any() else slice(None)
        x = self.encoder.write(parsed, keep, len(offsets) - int(bad.sum()), grow=self._grow)
        rejects.sort(key=lambda reject: reject.offset)
        of_usable = None if labelled.all() else labelled[keep]
        return Encoded(x, None if y is None else y[keep], offsets[keep], rejects, of_usable)

    def _parse(self, chunk: Chunk) -> Parsed:
        try:
            return self.encoder.parse(chunk.columns)
        except BadColumnError as error:
            raise SourceError(
                f"{chunk.place_of(0).file}: column {error.column!r} has type {error.type}, but it held {error.kind} "
                "values before; give it the same type in every file",
                file=chunk.place_of(0).file,
            ) from error

    def _parse_target(
        self,
        chunk: Chunk,
        offsets: NDArray[np.int64],
        bad: NDArray[np.bool_],
        rejects: list[Reject],
        labelled: NDArray[np.bool_],
    ) -> NDArray[Any] | None:
        if self.target is None:
            return None
        raw = chunk.columns[self.target.name]
        try:
            y, faults = self.target.parse(raw)
        except UnusableColumnError as error:
            raise _unusable(self.target.name, str(error), chunk.place_of(0).file) from error
        for fault in faults:
            if self.keeps_unlabelled and fault.reason == MISSING_TARGET:
                labelled[fault.bad] = False
            else:
                _mark(fault, raw, offsets, bad, rejects)
        return y


_TARGET_FIELDS = ("name", "kind", "hint", "doubt")


def _checked_target(fields: Fields) -> Any:
    """Return the entries of a saved target, which may come from a file that others could change."""
    target = fields.raw("target")
    if target is not None:
        entries = Fields(target, "schema.target")
        known = all(entries.text(name) is not None for name in _TARGET_FIELDS) and len(target) == len(_TARGET_FIELDS)
        if not known or target["kind"] not in get_args(TargetKind) or target["hint"] not in get_args(Task):
            raise StateError("schema.target is not a target that this version writes")
    return target


def _mark(
    fault: Fault, raw: RawColumn, offsets: NDArray[np.int64], bad: NDArray[np.bool_], rejects: list[Reject]
) -> None:
    """Reject the rows with a fault; a row is rejected once, for its first fault."""
    for ix in np.flatnonzero(fault.bad & ~bad):
        bad[ix] = True
        value = "" if fault.reason == MISSING_TARGET else f" ({shown(raw, int(ix))})"
        rejects.append(Reject(int(offsets[ix]), fault.reason, fault.detail + value, fault.remedy))


def _unusable(name: str, type_name: str, where: str) -> SourceError:
    return SourceError(
        f"{where}: column {name!r} has type {type_name}, which cannot become an input; drop it, or turn it into "
        "numbers",
        file=where,
    )

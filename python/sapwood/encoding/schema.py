"""The schema of a source, fixed by its first rows: which columns are inputs, how each is encoded, and the target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from sapwood._options import Task
from sapwood._state import Fields, StateError
from sapwood.encoding.columns import UnusableColumnError
from sapwood.encoding.features import LARGEST_MAGNITUDE, MAX_CATEGORIES, Feature, Number, restore
from sapwood.encoding.probe import ColumnKind, Probe, make_feature, probe
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
            ("the target", [self.target] if self.target else []),
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
    """Encodes chunks. All its state is in `state`, so that a resumed run encodes like an uninterrupted one."""

    def __init__(self, features: list[Feature], target: Target | None) -> None:
        self.features = features
        self.target = target
        self.feature_names = [output for feature in features for output in feature.outputs]
        self.keeps_unlabelled = False  # rows without a target are then usable

    @classmethod
    def infer(cls, first: list[Chunk], names: list[str], roles: Roles, where: str) -> Schema:
        """Infer the type of every column from the first chunks of a source."""
        inputs, given = roles.inputs(names, where), roles.given_kinds()
        features: list[Feature] = []
        for name in inputs:
            pieces = [chunk.columns[name] for chunk in first]
            try:
                probed = Probe(pieces, given[name], True) if name in given else probe(pieces)
                features.append(make_feature(name, probed))
            except UnusableColumnError as error:
                raise _unusable(name, error, where) from error
        target = None
        if roles.target is not None:
            pieces = [chunk.columns[roles.target] for chunk in first]
            is_category = given.get(roles.target) == "category"
            target = Target.infer(roles.target, pieces, roles.task, is_category, where)
        return cls(features, target)

    @classmethod
    def restore(cls, state: dict[str, Any], target: str | None) -> Schema:
        """Restore a schema from its `state`; with `target` None, leave its target out, as when only predicting."""
        try:
            features, remembered = _checked(Fields(state, "schema"))
        except StateError as error:
            raise SourceError(f"the schema cannot be used ({error}); learn the source again") from error
        if target is not None and (remembered is None or remembered["name"] != target):
            known = "no target" if remembered is None else f"the target {remembered['name']!r}"
            raise SourceError(f"the target is {target!r}, but this schema was made with {known}; use the same")
        return cls([restore(feature) for feature in features], None if target is None else Target(**remembered))

    @property
    def columns(self) -> list[str]:
        """The columns to read, the target last."""
        return [feature.name for feature in self.features] + ([self.target.name] if self.target else [])

    def notes(self) -> list[str]:
        """Return remarks for the user on the values so far."""
        of_inputs = [note for feature in self.features for note in feature.notes()]
        return of_inputs + (self.target.notes() if self.target else [])

    def state(self) -> dict[str, Any]:
        """Return the state as JSON values."""
        return {
            "features": [feature.state() for feature in self.features],
            "target": self.target.state() if self.target else None,
        }

    def encode(self, chunk: Chunk) -> Encoded:
        """Encode the usable rows of a chunk. Rejected rows add no categories."""
        offsets = chunk.offsets()
        bad = np.zeros(len(offsets), dtype=bool)
        rejects = list(chunk.rejects)
        labelled = np.ones(len(offsets), dtype=bool)
        y = self._parse_target(chunk, offsets, bad, rejects, labelled)
        parsed = [self._parse(feature, chunk, offsets, bad, rejects) for feature in self.features]
        keep: Any = ~bad if bad.any() else slice(None)
        x = np.empty((len(offsets) - int(bad.sum()), len(self.feature_names)), dtype=np.float64)
        at = 0
        for feature, values in zip(self.features, parsed, strict=True):
            width = len(feature.outputs)
            feature.write(values[keep], x[:, at : at + width])
            at += width
        rejects.sort(key=lambda reject: reject.offset)
        of_usable = None if labelled.all() else labelled[keep]
        return Encoded(x, None if y is None else y[keep], offsets[keep], rejects, of_usable)

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
            raise _unusable(self.target.name, error, chunk.place_of(0).file) from error
        for fault in faults:
            if self.keeps_unlabelled and fault.reason == MISSING_TARGET:
                labelled[fault.bad] = False
            else:
                _mark(fault, raw, offsets, bad, rejects)
        return y

    def _parse(
        self,
        feature: Feature,
        chunk: Chunk,
        offsets: NDArray[np.int64],
        bad: NDArray[np.bool_],
        rejects: list[Reject],
    ) -> NDArray[Any]:
        raw = chunk.columns[feature.name]
        try:
            parsed = feature.parse(raw)
        except UnusableColumnError as error:
            raise SourceError(
                f"{chunk.place_of(0).file}: column {feature.name!r} has type {error}, but it held {feature.kind} "
                "values before; give it the same type in every file",
                file=chunk.place_of(0).file,
            ) from error
        if parsed.bad is not None:
            detail = f"column {feature.name!r} is not {feature.expected}"
            remedy = f"correct it, or declare the column categorical or to be dropped ({feature.name!r})"
            _mark(
                Fault(parsed.bad, f"not {feature.expected.split(' (')[0]}", detail, remedy), raw, offsets, bad, rejects
            )
        if isinstance(feature, Number):
            huge = np.abs(parsed.values) > LARGEST_MAGNITUDE
            if huge.any():
                detail = f"column {feature.name!r} is infinite or beyond 1e100"
                fault = Fault(
                    huge, "infinite input", detail, "correct it, leave it empty if it is not known, or rescale"
                )
                _mark(fault, raw, offsets, bad, rejects)
        return parsed.values


_FEATURE_FIELDS: dict[str, tuple[tuple[str, type], ...]] = {
    "number": (("rounded", bool),),
    "boolean": (("rounded", bool),),
    "category": (("categories", list), ("overflowed", bool), ("doubt", str)),
    "timestamp": (("origin", int), ("has_hour", bool)),
    "time": (),
}
_TARGET_FIELDS = ("name", "kind", "hint", "doubt")


def _checked(fields: Fields) -> tuple[list[dict[str, Any]], Any]:
    """Return the entries of a saved schema, which may come from a file that others could change."""
    features = fields.items("features")
    for i, feature in enumerate(features):
        entries = Fields(feature, f"schema.features[{i}]")
        wanted = _FEATURE_FIELDS.get(entries.text("kind"))
        if wanted is None or set(feature) != {"kind", "name", *(name for name, _ in wanted)}:
            raise StateError(f"{entries.where} is not a feature that this version writes")
        entries.text("name")
        for name, kind in wanted:
            if type(feature[name]) is not kind:
                raise StateError(f"{entries.where}.{name} is {feature[name]!r:.60}; it must be of type {kind.__name__}")
        categories = feature.get("categories", [])
        if not all(isinstance(text, str) for text in categories) or len(set(categories)) < len(categories):
            raise StateError(f"{entries.where}.categories must be distinct texts")
        if len(categories) > MAX_CATEGORIES or not -(2**62) < feature.get("origin", 0) < 2**62:
            raise StateError(f"{entries.where} is beyond what this version writes")
    target = fields.raw("target")
    if target is not None:
        entries = Fields(target, "schema.target")
        known = all(entries.text(name) is not None for name in _TARGET_FIELDS) and len(target) == len(_TARGET_FIELDS)
        if not known or target["kind"] not in get_args(TargetKind) or target["hint"] not in get_args(Task):
            raise StateError("schema.target is not a target that this version writes")
    return features, target


def _mark(
    fault: Fault, raw: RawColumn, offsets: NDArray[np.int64], bad: NDArray[np.bool_], rejects: list[Reject]
) -> None:
    """Reject the rows with a fault; a row is rejected once, for its first fault."""
    for ix in np.flatnonzero(fault.bad & ~bad):
        bad[ix] = True
        value = "" if fault.reason == MISSING_TARGET else f" ({_shown(raw, int(ix))})"
        rejects.append(Reject(int(offsets[ix]), fault.reason, fault.detail + value, fault.remedy))


def _shown(raw: RawColumn, ix: int) -> str:
    value = raw[ix].item() if isinstance(raw, np.ndarray) else raw[ix].as_py()
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."


def _unusable(name: str, error: UnusableColumnError, where: str) -> SourceError:
    return SourceError(
        f"{where}: column {name!r} has type {error}, which cannot become an input; drop it, or turn it into numbers",
        file=where,
    )

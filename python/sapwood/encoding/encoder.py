"""The encoder: the only way in which values become inputs of a model, decided once from the first rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sapwood._state import Fields, StateError
from sapwood.encoding.columns import UnusableColumnError
from sapwood.encoding.features import (
    LARGEST_MAGNITUDE,
    MAX_CATEGORIES,
    Boolean,
    Category,
    Feature,
    NotPlainError,
    Number,
    restore,
)
from sapwood.encoding.probe import ColumnKind, Probe, make_feature, probe
from sapwood.encoding.target import Fault
from sapwood.reading.chunk import RawColumn

Floats = NDArray[np.float64]

SCHEMA_ROWS = 1000
"""How many of the first rows determine the kind of each column, however they arrive."""


class BadColumnError(Exception):
    """A column cannot be used. `column` is its name, `type` that of its values, `kind` what they are expected to be."""

    def __init__(self, column: str, type_name: str, kind: str | None = None) -> None:
        super().__init__(column, type_name, kind)
        self.column, self.type, self.kind = column, type_name, kind


class ColumnFault(NamedTuple):
    """The name of a column, and why some of its values cannot be used."""

    column: str
    fault: Fault


class Parsed(NamedTuple):
    """The parsed columns of some rows, ready to be written, and the faults among them."""

    values: list[NDArray[Any]]
    faults: list[ColumnFault]


class Encoder:
    """Turns the columns of tables into inputs.

    The kind of each column is decided by `infer`, from the first rows. Afterwards the encoder changes in one way only:
    categories that are learned join those known. Everything it knows is in `state`.

    Parameters
    ----------
    features : sequence of Feature
        One per column.

    Examples
    --------
    >>> import numpy as np
    >>> from sapwood.reading.readers.memory import raw_column
    >>> first = {"size": np.array([1.0, 2.0]), "colour": raw_column(["red", "blue"])}
    >>> encoder = Encoder.infer([first], ["size", "colour"])
    >>> encoder.encode(first, grow=True)
    array([[1., 0.],
           [2., 1.]])
    >>> encoder.encode_one({"colour": "blue", "size": None})
    array([[nan,  1.]])
    """

    def __init__(self, features: Sequence[Feature]) -> None:
        self.features = list(features)
        self.columns = [feature.name for feature in features]
        self.input_names = [name for feature in features for name in feature.outputs]

    @classmethod
    def infer(
        cls,
        first: Sequence[Mapping[str, RawColumn]],
        names: Sequence[str],
        given: Mapping[str, ColumnKind] | None = None,
    ) -> Encoder:
        """Decide the kind of each column by its first rows, in pieces, unless it is `given`. Raises BadColumnError."""
        features: list[Feature] = []
        for name in names:
            pieces = [piece[name] for piece in first]
            try:
                probed = Probe(pieces, given[name], True) if given and name in given else probe(pieces)
                features.append(make_feature(name, probed))
            except UnusableColumnError as error:
                raise BadColumnError(name, str(error)) from error
        return cls(features)

    @property
    def n_inputs(self) -> int:
        """Number of inputs: one per column, except that a timestamp becomes several."""
        return len(self.input_names)

    @property
    def is_plain(self) -> bool:
        """Whether all columns are numbers or booleans, so that arrays can stand for tables."""
        return all(isinstance(feature, Number) for feature in self.features)

    @property
    def categorical_inputs(self) -> list[int]:
        """The positions of the inputs that hold codes of categories."""
        kinds = [feature.kind for feature in self.features for _ in feature.outputs]
        return [ix for ix, kind in enumerate(kinds) if kind == Category.kind]

    # ---- encoding ----

    def parse(self, columns: Mapping[str, RawColumn]) -> Parsed:
        """Parse the columns of some rows. Raises BadColumnError if one has a type that it never had before."""
        values, faults = [], []
        for feature in self.features:
            raw = columns[feature.name]
            try:
                parsed = feature.parse(raw)
            except UnusableColumnError as error:
                raise BadColumnError(feature.name, str(error), feature.kind) from error
            values.append(parsed.values)
            if parsed.bad is not None:
                detail = f"column {feature.name!r} is not {feature.expected}"
                remedy = f"correct it, or declare the column categorical or to be dropped ({feature.name!r})"
                reason = f"not {feature.expected.split(' (')[0]}"
                faults.append(ColumnFault(feature.name, Fault(parsed.bad, reason, detail, remedy)))
            if isinstance(feature, Number):
                huge = np.abs(parsed.values) > LARGEST_MAGNITUDE
                if huge.any():
                    detail = f"column {feature.name!r} is infinite or beyond 1e100"
                    remedy = "correct it, leave it empty if it is not known, or rescale"
                    faults.append(ColumnFault(feature.name, Fault(huge, "infinite input", detail, remedy)))
        return Parsed(values, faults)

    def write(self, parsed: Parsed, keep: Any, n_rows: int, *, grow: bool) -> Floats:
        """Return the inputs of the `n_rows` rows selected by `keep`. Only if told to `grow`, categories are added."""
        x = np.empty((n_rows, self.n_inputs), dtype=np.float64)
        at = 0
        for feature, values in zip(self.features, parsed.values, strict=True):
            width = len(feature.outputs)
            feature.write(values[keep], x[:, at : at + width], grow=grow)
            at += width
        return x

    def encode(self, columns: Mapping[str, RawColumn], *, grow: bool) -> Floats:
        """Return the inputs of rows whose faults, if there are any, the caller has found by `parse`."""
        parsed = self.parse(columns)
        return self.write(parsed, slice(None), len(parsed.values[0]), grow=grow)

    def encode_one(self, row: Mapping[str, Any], *, grow: bool = False) -> Floats:
        """Return the inputs of a single row, fast. Raises NotPlainError if it takes `parse` to read it."""
        x = np.empty((1, self.n_inputs), dtype=np.float64)
        at = 0
        for feature in self.features:
            width = len(feature.outputs)
            feature.write_one(row[feature.name], x[:, at : at + width], grow=grow)
            at += width
        return x

    # ---- categories ----

    def mark(self) -> list[int]:
        """Return how many categories each column has, for `rewind`."""
        return [len(feature.categories) if isinstance(feature, Category) else 0 for feature in self.features]

    def rewind(self, mark: list[int]) -> None:
        """Drop the categories added since `mark`."""
        for feature, n_categories in zip(self.features, mark, strict=True):
            if isinstance(feature, Category):
                feature.forget_after(n_categories)

    # ---- state ----

    def notes(self) -> list[str]:
        """Return remarks for the user on the values so far."""
        return [note for feature in self.features for note in feature.notes()]

    def state(self) -> list[dict[str, Any]]:
        """Return the state as JSON values."""
        return [feature.state() for feature in self.features]

    @classmethod
    def restore(cls, state: Any, where: str = "encoding") -> Encoder:
        """Restore an encoder from its `state`, which may come from a file that others could change."""
        return cls([restore(feature) for feature in _checked(Fields({where: state}, "state").items(where), where)])


_FEATURE_FIELDS: dict[str, tuple[tuple[str, type], ...]] = {
    Number.kind: (("rounded", bool),),
    Boolean.kind: (("rounded", bool),),
    Category.kind: (("categories", list), ("overflowed", bool), ("doubt", str)),
    "timestamp": (("origin", int), ("has_hour", bool)),
    "time": (),
}


def _checked(features: list[Any], where: str) -> list[dict[str, Any]]:
    """Return the entries of saved features; raise StateError if this version could not have written them."""
    for i, feature in enumerate(features):
        entries = Fields(feature, f"{where}[{i}]")
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
    names = [feature["name"] for feature in features]
    if not names or len(set(names)) < len(names):
        raise StateError(f"{where} must have columns of distinct names")
    return features


__all__ = ["BadColumnError", "ColumnFault", "Encoder", "NotPlainError", "Parsed"]

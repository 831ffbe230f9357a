"""The target column: its type, the likely task, and which of its values cannot be used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sapwood._options import Task
from sapwood.encoding import columns
from sapwood.encoding.columns import UnusableColumnError
from sapwood.encoding.features import LARGEST_MAGNITUDE
from sapwood.encoding.probe import Probe, not_numbers, probe
from sapwood.reading.chunk import RawColumn
from sapwood.reading.errors import SourceError

TargetKind = Literal["number", "indicator", "integer", "boolean", "label"]

MISSING_TARGET = "missing target"
"""The fault of a row without a target, as bad rows are counted by."""

MAX_GUESSED_CLASSES = 32
"""More distinct integers than this among the first rows are taken for counts, not classes."""


@dataclass(frozen=True)
class Fault:
    """Why the values of some rows cannot be used: the rows, the kind of fault, a description of it, and the remedy."""

    bad: NDArray[np.bool_]
    reason: str
    detail: str
    remedy: str


@dataclass(frozen=True)
class Target:
    """How to read the target. `kind` determines the dtype: float64 (number, indicator), int64, bool or text."""

    name: str
    kind: TargetKind
    hint: Task
    doubt: str = ""

    @classmethod
    def infer(cls, name: str, pieces: list[RawColumn], task: Task | None, categorical: bool, where: str) -> Target:
        """Infer the target from its first rows; `task` and `categorical` are what the user specified."""
        try:
            probed = Probe(pieces, "category", True) if categorical else probe(pieces)
        except UnusableColumnError as error:
            raise SourceError(
                f"{where}: the target {name!r} has type {error}; it must hold numbers or labels", file=where
            ) from error
        if probed.kind in ("timestamp", "time") and not probed.from_text:
            raise SourceError(
                f"{where}: the target {name!r} holds dates or times; turn it into a number, such as a number of days",
                file=where,
            )
        kind: TargetKind = probed.kind if probed.kind in ("number", "boolean") else "label"
        if kind == "label" and task == "regression":
            example = next((string for piece in pieces for string in columns.texts(piece).distinct), "")
            if probed.doubt:
                _, example = not_numbers(pieces)
            raise SourceError(
                f"{where}: the target {name!r} holds text such as {example!r}, which has no mean to predict; "
                "choose another target, or task='classification'",
                file=where,
            )
        if kind != "number":
            return cls(name, "indicator" if task == "regression" else kind, "classification", probed.doubt)
        values = np.concatenate([columns.numbers(piece).values for piece in pieces])
        if task == "classification" and _all_integers(values):
            kind = "integer"
        return cls(name, kind, guess_task(values))

    def parse(self, raw: RawColumn) -> tuple[NDArray[Any], list[Fault]]:
        """Return the targets of rows, and the faults among them."""
        if self.kind == "label":
            found = columns.texts(raw)
            labels = np.array([*found.distinct, ""])[found.ix]
            return labels, _faults((found.ix < 0, *self._missing()))
        is_boolean = self.kind in ("boolean", "indicator")
        parsed = columns.booleans(raw) if is_boolean else columns.numbers(raw)
        values = parsed.values
        unparsed = np.zeros(len(values), dtype=bool) if parsed.bad is None else parsed.bad
        what = "true or false" if is_boolean else "a number"
        faults = [
            (unparsed, "unreadable target", f"the target {self.name!r} is not {what}", "correct it"),
            (np.isnan(values) & ~unparsed, *self._missing()),
            (
                np.abs(values) > LARGEST_MAGNITUDE,
                "infinite target",
                f"the target {self.name!r} is infinite or beyond 1e100",
                "correct or rescale it",
            ),
        ]
        if self.kind == "integer":
            fractional = np.isfinite(values) & (values != np.round(values))
            detail = f"the target {self.name!r} is not a whole number, and the classes so far are"
            faults.append((fractional, "fractional class", detail, "correct it, or choose task='regression'"))
        return self._typed(values), _faults(*faults)

    def _typed(self, values: NDArray[np.float64]) -> NDArray[Any]:
        if self.kind in ("number", "indicator"):
            return values
        usable = np.where(np.abs(values) < columns.FIRST_INEXACT_INTEGER, values, 0.0)
        return usable.astype(np.int64 if self.kind == "integer" else np.bool_)

    def _missing(self) -> tuple[str, str, str]:
        return MISSING_TARGET, f"the target {self.name!r} is missing", "fill it in"

    def state(self) -> dict[str, Any]:
        """Return the state as JSON values."""
        return {"name": self.name, "kind": self.kind, "hint": self.hint, "doubt": self.doubt}

    def notes(self) -> list[str]:
        """Return remarks for the user on the values so far."""
        return [f"the target {self.name!r} {self.doubt}"] if self.doubt else []


def guess_task(values: NDArray[np.float64]) -> Task:
    """Guess classification if all known values are integers with few distinct ones, each ten times on average.

    Few means at most 32; one or two distinct values need no repetition. Anything else is regression.

    Examples
    --------
    >>> import numpy as np
    >>> guess_task(np.array([0.0, 1.0, 1.0])), guess_task(np.array([5545.0, 4516.0, 4767.0]))
    ('classification', 'regression')
    """
    known = values[np.isfinite(values)]
    if not len(known) or not _all_integers(known):
        return "regression"
    n_distinct = len(np.unique(known))
    few = n_distinct <= 2 or n_distinct <= min(MAX_GUESSED_CLASSES, len(known) / 10)
    return "classification" if few else "regression"


def _all_integers(values: NDArray[np.float64]) -> bool:
    known = values[np.isfinite(values)]
    return bool(np.all(known == np.round(known)))


def _faults(*faults: tuple[NDArray[np.bool_], str, str, str]) -> list[Fault]:
    return [Fault(*fault) for fault in faults if fault[0].any()]

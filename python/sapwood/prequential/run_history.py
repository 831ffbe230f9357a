"""The history of a run: scores, beliefs of the bank, and where the active pool lay."""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from sapwood import _views
from sapwood._base import DynamicTreeEstimator
from sapwood._fitted import native
from sapwood._state import Fields, StateError
from sapwood.prequential.result import MODEL, Beliefs, PoolHistory
from sapwood.prequential.scoring import Scoring

Floats = NDArray[np.float64]
Record = TypeVar("Record")

_MAX_SCORES = 512
_MAX_POOLS = 64  # each is a column of a plot
_PLACES = 40  # observations of a pool to keep, along each input


class Thinned(Generic[Record]):
    """Records at multiples of a spacing that doubles whenever there are too many."""

    def __init__(self, spacing: int, capacity: int) -> None:
        self.spacing = spacing
        self.capacity = capacity
        self.rows: list[int] = []
        self.records: list[Record] = []

    def is_due(self, row: int) -> bool:
        """Whether to add a record after `row` rows."""
        return row % self.spacing == 0

    def add(self, row: int, record: Record) -> None:
        """Add a record; beyond the capacity, drop every other one."""
        self.rows.append(row)
        self.records.append(record)
        if len(self.rows) > self.capacity:
            self.spacing *= 2
            kept = [i for i, row in enumerate(self.rows) if self.is_due(row)]
            self.rows = [self.rows[i] for i in kept]
            self.records = [self.records[i] for i in kept]

    def ends_at(self, row: int) -> bool:
        """Whether the last record is that of `row`."""
        return self.rows[-1:] == [row]

    def with_last(self, row: int, record: Record) -> Thinned[Record]:
        """Return a copy with one more record, at any row."""
        longer: Thinned[Record] = Thinned(self.spacing, self.capacity)
        longer.rows, longer.records = [*self.rows, row], [*self.records, record]
        return longer

    def state(self) -> dict[str, Any]:
        """Return spacing and rows for a checkpoint; the records are for their owner to add."""
        return {"spacing": self.spacing, "rows": np.array(self.rows, dtype=np.int64)}

    def restore(self, fields: Fields, records: list[Record]) -> None:
        """Continue from what `state` returned."""
        rows = fields.integers("rows", (len(records),), minimum=0)
        spacing = fields.integer("spacing", 1)
        doublings, rest = divmod(spacing, self.spacing)
        if len(rows) > self.capacity or (np.diff(rows) <= 0).any() or rest or doublings & (doublings - 1):
            raise StateError(f"{fields.where} has rows or a spacing that no run records")
        self.spacing, self.rows, self.records = spacing, rows.tolist(), records


class PoolSummary(NamedTuple):
    """A pool in brief: its size, and where its observations lie along each input, of shape (`_PLACES`, p)."""

    n_active: int
    places: Floats


class RunHistory:
    """Scores, beliefs and pools recorded during a run."""

    def __init__(self, spacing: int) -> None:
        self._scores: Thinned[Floats] = Thinned(spacing, _MAX_SCORES)
        self._beliefs: Thinned[Floats] = Thinned(spacing, _MAX_SCORES)
        self._pools: Thinned[PoolSummary] = Thinned(spacing, _MAX_POOLS)

    def next_row(self, row: int) -> int:
        """Return the number of rows after which the next record is due."""
        return (row // self._scores.spacing + 1) * self._scores.spacing

    def record(self, row: int, scoring: Scoring, model: Any) -> None:
        """Record the state after `row` rows, where that is due."""
        if self._scores.is_due(row):
            self._scores.add(row, scoring.values())
        if isinstance(model, DynamicTreeEstimator):
            if self._beliefs.is_due(row):
                self._beliefs.add(row, _beliefs(model))
            if self._pools.is_due(row):
                self._pools.add(row, _pool(model))

    def with_end(self, row: int, scoring: Scoring, model: Any) -> RunHistory:
        """Return a copy that ends with the state after `row` rows, the last of the run."""
        last = RunHistory(self._scores.spacing)
        last._scores, last._beliefs, last._pools = self._scores, self._beliefs, self._pools
        if row and not self._scores.ends_at(row):
            last._scores = self._scores.with_last(row, scoring.values())
        if row and isinstance(model, DynamicTreeEstimator):
            if not self._beliefs.ends_at(row):
                last._beliefs = self._beliefs.with_last(row, _beliefs(model))
            if not self._pools.ends_at(row):
                last._pools = self._pools.with_last(row, _pool(model))
        return last

    def state(self) -> dict[str, Any]:
        """Return the state for a checkpoint, as plain data."""
        pools = self._pools.records
        return {
            "scores": {**self._scores.state(), "records": _stack(self._scores.records)},
            "beliefs": {**self._beliefs.state(), "records": _stack(self._beliefs.records)},
            "pools": {
                **self._pools.state(),
                "n_active": np.array([pool.n_active for pool in pools], dtype=np.int64),
                "places": _stack([pool.places for pool in pools]),
            },
        }

    def restore(self, fields: Fields, scoring: Scoring, model: Any) -> None:
        """Continue from what `state` returned; `model` is as it was then."""
        scores, beliefs, pools = (fields.part(name) for name in ("scores", "beliefs", "pools"))
        self._scores.restore(scores, _unstack(scores, "records", scoring.values().shape))
        self._beliefs.restore(beliefs, _unstack(beliefs, "records", (5 + native(model).n_members,)))
        places = _unstack(pools, "places", (_PLACES, native(model).n_inputs))
        n_active = pools.integers("n_active", (len(places),), minimum=0).tolist()
        self._pools.restore(pools, [PoolSummary(n, at) for n, at in zip(n_active, places, strict=True)])

    def scores(self, scoring: Scoring) -> dict[str, NDArray[Any]]:
        """Return the tidy table of scores."""
        rows = self._scores.rows
        forecasters, metrics = (MODEL, *scoring.baselines), scoring.metrics
        per_row = len(forecasters) * len(metrics)
        values = np.array(self._scores.records).reshape(len(rows), len(forecasters), len(metrics), 2)
        return {
            "row": np.repeat(np.array(rows, dtype=np.int64), per_row),
            "forecaster": np.tile(np.repeat(np.array(forecasters), len(metrics)), len(rows)),
            "metric": np.tile(np.array(metrics), len(rows) * len(forecasters)),
            "value": values[..., 0].ravel(),
            "window": values[..., 1].ravel(),
        }

    def beliefs(self, model: Any) -> Beliefs:
        """Return the beliefs of the bank over time."""
        members = _members(model) if isinstance(model, DynamicTreeEstimator) else ()
        rows = np.array(self._beliefs.rows, dtype=np.int64)
        table = np.array(self._beliefs.records).reshape(len(rows), 5 + len(members))
        mean, low, high, height, leaves = table[:, :5].T
        return Beliefs(rows, members, table[:, 5:], mean, low, high, height, leaves)

    def pool(self, n_inputs: int) -> PoolHistory:
        """Return the active pool over time."""
        rows, pools = self._pools.rows, self._pools.records
        return PoolHistory(
            np.array(rows, dtype=np.int64),
            np.array([pool.n_active for pool in pools], dtype=np.int64),
            np.array([pool.places for pool in pools]).reshape(len(rows), _PLACES, n_inputs),
        )


def _stack(records: list[Floats]) -> Floats:
    return np.stack(records) if records else np.empty(0)


def _unstack(fields: Fields, name: str, shape: tuple[int, ...]) -> list[Floats]:
    """Return the records that `_stack` joined, each of the given shape."""
    stacked: Any = fields.raw(name)
    if isinstance(stacked, np.ndarray) and stacked.shape == (0,):
        return []
    return list(fields.floats(name, (None, *shape)))


def _members(model: DynamicTreeEstimator) -> tuple[str, ...]:
    core = native(model)
    return tuple(_views.in_words(core.member_config(ix)) for ix in range(core.n_members))


def _beliefs(model: DynamicTreeEstimator) -> Floats:
    """Return forgetting (mean, 5 %, 95 %), height, leaves, and then the weights of the bank."""
    weights = model.bank_weights_
    posterior = model.forgetting_
    reached = np.cumsum(posterior.weights)
    low, high = (posterior.values[min(int(np.searchsorted(reached, q)), len(reached) - 1)] for q in (0.05, 0.95))
    trees: _views.TreeStats = model.tree_stats()
    n_particles = np.bincount(trees.member, minlength=len(weights))
    of_particle = (_views.cloud_weights(native(model)) / np.maximum(n_particles, 1))[trees.member]
    shape = (of_particle @ trees.height, of_particle @ trees.n_leaves)
    return np.array([posterior.values @ posterior.weights, low, high, *shape, *weights])


def _pool(model: DynamicTreeEstimator) -> PoolSummary:
    x = _views.active_pool(native(model)).X
    return PoolSummary(len(x), np.stack([_places(column) for column in x.T], axis=1))


def _places(column: Floats) -> Floats:
    """Return at most `_PLACES` of the values, sorted and evenly spaced by rank, padded with NaN."""
    known = np.sort(column[~np.isnan(column)])
    at = np.linspace(0, len(known) - 1, num=min(_PLACES, len(known)))
    return np.pad(known[np.rint(at).astype(np.intp)], (0, _PLACES - len(at)), constant_values=np.nan)

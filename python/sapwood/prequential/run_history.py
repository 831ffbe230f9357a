"""Looks at a run along the way: its scores, what the bank believes, and where the active pool lies."""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from sapwood import _views
from sapwood._base import DynamicTreeEstimator
from sapwood.prequential.result import MODEL, Beliefs, PoolHistory
from sapwood.prequential.scoring import Scoring

Floats = NDArray[np.float64]
Record = TypeVar("Record")

_MOST_LOOKS = 512
_MOST_POOLS = 64  # a column of a picture each
_PLACES = 40  # observations told of a pool, along each input


class Thinned(Generic[Record]):
    """Records at multiples of a spacing that doubles, so that there are never many of them."""

    def __init__(self, spacing: int, most: int) -> None:
        self.spacing = spacing
        self.most = most
        self.rows: list[int] = []
        self.records: list[Record] = []

    def is_due(self, row: int) -> bool:
        """Whether a record belongs here after `row` rows."""
        return row % self.spacing == 0

    def add(self, row: int, record: Record) -> None:
        """Keep a record; when there are too many, every other one goes."""
        self.rows.append(row)
        self.records.append(record)
        if len(self.rows) > self.most:
            self.spacing *= 2
            kept = [i for i, row in enumerate(self.rows) if self.is_due(row)]
            self.rows = [self.rows[i] for i in kept]
            self.records = [self.records[i] for i in kept]

    def with_last(self, row: int, record: Record) -> Thinned[Record]:
        """The same records and one more, at whatever row."""
        longer: Thinned[Record] = Thinned(self.spacing, self.most)
        longer.rows, longer.records = [*self.rows, row], [*self.records, record]
        return longer


class Pool(NamedTuple):
    """A pool in brief: its size, and where its observations lie along each input, of shape (`_PLACES`, p)."""

    n_active: int
    places: Floats


class RunHistory:
    """What was seen of a run so far. It can be pickled, for a checkpoint."""

    def __init__(self, spacing: int) -> None:
        self._scores: Thinned[Floats] = Thinned(spacing, _MOST_LOOKS)
        self._beliefs: Thinned[Floats] = Thinned(spacing, _MOST_LOOKS)
        self._pools: Thinned[Pool] = Thinned(spacing, _MOST_POOLS)

    def next_row(self, row: int) -> int:
        """The number of rows after which the next look is due."""
        return (row // self._scores.spacing + 1) * self._scores.spacing

    def take(self, row: int, scoring: Scoring, model: Any) -> None:
        """Look now, after `row` rows, if a look is due."""
        if self._scores.is_due(row):
            self._scores.add(row, scoring.values())
        if isinstance(model, DynamicTreeEstimator):
            if self._beliefs.is_due(row):
                self._beliefs.add(row, _beliefs(model))
            if self._pools.is_due(row):
                self._pools.add(row, _pool(model))

    def finished(self, row: int, scoring: Scoring, model: Any) -> RunHistory:
        """The same looks and one at the very end, where there is none yet."""
        last = RunHistory(self._scores.spacing)
        last._scores, last._beliefs, last._pools = self._scores, self._beliefs, self._pools
        if row and self._scores.rows[-1:] != [row]:
            last._scores = self._scores.with_last(row, scoring.values())
        if row and isinstance(model, DynamicTreeEstimator):
            if self._beliefs.rows[-1:] != [row]:
                last._beliefs = self._beliefs.with_last(row, _beliefs(model))
            if self._pools.rows[-1:] != [row]:
                last._pools = self._pools.with_last(row, _pool(model))
        return last

    def table(self, scoring: Scoring) -> dict[str, NDArray[Any]]:
        """The tidy table of scores."""
        rows = self._scores.rows
        forecasters, metrics = (MODEL, *scoring.baselines), scoring.metrics
        each = len(forecasters) * len(metrics)
        values = np.array(self._scores.records).reshape(len(rows), len(forecasters), len(metrics), 2)
        return {
            "row": np.repeat(np.array(rows, dtype=np.int64), each),
            "forecaster": np.tile(np.repeat(np.array(forecasters), len(metrics)), len(rows)),
            "metric": np.tile(np.array(metrics), len(rows) * len(forecasters)),
            "value": values[..., 0].ravel(),
            "window": values[..., 1].ravel(),
        }

    def beliefs(self, model: Any) -> Beliefs:
        """What the bank believed."""
        members = _members(model) if isinstance(model, DynamicTreeEstimator) else ()
        rows = np.array(self._beliefs.rows, dtype=np.int64)
        table = np.array(self._beliefs.records).reshape(len(rows), 5 + len(members))
        mean, low, high, height, leaves = table[:, :5].T
        return Beliefs(rows, members, table[:, 5:], mean, low, high, height, leaves)

    def pool(self, n_inputs: int) -> PoolHistory:
        """Where the active pool lay."""
        rows, pools = self._pools.rows, self._pools.records
        return PoolHistory(
            np.array(rows, dtype=np.int64),
            np.array([pool.n_active for pool in pools], dtype=np.int64),
            np.array([pool.places for pool in pools]).reshape(len(rows), _PLACES, n_inputs),
        )


def _members(model: DynamicTreeEstimator) -> tuple[str, ...]:
    core = model._started()
    return tuple(_views.in_words(core.member_config(ix)) for ix in range(core.n_members))


def _beliefs(model: DynamicTreeEstimator) -> Floats:
    """Forgetting (mean, 5 %, 95 %), height, leaves, and then the weights of the bank."""
    weights = model.bank_weights_
    posterior = model.forgetting_
    reached = np.cumsum(posterior.weights)
    low, high = (posterior.values[min(int(np.searchsorted(reached, q)), len(reached) - 1)] for q in (0.05, 0.95))
    trees: _views.TreeStats = model.tree_stats()
    n_particles = np.bincount(trees.member, minlength=len(weights))
    of_particle = (_views.cloud_weights(model._started()) / np.maximum(n_particles, 1))[trees.member]
    shape = (of_particle @ trees.height, of_particle @ trees.n_leaves)
    return np.array([posterior.values @ posterior.weights, low, high, *shape, *weights])


def _pool(model: DynamicTreeEstimator) -> Pool:
    x = _views.active_pool(model._started()).X
    return Pool(len(x), np.stack([_places(column) for column in x.T], axis=1))


def _places(column: Floats) -> Floats:
    """At most `_PLACES` of the values, in order and evenly spaced among them, and NaN to fill up."""
    known = np.sort(column[~np.isnan(column)])
    at = np.linspace(0, len(known) - 1, num=min(_PLACES, len(known)))
    return np.pad(known[np.rint(at).astype(np.intp)], (0, _PLACES - len(at)), constant_values=np.nan)

"""Scores of a model and of the baselines beside it, and looks at them along the way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood import _views
from sapwood._base import DynamicTreeEstimator
from sapwood.metrics import ClassForecast, Ece, PitHistogram, RegressionForecast, Scoreboard
from sapwood.metrics.baselines import (
    ClassBaseline,
    Majority,
    NoChange,
    NoChangeClass,
    RegressionBaseline,
    RunningMean,
)
from sapwood.stream.result import MODEL, Beliefs
from sapwood.stream.target import Task

Floats = NDArray[np.float64]
Forecast = RegressionForecast | ClassForecast

_PIT_BINS = 100
_MOST_LOOKS = 512


class Scoring:
    """Metrics of the model and of the baselines, on exactly the same rows. It can be pickled, for a checkpoint."""

    def __init__(self, task: Task, metrics: tuple[str, ...], window: int, n_classes: int) -> None:
        self.task: Task = task
        self.metrics = metrics
        baselines: dict[str, RegressionBaseline] | dict[str, ClassBaseline]
        if task == "regression":
            baselines = {"no_change": NoChange(), "running_mean": RunningMean()}
        else:
            baselines = {"no_change": NoChangeClass(n_classes), "majority": Majority(n_classes)}
        self._baselines = baselines
        self._boards = {name: Scoreboard(metrics, window) for name in (MODEL, *baselines)}
        self._pit = PitHistogram(_PIT_BINS) if task == "regression" else None
        self._reliability = Ece() if task == "classification" else None

    @property
    def baselines(self) -> tuple[str, ...]:
        """Names of the baselines."""
        return tuple(self._baselines)

    @property
    def n_scored(self) -> int:
        """Rows scored so far."""
        return self._boards[MODEL].n_rows

    def forecast_then_learn(self, said: Forecast, y_scored: Floats, y_learned: Floats) -> None:
        """Score some rows (NaN: not to be scored), while the baselines learn as the model did."""
        self._score(MODEL, said, y_scored)
        for name, baseline in self._baselines.items():
            self._score(name, baseline.forecast_then_learn(y_scored, y_learned), y_scored)

    def learn(self, y: Floats) -> None:
        """Let the baselines learn without a forecast."""
        for baseline in self._baselines.values():
            baseline.forecast_then_learn(np.full(len(y), np.nan), y)

    def _score(self, name: str, said: Forecast, y: Floats) -> None:
        known = _beside(said, y).known()
        if not len(known):
            return
        self._boards[name].update(known)
        if name == MODEL and self._pit is not None and isinstance(known, RegressionForecast):
            self._pit.update(known)
        if name == MODEL and self._reliability is not None and isinstance(known, ClassForecast):
            self._reliability.update(known)

    def values(self) -> Floats:
        """Every score now, of shape (forecasters, metrics, 2): over all rows, and over the window."""
        return np.array(
            [[*zip(b.overall().values(), b.rolling().values(), strict=True)] for b in self._boards.values()]
        ).reshape(len(self._boards), len(self.metrics), 2)

    def recent(self) -> dict[str, dict[str, float]]:
        """The scores over the window, by forecaster and metric."""
        return {name: board.rolling() for name, board in self._boards.items()}

    def pit_counts(self) -> Floats | None:
        """Scored rows by the value of the predictive distribution function at what came."""
        if self._pit is None:
            return None
        return (
            np.zeros(_PIT_BINS) if not self._pit.n_rows else np.rint(self._pit.value() * self._pit.n_rows / _PIT_BINS)
        )

    def reliability(self) -> Floats | None:
        """Mean confidence, accuracy and rows, by bins of confidence."""
        return None if self._reliability is None else np.column_stack(self._reliability.reliability())


def _beside(said: Forecast, y: Floats) -> Forecast:
    """The same forecasts beside other targets: NaN in place of those that are not to be scored."""
    if isinstance(said, RegressionForecast):
        return replace(said, y=y)
    return ClassForecast(y, said.proba, said.ln_density, said.label)


class Looks:
    """Scores and beliefs taken along the way, at multiples of a spacing that doubles so that there are never many."""

    def __init__(self, spacing: int) -> None:
        self.spacing = spacing
        self._rows: list[int] = []
        self._values: list[Floats] = []
        self._beliefs: list[Floats] = []

    def next_row(self, row: int) -> int:
        """The number of rows after which the next look is due."""
        return (row // self.spacing + 1) * self.spacing

    def take(self, row: int, scoring: Scoring, model: Any) -> None:
        """Look now, after `row` rows, if a look is due."""
        if row % self.spacing:
            return
        self._note(row, scoring, model)
        if len(self._rows) > _MOST_LOOKS:
            self.spacing *= 2
            keep = [i for i, row in enumerate(self._rows) if row % self.spacing == 0]
            self._rows = [self._rows[i] for i in keep]
            self._values = [self._values[i] for i in keep]
            self._beliefs = [self._beliefs[i] for i in keep]

    def _note(self, row: int, scoring: Scoring, model: Any) -> None:
        self._rows.append(row)
        self._values.append(scoring.values())
        if isinstance(model, DynamicTreeEstimator):
            self._beliefs.append(_beliefs(model))

    def finished(self, row: int, scoring: Scoring, model: Any) -> Looks:
        """The same looks and one at the very end, where there is none yet."""
        last = Looks(self.spacing)
        last._rows, last._values, last._beliefs = [*self._rows], [*self._values], [*self._beliefs]
        if row and (not last._rows or last._rows[-1] != row):
            last._note(row, scoring, model)
        return last

    def table(self, scoring: Scoring) -> dict[str, NDArray[Any]]:
        """The tidy table of scores."""
        forecasters, metrics = (MODEL, *scoring.baselines), scoring.metrics
        each = len(forecasters) * len(metrics)
        shape = (len(self._rows), len(forecasters), len(metrics), 2)
        values = np.array(self._values).reshape(shape)
        return {
            "row": np.repeat(np.array(self._rows, dtype=np.int64), each),
            "forecaster": np.tile(np.repeat(np.array(forecasters), len(metrics)), len(self._rows)),
            "metric": np.tile(np.array(metrics), len(self._rows) * len(forecasters)),
            "value": values[..., 0].ravel(),
            "window": values[..., 1].ravel(),
        }

    def beliefs(self, model: Any) -> Beliefs:
        """What the bank believed."""
        members = _members(model) if isinstance(model, DynamicTreeEstimator) else ()
        n_looks = len(self._rows) if members else 0
        table = np.array(self._beliefs).reshape(n_looks, 5 + len(members))
        mean, low, high, height, leaves = table[:, :5].T
        rows = np.array(self._rows[:n_looks], dtype=np.int64)
        return Beliefs(rows, members, table[:, 5:], mean, low, high, height, leaves)


def _members(model: DynamicTreeEstimator) -> tuple[str, ...]:
    core = model._started()
    return tuple(_in_words(core.member_config(ix)) for ix in range(core.n_members))


def _in_words(config: Any) -> str:
    pool = "every row" if config.max_active is None else f"pool {config.max_active}"
    lags = {0: "", 1: ", 1 lag"}.get(config.lags, f", {config.lags} lags")
    return f"{config.leaf} leaves, {pool}{lags}"


def _beliefs(model: DynamicTreeEstimator) -> Floats:
    """Forgetting (mean, 5 %, 95 %), height, leaves, and then the weights of the bank."""
    weights = model.bank_weights_
    posterior = model.forgetting_
    reached = np.cumsum(posterior.weights)
    low, high = (posterior.values[min(int(np.searchsorted(reached, q)), len(reached) - 1)] for q in (0.05, 0.95))
    trees: _views.TreeStats = model.tree_stats()
    of_particle = (weights / np.bincount(trees.member))[trees.member]
    shape = (of_particle @ trees.height, of_particle @ trees.n_leaves)
    return np.array([posterior.values @ posterior.weights, low, high, *shape, *weights])

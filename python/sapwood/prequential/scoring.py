"""Scores of a model and of the baselines beside it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sapwood.metrics import ClassForecast, Ece, PitHistogram, RegressionForecast, Scoreboard
from sapwood.metrics.baselines import (
    ClassBaseline,
    Majority,
    NoChange,
    NoChangeClass,
    RegressionBaseline,
    RunningMean,
)
from sapwood.prequential.result import MODEL
from sapwood.reading.encoding.target import Task

Floats = NDArray[np.float64]
Forecast = RegressionForecast | ClassForecast

_PIT_BINS = 100


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

"""Scores of a model and of the baselines it is compared with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood._options import Task
from sapwood._state import Fields
from sapwood.metrics import ClassForecast, Ece, PitHistogram, RegressionForecast, Scoreboard
from sapwood.metrics.naive import ClassBaseline, RegressionBaseline, class_baselines, regression_baselines
from sapwood.prequential.result import MODEL

Floats = NDArray[np.float64]
Forecast = RegressionForecast | ClassForecast

_PIT_BINS = 100


class Scoring:
    """Metrics of the model and of the baselines, on exactly the same rows."""

    def __init__(self, task: Task, metrics: tuple[str, ...], window: int, n_classes: int) -> None:
        self.task: Task = task
        self.metrics = metrics
        baselines: dict[str, RegressionBaseline] | dict[str, ClassBaseline]
        baselines = regression_baselines() if task == "regression" else class_baselines(n_classes)
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
        """Number of rows scored so far."""
        return self._boards[MODEL].n_rows

    def forecast_then_learn(self, forecast: Forecast, y_scored: Floats, y_learned: Floats) -> None:
        """Score rows (except where `y_scored` is NaN), while the baselines learn the same rows as the model."""
        self._score(MODEL, forecast, y_scored)
        for name, baseline in self._baselines.items():
            self._score(name, baseline.forecast_then_learn(y_scored, y_learned), y_scored)

    def learn(self, y: Floats) -> None:
        """Teach the baselines without a forecast."""
        for baseline in self._baselines.values():
            baseline.forecast_then_learn(np.full(len(y), np.nan), y)

    def _score(self, name: str, forecast: Forecast, y: Floats) -> None:
        known = _with_targets(forecast, y).known()
        if not len(known):
            return
        self._boards[name].update(known)
        if name == MODEL and self._pit is not None and isinstance(known, RegressionForecast):
            self._pit.update(known)
        if name == MODEL and self._reliability is not None and isinstance(known, ClassForecast):
            self._reliability.update(known)

    def values(self) -> Floats:
        """Return all current scores, of shape (forecasters, metrics, 2): over all rows, and over the window."""
        return np.array(
            [[*zip(b.overall().values(), b.rolling().values(), strict=True)] for b in self._boards.values()]
        ).reshape(len(self._boards), len(self.metrics), 2)

    def recent(self) -> dict[str, dict[str, float]]:
        """Return the scores over the window, by forecaster and metric."""
        return {name: board.rolling() for name, board in self._boards.items()}

    def pit_counts(self) -> Floats | None:
        """Return a histogram of the predictive distribution function at the targets, over all scored rows."""
        if self._pit is None:
            return None
        return (
            np.zeros(_PIT_BINS) if not self._pit.n_rows else np.rint(self._pit.value() * self._pit.n_rows / _PIT_BINS)
        )

    def reliability(self) -> Floats | None:
        """Return mean confidence, accuracy and number of rows, by bins of confidence."""
        return None if self._reliability is None else np.column_stack(self._reliability.reliability())

    def state(self) -> dict[str, Any]:
        """Return the state for a checkpoint, as plain data."""
        return {name: part.state() for name, part in self._parts().items()}

    def restore(self, fields: Fields) -> None:
        """Continue from what `state` returned."""
        for name, part in self._parts().items():
            part.restore(fields.part(name))

    def _parts(self) -> dict[str, Any]:
        parts: dict[str, Any] = {f"board {name}": board for name, board in self._boards.items()}
        parts |= {f"baseline {name}": baseline for name, baseline in self._baselines.items()}
        parts |= {} if self._pit is None else {"pit": self._pit}
        return parts if self._reliability is None else {**parts, "reliability": self._reliability}


def _with_targets(forecast: Forecast, y: Floats) -> Forecast:
    """Return the same forecasts with other targets: NaN for rows that are not to be scored."""
    if isinstance(forecast, RegressionForecast):
        return replace(forecast, y=y)
    return ClassForecast(y, forecast.proba, forecast.ln_density, forecast.label)

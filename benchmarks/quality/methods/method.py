"""Methods, the results of their runs, and the test-then-train loop that all peers share."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.inputs import LAST, RAW, STANDARDISED, inputs
from benchmarks.quality.problems import Problem
from benchmarks.quality.residual_distribution import residual_forecast
from sapwood.metrics import ClassForecast, RegressionForecast

Floats = NDArray[np.float64]

SEED = 0
FLOOR = 1e-3  # lower bound for the probabilities of peers: a single zero would make the log loss infinite


@dataclass(frozen=True, eq=False)
class Run:
    """One method's pass over one problem.

    Attributes
    ----------
    forecast : RegressionForecast or ClassForecast
        The forecast of every row, made before it was learned.
    seconds, cpu_seconds : float
        Time to forecast and learn all rows, without converting the inputs to the library's own form.
    model_bytes : int or None
        Size of the saved model at the end; None if the library cannot save it.
    settings : dict
        The settings of the method.
    n_replaced : int
        Number of forecasts that were not finite (or not probabilities) and were replaced by the last target (or by
        equal probabilities).
    """

    forecast: RegressionForecast | ClassForecast
    seconds: float
    cpu_seconds: float
    model_bytes: int | None
    settings: dict[str, Any]
    n_replaced: int = 0


@dataclass(frozen=True)
class Method:
    """A method that can be run on the problems of one task or both.

    Attributes
    ----------
    name : str
        As shown in tables.
    library : str
        Package it comes from.
    regression, classification : bool
        Tasks it supports.
    forms : tuple of str
        Forms of the inputs to try; on problems in time order each is tried with the last target as well.
    run : callable
        ``run(problem, form)``.
    """

    name: str
    library: str
    regression: bool
    classification: bool
    forms: tuple[str, ...]
    run: Callable[[Problem, str], Run]
    takes_last: bool = True

    def suits(self, problem: Problem) -> bool:
        """Whether it supports the task of this problem."""
        return self.regression if problem.is_regression else self.classification

    def forms_for(self, problem: Problem) -> list[str]:
        """The forms of inputs to try on this problem."""
        last = [form + LAST for form in self.forms] if problem.lagged and self.takes_last else []
        return [*self.forms, *last]


class Peer(ABC):
    """A learner of another library, wrapped for the shared loop. An instance is used for one stream."""

    settings: dict[str, Any]

    @abstractmethod
    def rows(self, x: Floats, y: Floats) -> Sequence[Any]:
        """The rows in the library's own form; not timed."""

    @abstractmethod
    def forecast(self, row: Any) -> Any:
        """A number, or one probability per class."""

    @abstractmethod
    def learn(self, row: Any, target: float) -> None:
        """Learn one row."""

    @abstractmethod
    def n_bytes(self) -> int | None:
        """Size of the saved model; None if it cannot be saved."""


def peer(
    name: str,
    library: str,
    *,
    regression: Callable[[Problem, int], Peer] | None = None,
    classification: Callable[[Problem, int], Peer] | None = None,
    scale_matters: bool = False,
) -> Method:
    """A method that creates a peer for each run; with ``scale_matters`` it is tried on standardised inputs as well."""

    def run(problem: Problem, form: str) -> Run:
        start = regression if problem.is_regression else classification
        assert start is not None
        x = inputs(problem, form)
        return prequential(start(problem, x.shape[1]), problem, x)

    forms = (RAW, STANDARDISED) if scale_matters else (RAW,)
    return Method(name, library, regression is not None, classification is not None, forms, run)


def prequential(learner: Peer, problem: Problem, x: Floats) -> Run:
    """Forecast each row, then learn it."""
    targets = problem.y.tolist()
    rows = learner.rows(x, problem.y)
    forecasts: list[Any] = []
    began, cpu_began = time.perf_counter(), time.process_time()
    for row, target in zip(rows, targets, strict=True):
        forecasts.append(learner.forecast(row))
        learner.learn(row, target)
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu_began
    forecast, n_replaced = (
        regression_forecast(problem, forecasts) if problem.is_regression else class_forecast(problem, forecasts)
    )
    return Run(forecast, seconds, cpu_seconds, learner.n_bytes(), learner.settings, n_replaced)


def regression_forecast(problem: Problem, points: list[Any]) -> tuple[RegressionForecast, int]:
    """Points with the distribution of their own errors, and how many points were not finite."""
    point = np.array(points, dtype=np.float64)
    broken = ~np.isfinite(point)
    last = np.concatenate([[0.0], problem.y[:-1]])
    return residual_forecast(problem.y, np.where(broken, last, point)), int(broken.sum())


def class_forecast(problem: Problem, probabilities: list[Any]) -> tuple[ClassForecast, int]:
    """Valid probabilities, none below the floor, and how many rows had none that could be used."""
    n, n_classes = len(problem), problem.n_classes
    proba = np.zeros((n, n_classes))
    for t, row in enumerate(probabilities):
        if row is not None:
            proba[t, : len(row)] = row
    total = proba.sum(axis=1, keepdims=True)
    broken = ~(np.isfinite(total[:, 0]) & (total[:, 0] > 0.0) & (proba >= 0.0).all(axis=1))
    proba[broken], total[broken] = 1.0, n_classes
    proba = np.maximum(proba / total, FLOOR)
    return ClassForecast(problem.y, proba / proba.sum(axis=1, keepdims=True)), int(broken.sum())

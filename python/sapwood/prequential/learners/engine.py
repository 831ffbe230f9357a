"""What the prequential loop asks of a model, and how Sapwood's own models answer: in big chunks, inside the engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sapwood._base import DynamicTreeEstimator
from sapwood._chance import threads_from
from sapwood._classifier import DynamicTreeClassifier
from sapwood._core import Model
from sapwood._labels import LabelBook
from sapwood.metrics import ClassForecast, RegressionForecast
from sapwood.reading.encoding.target import Task

Floats = NDArray[np.float64]

LEVELS = np.array([0.05, 0.95])
"""The ends of the 90 % interval."""


@dataclass(frozen=True, eq=False)
class Told:
    """Forecasts of some rows, ready to be scored, and what else the model said about them."""

    forecast: RegressionForecast | ClassForecast
    spread: Mapping[str, Floats] = field(default_factory=dict)
    """Regression: "std" and "epistemic_std"."""


class Learner(Protocol):
    """A model in a prequential loop. Targets are numbers: values, or codes of classes in the order of `LabelBook`."""

    task: Task
    is_probabilistic: bool
    """Whether its forecasts of numbers are distributions, so that they can be scored as such."""

    @property
    def n_classes(self) -> int:
        """Classes it knows; a row of a later class cannot be foreseen. 0 for regression."""

    def forecast_then_learn(self, x_test: Floats, y_test: Floats, x: Floats, y: Floats) -> Told:
        """Forecast each row of `x_test`, and then learn the row of `x` that belongs to it; the ends are aligned."""

    def learn(self, x: Floats, y: Floats) -> None:
        """Learn rows, of which some may be of new classes."""

    def meet(self, book: LabelBook) -> None:
        """Take note of the classes met so far; `learn` makes them known to the model when their rows come."""


class EngineLearner:
    """One of Sapwood's estimators. It learns in place and is valid after every call, also an interrupted one."""

    is_probabilistic = True

    def __init__(self, estimator: DynamicTreeEstimator, *, crps: bool) -> None:
        self.task: Task = estimator._task
        self._estimator = estimator
        self._crps = crps
        self._n_threads = threads_from(estimator.n_jobs)
        self._book = getattr(estimator, "_labels", LabelBook.empty())

    @property
    def _model(self) -> Model:
        return self._estimator._started()

    @property
    def n_classes(self) -> int:
        return self._model.n_classes

    def start(self, n_inputs: int, names: NDArray[Any] | None, book: LabelBook) -> None:
        """Start the estimator, or go on with what it has learned. The classes of `book` get a prior probability."""
        self._book = book
        if self._estimator._model is None:
            model = self._estimator._start(n_inputs, len(book), len(book))
            self._estimator._adopt(model, names, book if self.task == "classification" else None)
        elif len(book) > self.n_classes:
            self._add_classes(len(book))

    def meet(self, book: LabelBook) -> None:
        self._book = book

    def forecast_then_learn(self, x_test: Floats, y_test: Floats, x: Floats, y: Floats) -> Told:
        if self.task == "classification":
            said = self._model.forecast_then_learn(x_test, y_test, x, y, n_threads=self._n_threads)
            return Told(ClassForecast.from_core(said, y_test))
        said = self._model.forecast_then_learn(
            x_test, y_test, x, y, levels=LEVELS, pit=True, crps=self._crps, n_threads=self._n_threads
        )
        quantiles = said.quantiles
        forecast = RegressionForecast(
            y=y_test,
            mean=said.mean,
            lower=quantiles[:, 0],
            upper=quantiles[:, 1],
            ln_density=said.ln_density,
            pit=said.pit,
            crps=said.crps if self._crps else np.full(len(y_test), np.nan),
        )
        return Told(forecast, {"std": np.sqrt(said.var), "epistemic_std": np.sqrt(said.epistemic)})

    def learn(self, x: Floats, y: Floats) -> None:
        arrivals = np.flatnonzero(np.diff(np.maximum.accumulate(y), prepend=self.n_classes - 1) > 0)
        if self.task == "regression":
            arrivals = arrivals[:0]
        for first, end in pairwise([0, *arrivals[arrivals > 0].tolist(), len(y)]):
            if self.task == "classification" and y[first] >= self.n_classes:
                self._add_classes(int(y[first]) + 1)
            self._model.learn(x[first:end], y[first:end], n_threads=self._n_threads)

    def _add_classes(self, n_classes: int) -> None:
        assert isinstance(self._estimator, DynamicTreeClassifier)
        self._model.add_classes(n_classes)
        self._estimator._labels = self._book.first(n_classes)

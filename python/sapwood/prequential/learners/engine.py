"""Sapwood's own models in the prequential loop: whole chunks at a time, inside the engine."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from sapwood._base import DynamicTreeEstimator
from sapwood._core import Model
from sapwood._fitted import FittedState, fitted, is_fitted, native, new_model, set_fitted, task_of
from sapwood._labels import LabelBook
from sapwood._options import Task
from sapwood._seeds import threads_from
from sapwood.encoding.encoder import Encoder
from sapwood.metrics import ClassForecast, RegressionForecast
from sapwood.prequential.learners.learner import Floats, LearnerForecast

LEVELS = np.array([0.05, 0.95])
"""The ends of the 90 % interval."""


class EngineLearner:
    """A Sapwood estimator. It learns in place and is valid after every call, even an interrupted one.

    If labels are `late`, forecasts take no target as known: the last to arrive is not that of the row before.
    """

    def __init__(self, estimator: DynamicTreeEstimator, *, crps: bool, late: bool) -> None:
        self.task: Task = task_of(estimator)
        self._estimator = estimator
        self._crps = crps
        self._horizon = "any_row" if late else "next_row"
        self._n_threads = threads_from(estimator.n_jobs)
        self._book = fitted(estimator).book if is_fitted(estimator) else LabelBook.empty()

    @property
    def _model(self) -> Model:
        return native(self._estimator)

    @property
    def n_classes(self) -> int:
        return self._model.n_classes

    def start(self, n_inputs: int, encoder: Encoder | None, target: str | None, book: LabelBook) -> None:
        """Start the estimator unless it has learned before. Every class in `book` gets a prior probability."""
        self._book = book
        if not is_fitted(self._estimator):
            model = new_model(self._estimator, n_inputs, len(book), len(book), encoder=encoder)
            labels = book if self.task == "classification" else None
            set_fitted(self._estimator, FittedState(model, labels, encoder, target))
        elif len(book) > self.n_classes:
            self._add_classes(len(book))

    def set_labels(self, book: LabelBook) -> None:
        self._book = book

    def forecast_then_learn(self, x_test: Floats, y_test: Floats, x: Floats, y: Floats) -> LearnerForecast:
        if self.task == "classification":
            raw = self._model.forecast_then_learn(
                x_test, y_test, x, y, horizon=self._horizon, n_threads=self._n_threads
            )
            return LearnerForecast(ClassForecast.from_core(raw, y_test))
        raw = self._model.forecast_then_learn(
            x_test,
            y_test,
            x,
            y,
            levels=LEVELS,
            pit=True,
            crps=self._crps,
            horizon=self._horizon,
            n_threads=self._n_threads,
        )
        quantiles = raw.quantiles
        forecast = RegressionForecast(
            y=y_test,
            mean=raw.mean,
            lower=quantiles[:, 0],
            upper=quantiles[:, 1],
            ln_density=raw.ln_density,
            pit=raw.pit,
            crps=raw.crps if self._crps else np.full(len(y_test), np.nan),
        )
        return LearnerForecast(forecast, {"std": np.sqrt(raw.var), "epistemic_std": np.sqrt(raw.epistemic)})

    def learn(self, x: Floats, y: Floats) -> None:
        new_class = np.flatnonzero(np.diff(np.maximum.accumulate(y), prepend=self.n_classes - 1) > 0)
        if self.task == "regression":
            new_class = new_class[:0]
        for first, end in pairwise([0, *new_class[new_class > 0].tolist(), len(y)]):
            if self.task == "classification" and y[first] >= self.n_classes:
                self._add_classes(int(y[first]) + 1)
            self._model.learn(x[first:end], y[first:end], n_threads=self._n_threads)

    def _add_classes(self, n_classes: int) -> None:
        fitted(self._estimator).add_classes(self._book.first(n_classes))

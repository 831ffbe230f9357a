"""Models of other libraries in the prequential loop, for comparison: one row at a time, as their interfaces require."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from sapwood._labels import LabelBook
from sapwood._options import Task
from sapwood.metrics import ClassForecast, RegressionForecast
from sapwood.prequential.learners.learner import Floats, LearnerForecast


class RowLearner(ABC):
    """A model that forecasts and learns single rows. Before its first row the forecast is 0, or uniform over classes.

    It is scored by its point forecasts or class probabilities; a predictive distribution of numbers is not expected.
    """

    def __init__(self, model: Any, task: Task) -> None:
        self.task: Task = task
        self._model = model
        self._book = LabelBook.empty()
        self._n_learned = 0

    @property
    def n_classes(self) -> int:
        return len(self._book)

    def set_labels(self, book: LabelBook) -> None:
        self._book = book

    def forecast_then_learn(self, x_test: Floats, y_test: Floats, x: Floats, y: Floats) -> LearnerForecast:
        table = np.empty((len(x_test), max(self.n_classes, 1)))
        delay = len(x_test) - len(x)
        for i, row in enumerate(x_test):
            table[i] = self._forecast(row) if self._n_learned else 1.0 / self.n_classes if self.n_classes else 0.0
            if i >= delay:
                self.learn(x[i - delay : i - delay + 1], y[i - delay : i - delay + 1])
        if self.task == "classification":
            return LearnerForecast(ClassForecast(y=y_test, proba=table))
        unknown = np.full(len(x_test), np.nan)
        forecast = RegressionForecast(
            y=y_test, mean=table[:, 0], lower=unknown, upper=unknown, ln_density=unknown, pit=unknown, crps=unknown
        )
        return LearnerForecast(forecast, {"std": unknown, "epistemic_std": unknown})

    def learn(self, x: Floats, y: Floats) -> None:
        for row, target in zip(x, y, strict=True):
            label = float(target) if self.task == "regression" else self._book.class_of_code[int(target)].item()
            self._learn(row, label)
            self._n_learned += 1

    def _proba(self, by_label: dict[Any, float]) -> Floats:
        """Return normalised probabilities in the order of the class codes."""
        proba = np.array([by_label.get(label, 0.0) for label in self._book.class_of_code.tolist()])
        total = proba.sum()
        return proba / total if total > 0 else np.full(len(proba), 1.0 / len(proba))

    @abstractmethod
    def _forecast(self, row: Floats) -> Floats | float: ...

    @abstractmethod
    def _learn(self, row: Floats, target: Any) -> None: ...


class PartialFitLearner(RowLearner):
    """A scikit-learn estimator with ``partial_fit``."""

    def _forecast(self, row: Floats) -> Floats | float:
        x = row.reshape(1, -1)
        if self.task == "regression":
            return float(self._model.predict(x)[0])
        if hasattr(self._model, "predict_proba"):
            classes = np.asarray(self._model.classes_).tolist()
            return self._proba(dict(zip(classes, self._model.predict_proba(x)[0].tolist(), strict=True)))
        return self._proba({self._model.predict(x)[0].item(): 1.0})

    def _learn(self, row: Floats, target: Any) -> None:
        x, y = row.reshape(1, -1), np.array([target])
        if self.task == "classification" and not self._n_learned:
            self._model.partial_fit(x, y, classes=self._book.classes)
        else:
            self._model.partial_fit(x, y)


class RiverLearner(RowLearner):
    """A river model. Missing values are absent keys, as is usual in river."""

    def __init__(self, model: Any, task: Task, names: list[str]) -> None:
        super().__init__(model, task)
        self._names = names

    def _features(self, row: Floats) -> dict[str, float]:
        return {name: value for name, value in zip(self._names, row.tolist(), strict=True) if value == value}

    def _forecast(self, row: Floats) -> Floats | float:
        if self.task == "regression":
            return float(self._model.predict_one(self._features(row)))
        return self._proba(self._model.predict_proba_one(self._features(row)))

    def _learn(self, row: Floats, target: Any) -> None:
        self._model.learn_one(self._features(row), target)


def foreign_task(model: Any) -> Task:
    """Return what a model of another library predicts; raise TypeError if the loop cannot drive it."""
    if hasattr(model, "learn_one") and hasattr(model, "predict_one"):
        try:
            from river.utils.inspect import isclassifier, isregressor
        except ImportError:
            return "classification" if hasattr(model, "predict_proba_one") else "regression"
        if isclassifier(model):
            return "classification"
        if isregressor(model):
            return "regression"
    if hasattr(model, "partial_fit"):
        if is_classifier(model):
            return "classification"
        if is_regressor(model):
            return "regression"
    raise TypeError(
        f"a {type(model).__name__} cannot be evaluated; give a Sapwood estimator, a scikit-learn classifier or "
        "regressor with partial_fit, or a river model"
    )

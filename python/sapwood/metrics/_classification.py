"""Metrics of class forecasts that are means over rows, and calibration."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sapwood._state import Fields
from sapwood.metrics._base import MeanMetric, Metric, add_in_order
from sapwood.metrics._forecast import ClassForecast

Floats = NDArray[np.float64]


class _ClassMean(MeanMetric[ClassForecast]):
    """A mean over rows, small where forecasts are good unless a subclass says otherwise."""

    greater_is_better: ClassVar[bool | None] = False
    forecast_type = ClassForecast


class Accuracy(_ClassMean):
    """Share of rows whose predicted class was correct.

    Examples
    --------
    >>> from sapwood.metrics import Accuracy, ClassForecast
    >>> metric = Accuracy()
    >>> metric.update(ClassForecast(y=[0, 1], proba=[[0.9, 0.1], [0.6, 0.4]]))
    >>> metric.value()
    0.5
    """

    name = "accuracy"
    greater_is_better = True

    def _term(self, forecast: ClassForecast) -> Floats:
        return np.equal(forecast.label, forecast.y).astype(np.float64)


class LogLoss(_ClassMean):
    """Mean of minus the log probability of the observed class. Infinite once that probability was zero.

    Examples
    --------
    >>> from sapwood.metrics import ClassForecast, LogLoss
    >>> metric = LogLoss()
    >>> metric.update(ClassForecast(y=[0, 1], proba=[[0.5, 0.5], [0.5, 0.5]]))
    >>> round(metric.value(), 4)
    0.6931
    """

    name = "log_loss"

    def _term(self, forecast: ClassForecast) -> Floats:
        return -forecast.ln_density


class Brier(Metric[ClassForecast, float]):
    """Mean squared distance between the probabilities and the indicator of the observed class.

    ``mean of sum_k (p_k - 1[y = k])^2``, halved while there are only two classes, so that the best score is 0 and the
    worst 1 for two classes, 2 for more (scikit-learn's convention).

    Examples
    --------
    >>> from sapwood.metrics import Brier, ClassForecast
    >>> metric = Brier()
    >>> metric.update(ClassForecast(y=[1], proba=[[0.3, 0.7]]))
    >>> round(metric.value(), 4)
    0.09
    """

    name: ClassVar[str] = "brier"
    greater_is_better: ClassVar[bool | None] = False
    forecast_type = ClassForecast

    def __init__(self) -> None:
        super().__init__()
        self._total = 0.0
        self._n_classes = 0

    def value(self) -> float:
        return _brier(self._total / self.n_rows, self._n_classes) if self.n_rows else float("nan")

    def state(self) -> dict[str, Any]:
        return {**super().state(), "total": self._total, "n_classes": self._n_classes}

    def restore(self, fields: Fields) -> None:
        super().restore(fields)
        self._total, self._n_classes = fields.number("total"), fields.integer("n_classes")

    def _has_width(self, n_columns: int) -> bool:
        return n_columns == 2

    def _terms(self, forecast: ClassForecast) -> Floats:
        rows, n_classes = forecast.proba.shape
        gap = forecast.proba.copy()
        gap[np.arange(rows), forecast.y.astype(np.intp)] -= 1.0
        return np.column_stack([np.sum(gap**2, axis=1), np.full(rows, float(n_classes))])

    def _absorb(self, terms: Floats) -> None:
        self._total = add_in_order(self._total, terms[:, 0])
        self._n_classes = int(np.max(terms[:, 1], initial=self._n_classes))

    def _reduce(self, terms: Floats) -> float:
        return _brier(float(np.mean(terms[:, 0])), int(terms[:, 1].max())) if len(terms) else float("nan")


def _brier(mean: float, n_classes: int) -> float:
    return mean / 2.0 if n_classes <= 2 else mean


class Ece(Metric[ClassForecast, float]):
    """Expected calibration error of the most probable class, in bins of equal width (Guo et al. 2017).

    ``sum over bins of (rows in bin / rows) * |accuracy in bin - mean confidence in bin|``, where the confidence is the
    largest probability and the accuracy is that of the class that has it.

    Parameters
    ----------
    n_bins : int
        Bins of confidence, each open on the left.

    Examples
    --------
    >>> from sapwood.metrics import ClassForecast, Ece
    >>> metric = Ece()
    >>> metric.update(ClassForecast(y=[0, 1], proba=[[0.9, 0.1], [0.9, 0.1]]))
    >>> round(metric.value(), 4)
    0.4
    """

    name: ClassVar[str] = "ece"
    greater_is_better: ClassVar[bool | None] = False
    forecast_type = ClassForecast

    def __init__(self, n_bins: int = 15) -> None:
        super().__init__()
        if n_bins < 1:
            raise ValueError(f"n_bins is {n_bins}; calibration needs at least 1 bin.")
        self.n_bins = n_bins
        self._sums = np.zeros((n_bins, 3))

    def value(self) -> float:
        return _ece(self._sums)

    def state(self) -> dict[str, Any]:
        return {**super().state(), "sums": self._sums}

    def restore(self, fields: Fields) -> None:
        super().restore(fields)
        self._sums = fields.floats("sums", (self.n_bins, 3))

    def _has_width(self, n_columns: int) -> bool:
        return n_columns == 2

    def reliability(self) -> tuple[Floats, Floats, Floats]:
        """(mean confidence, accuracy, rows) of every bin; the first two are NaN in an empty bin."""
        rows = self._sums[:, 2]
        with np.errstate(invalid="ignore"):
            return self._sums[:, 0] / rows, self._sums[:, 1] / rows, rows.copy()

    def _terms(self, forecast: ClassForecast) -> Floats:
        likeliest = np.argmax(forecast.proba, axis=1)
        confidence = forecast.proba[np.arange(len(forecast)), likeliest]
        return np.column_stack([confidence, likeliest == forecast.y])

    def _absorb(self, terms: Floats) -> None:
        self._add(self._sums, terms)

    def _reduce(self, terms: Floats) -> float:
        sums = np.zeros((self.n_bins, 3))
        if len(terms):
            self._add(sums, terms)
        return _ece(sums)

    def _add(self, sums: Floats, terms: Floats) -> None:
        bins = np.clip(np.ceil(terms[:, 0] * self.n_bins).astype(np.intp) - 1, 0, self.n_bins - 1)
        # add.at proceeds row by row, so that the sums do not depend on the chunks.
        np.add.at(sums, bins, np.column_stack([terms, np.ones(len(terms))]))


def _ece(sums: Floats) -> float:
    rows = sums[:, 2].sum()
    return float(np.sum(np.abs(sums[:, 1] - sums[:, 0])) / rows) if rows else float("nan")

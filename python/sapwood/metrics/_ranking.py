"""AUC and H-measure as metrics: exact over a window, from binned scores over all rows."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sapwood._state import Fields
from sapwood.metrics._base import Metric
from sapwood.metrics._forecast import ClassForecast
from sapwood.metrics._roc import (
    CostWeight,
    auc_of_counts,
    auc_slack,
    cost_parameters,
    counts_by_score,
    h_of_counts,
    h_slack,
)

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

_N_BINS = 4096
_LN_ODDS_LIMIT = 23.0  # odds of 1e10 to one; more extreme scores share the outermost bins


def _bins(proba: Floats) -> NDArray[np.intp]:
    """Return bins of equal width in the log odds, whose relative width is the same for rare and common classes."""
    with np.errstate(divide="ignore"):
        ln_odds = np.log(proba) - np.log1p(-np.minimum(proba, 1.0))
    inside = np.clip((ln_odds + _LN_ODDS_LIMIT) / (2.0 * _LN_ODDS_LIMIT), 0.0, 1.0)
    return np.minimum((inside * _N_BINS).astype(np.intp), _N_BINS - 1)


class _RankingMetric(Metric[ClassForecast, float]):
    """Counts of negatives and positives per bin of each class's probability, one class against the rest."""

    greater_is_better: ClassVar[bool | None] = True
    forecast_type = ClassForecast

    def __init__(self) -> None:
        super().__init__()
        self._counts: Counts = np.zeros((0, 2, _N_BINS), dtype=np.int64)

    @abstractmethod
    def _of_counts(self, n0: Floats, n1: Floats) -> float: ...

    @abstractmethod
    def _slack(self, n0: Floats, n1: Floats) -> float: ...

    def value(self) -> float:
        return _over_classes([self._of_counts(*table.astype(np.float64)) for table in self._counts])

    def state(self) -> dict[str, Any]:
        return {**super().state(), "counts": self._counts}

    def restore(self, fields: Fields) -> None:
        super().restore(fields)
        self._counts = fields.integers("counts", (None, 2, _N_BINS), minimum=0)

    def _has_width(self, n_columns: int) -> bool:
        return n_columns >= 2

    def error_bound(self) -> float:
        """Return a bound on the error of :meth:`value` (0 if the scores within every bin are equal)."""
        return _over_classes([self._slack(*table.astype(np.float64)) for table in self._counts])

    def _terms(self, forecast: ClassForecast) -> Floats:
        return np.column_stack([forecast.y, forecast.proba])

    def _absorb(self, terms: Floats) -> None:
        n_new = terms.shape[1] - 1 - len(self._counts)
        if n_new > 0:
            fresh = np.zeros((n_new, 2, _N_BINS), dtype=np.int64)
            fresh[:, 0, 0] = self.n_rows  # a class that was still unknown had probability zero and was not observed
            self._counts = np.concatenate([self._counts, fresh])
        for k, table in enumerate(self._counts):
            proba = terms[:, k + 1] if k + 1 < terms.shape[1] else np.zeros(len(terms))
            np.add.at(table, ((terms[:, 0] == k).astype(np.intp), _bins(proba)), 1)

    def _reduce(self, terms: Floats) -> float:
        return _over_classes(
            [self._of_counts(*counts_by_score(terms[:, k + 1], terms[:, 0] == k)) for k in range(terms.shape[1] - 1)]
        )


def _over_classes(values: list[float]) -> float:
    if len(values) == 2:
        return values[1]
    present = [value for value in values if not np.isnan(value)]
    return float(np.mean(present)) if present else float("nan")


class Auc(_RankingMetric):
    """Area under the ROC curve: the probability that a row of class 1 scores above one of class 0.

    With more than two classes, the mean of the one-vs-rest AUCs of the observed classes. Over all rows, scores are
    counted in 4096 bins of equal width (0.0112) in the log odds, and scores in the same bin count as ties. The error is
    at most half the share of (class 0, class 1) pairs in the same bin, which :meth:`error_bound` returns (typically
    1e-3; the actual error is much smaller). A rolling AUC is exact.

    Examples
    --------
    >>> from sapwood.metrics import Auc, ClassForecast
    >>> metric = Auc()
    >>> metric.update(ClassForecast(y=[0, 1, 1], proba=[[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]]))
    >>> metric.value(), metric.error_bound()
    (1.0, 0.0)
    """

    name: ClassVar[str] = "auc"

    def _of_counts(self, n0: Floats, n1: Floats) -> float:
        return auc_of_counts(n0, n1)

    def _slack(self, n0: Floats, n1: Floats) -> float:
        return auc_slack(n0, n1)


class HMeasure(_RankingMetric):
    """Hand's H-measure. See :func:`sapwood.metrics.h_measure` for the definition.

    With more than two classes, the mean of the one-vs-rest values of the observed classes. Over all rows, scores are
    counted in 4096 bins as for :class:`Auc`. The value never exceeds the exact one, and falls short of it by at most
    :meth:`error_bound` (the gain if every bin were perfectly ordered). A rolling H-measure is exact.

    Parameters
    ----------
    cost_weight : {"hand2009", "hand2014"} or (a, b)
        Density of the relative cost.

    Examples
    --------
    >>> from sapwood.metrics import ClassForecast, HMeasure
    >>> metric = HMeasure()
    >>> metric.update(ClassForecast(y=[0, 1, 1], proba=[[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]]))
    >>> metric.value()
    1.0
    """

    name: ClassVar[str] = "h_measure"

    def __init__(self, cost_weight: CostWeight = "hand2009") -> None:
        super().__init__()
        cost_parameters(cost_weight, 0.5)
        self.cost_weight: CostWeight = cost_weight

    def _of_counts(self, n0: Floats, n1: Floats) -> float:
        return h_of_counts(n0, n1, self.cost_weight)

    def _slack(self, n0: Floats, n1: Floats) -> float:
        return h_slack(n0, n1, self.cost_weight)

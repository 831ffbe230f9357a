"""Metrics of forecasts of a number."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sapwood._state import Fields
from sapwood.metrics._base import MeanMetric, Metric
from sapwood.metrics._forecast import RegressionForecast

Floats = NDArray[np.float64]


class _RegressionMean(MeanMetric[RegressionForecast]):
    """A mean over rows, small where forecasts are good unless a subclass says otherwise."""

    greater_is_better: ClassVar[bool | None] = False
    forecast_type = RegressionForecast


class Rmse(_RegressionMean):
    """Root of the mean squared error of the predictive mean.

    Examples
    --------
    >>> from sapwood.metrics import Rmse, naive
        >>> metric = Rmse()
    >>> metric.update(naive.NoChange().forecast_then_learn([1.0, 3.0]))
    >>> metric.value() == 2.5**0.5
    True
    """

    name = "rmse"
    needs = "mean"

    def _term(self, forecast: RegressionForecast) -> Floats:
        return (forecast.y - forecast.mean) ** 2

    def _finish(self, mean: float) -> float:
        return float(np.sqrt(mean))


class Mae(_RegressionMean):
    """Mean absolute error of the predictive mean.

    Examples
    --------
    >>> from sapwood.metrics import Mae, naive
        >>> metric = Mae()
    >>> metric.update(naive.NoChange().forecast_then_learn([1.0, 3.0]))
    >>> metric.value()
    1.5
    """

    name = "mae"
    needs = "mean"

    def _term(self, forecast: RegressionForecast) -> Floats:
        return np.abs(forecast.y - forecast.mean)


class LogScore(_RegressionMean):
    """Mean log predictive density of the observed targets, in nats; it depends on the unit of y.

    Examples
    --------
    >>> from sapwood.metrics import LogScore, naive
        >>> metric = LogScore()
    >>> metric.update(naive.NoChange().forecast_then_learn([1.0, 3.0]))
    >>> round(metric.value(), 3)
    -2.136
    """

    name = "log_score"
    greater_is_better = True

    def _term(self, forecast: RegressionForecast) -> Floats:
        return forecast.ln_density


class Crps(_RegressionMean):
    """Mean continuous ranked probability score, in the unit of y. For a point forecast it equals the MAE.

    Examples
    --------
    >>> from sapwood.metrics import Crps, naive
        >>> metric = Crps()
    >>> metric.update(naive.NoChange().forecast_then_learn([1.0, 3.0]))
    >>> round(metric.value(), 3)
    0.988
    """

    name = "crps"
    needs = "crps"

    def _term(self, forecast: RegressionForecast) -> Floats:
        return forecast.crps


class Coverage90(_RegressionMean):
    """Share of rows inside the 90 % interval, endpoints included. Best at .9, not at 1.

    Examples
    --------
    >>> from sapwood.metrics import Coverage90, naive
        >>> metric = Coverage90()
    >>> metric.update(naive.NoChange().forecast_then_learn([1.0, 3.0]))
    >>> metric.value()
    1.0
    """

    name = "coverage90"
    greater_is_better = None

    def _term(self, forecast: RegressionForecast) -> Floats:
        return ((forecast.lower <= forecast.y) & (forecast.y <= forecast.upper)).astype(np.float64)


class Width90(_RegressionMean):
    """Mean width of the 90 % interval.

    Examples
    --------
    >>> from sapwood.metrics import Width90, naive
        >>> metric = Width90()
    >>> metric.update(naive.NoChange().forecast_then_learn([1.0, 3.0]))
    >>> round(metric.value(), 3)
    4.707
    """

    name = "width90"

    def _term(self, forecast: RegressionForecast) -> Floats:
        return forecast.upper - forecast.lower


class PitHistogram(Metric[RegressionForecast, Floats]):
    """Histogram of the predictive distribution function at the observed targets; flat if the forecasts are calibrated.

    The value is a density: heights whose mean is 1. A hump in the middle means that intervals are too wide, a U shape
    that they are too narrow, a slope that the mean is biased.

    Parameters
    ----------
    n_bins : int
        Bins of equal width on [0, 1].

    Examples
    --------
    >>> from sapwood.metrics import PitHistogram, naive
        >>> metric = PitHistogram(n_bins=2)
    >>> metric.update(naive.NoChange().forecast_then_learn([1.0, 3.0, 2.0, 0.0]))
    >>> metric.value()
    array([1., 1.])
    """

    name = "pit"
    greater_is_better = None
    forecast_type = RegressionForecast

    def __init__(self, n_bins: int = 20) -> None:
        super().__init__()
        if n_bins < 1:
            raise ValueError(f"n_bins is {n_bins}; a histogram needs at least 1 bin.")
        self.n_bins = n_bins
        self._counts = np.zeros(n_bins)

    def value(self) -> Floats:
        return self._density(self._counts)

    def state(self) -> dict[str, Any]:
        return {**super().state(), "counts": self._counts}

    def restore(self, fields: Fields) -> None:
        super().restore(fields)
        self._counts = fields.floats("counts", (self.n_bins,))

    def _terms(self, forecast: RegressionForecast) -> Floats:
        return forecast.pit[:, np.newaxis]

    def _absorb(self, terms: Floats) -> None:
        self._counts += self._count(terms)

    def _reduce(self, terms: Floats) -> Floats:
        return self._density(self._count(terms) if len(terms) else np.zeros(self.n_bins))

    def _count(self, terms: Floats) -> Floats:
        return np.histogram(terms[:, 0], bins=self.n_bins, range=(0.0, 1.0))[0].astype(np.float64)

    def _density(self, counts: Floats) -> Floats:
        rows = counts.sum()
        density: Floats = counts * self.n_bins / rows if rows else np.full(self.n_bins, np.nan)
        return density

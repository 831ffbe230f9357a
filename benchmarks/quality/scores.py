"""The scores of a run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.problems import SCORED_FROM
from sapwood import metrics
from sapwood.metrics import ClassForecast, RegressionForecast

Floats = NDArray[np.float64]

BLOCK = 1000  # rows per recorded average of the log predictive

# The score that ranks methods, by whether the task is regression.
MAIN: dict[bool, str] = {True: "log_score", False: "log_loss"}


def scores(forecast: RegressionForecast | ClassForecast) -> dict[str, float]:
    """Every score, over the scored rows."""
    since = slice(SCORED_FROM, None)
    if isinstance(forecast, RegressionForecast):
        y, lower, upper = forecast.y[since], forecast.lower[since], forecast.upper[since]
        return {
            "log_score": metrics.log_score(forecast.ln_density[since]),
            "crps": metrics.crps(forecast.crps[since]),
            "rmse": metrics.rmse(y, forecast.mean[since]),
            "mae": metrics.mae(y, forecast.mean[since]),
            "coverage90": metrics.coverage90(y, lower, upper),
            "width90": metrics.width90(lower, upper),
        }
    y, proba = forecast.y[since], forecast.proba[since]
    by_name: dict[str, Callable[[Floats, Floats], float]] = {
        "auc": metrics.auc,
        "brier": metrics.brier,
        "ece": metrics.ece,
    }
    return {
        "log_loss": -metrics.log_score(forecast.ln_density[since]),
        "accuracy": float(np.mean(forecast.label[since] == y)),
        **{name: function(y, proba) for name, function in by_name.items()},
    }


def ln_predictive_by_block(forecast: RegressionForecast | ClassForecast) -> list[float]:
    """Mean log predictive of each block of rows, from the first row on: the method's performance along the stream."""
    terms = forecast.ln_density
    return [round(float(np.mean(terms[first : first + BLOCK])), 4) for first in range(0, len(terms), BLOCK)]

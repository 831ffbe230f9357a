"""Metrics of forecasts, as functions of whole arrays and as accumulators that are updated chunk by chunk.

A prequential loop turns each chunk into a :class:`RegressionForecast` or :class:`ClassForecast` and passes it to a
:class:`Scoreboard`, or to individual metrics, for the model and for each baseline of :mod:`sapwood.metrics.naive`.
"""

from sapwood.metrics import naive
from sapwood.metrics._base import Metric, Rolling
from sapwood.metrics._classification import Accuracy, Brier, Ece, LogLoss
from sapwood.metrics._forecast import ClassForecast, RegressionForecast
from sapwood.metrics._functions import (
    accuracy,
    auc,
    brier,
    coverage90,
    crps,
    ece,
    h_measure,
    log_loss,
    log_score,
    mae,
    pit_histogram,
    rmse,
    width90,
)
from sapwood.metrics._ranking import Auc, HMeasure
from sapwood.metrics._registry import CLASSIFICATION_METRICS, METRICS, REGRESSION_METRICS
from sapwood.metrics._regression import Coverage90, Crps, LogScore, Mae, PitHistogram, Rmse, Width90
from sapwood.metrics._scoreboard import Scoreboard
from sapwood.metrics._student_t import crps_student_t, crps_student_t_mixture, ln_density_student_t

__all__ = [
    "CLASSIFICATION_METRICS",
    "METRICS",
    "REGRESSION_METRICS",
    "Accuracy",
    "Auc",
    "Brier",
    "ClassForecast",
    "Coverage90",
    "Crps",
    "Ece",
    "HMeasure",
    "LogLoss",
    "LogScore",
    "Mae",
    "Metric",
    "PitHistogram",
    "RegressionForecast",
    "Rmse",
    "Rolling",
    "Scoreboard",
    "Width90",
    "accuracy",
    "auc",
    "brier",
    "coverage90",
    "crps",
    "crps_student_t",
    "crps_student_t_mixture",
    "ece",
    "h_measure",
    "ln_density_student_t",
    "log_loss",
    "log_score",
    "mae",
    "naive",
    "pit_histogram",
    "rmse",
    "width90",
]

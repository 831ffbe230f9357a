"""How scores and forecasters are called on axes and in tables."""

from __future__ import annotations

from typing import NamedTuple


class MetricWords(NamedTuple):
    """A score in words: title, axis with its unit, which way is better, and the value to aim at, if there is one."""

    title: str
    axis: str
    better: str
    goal: float | None = None


_LOWER, _HIGHER, _GOAL = "lower is better", "higher is better", "closer to .9 is better"

METRIC_WORDS: dict[str, MetricWords] = {
    "accuracy": MetricWords("Accuracy", "share of rows right", _HIGHER),
    "auc": MetricWords("Area under the ROC curve", "AUC", _HIGHER),
    "h_measure": MetricWords("H-measure", "H-measure", _HIGHER),
    "log_loss": MetricWords("Log loss", "log loss (nats a row)", _LOWER),
    "brier": MetricWords("Brier score", "Brier score", _LOWER),
    "ece": MetricWords("Calibration error", "expected calibration error", _LOWER),
    "rmse": MetricWords("Error", "RMSE (units of the target)", _LOWER),
    "mae": MetricWords("Absolute error", "MAE (units of the target)", _LOWER),
    "log_score": MetricWords("Log score", "log density of what came (nats a row)", _HIGHER),
    "crps": MetricWords("CRPS", "CRPS (units of the target)", _LOWER),
    "coverage90": MetricWords("Coverage of the 90 % interval", "share of rows inside", _GOAL, 0.9),
    "width90": MetricWords("Width of the 90 % interval", "mean width (units of the target)", "narrower is sharper"),
}

_FORECASTER_WORDS = {
    "model": "Sapwood",
    "no_change": "no change",
    "running_mean": "running mean",
    "majority": "majority class",
}


def forecaster_word(name: str) -> str:
    """How a forecaster is called in a picture."""
    return _FORECASTER_WORDS.get(name, name.replace("_", " "))

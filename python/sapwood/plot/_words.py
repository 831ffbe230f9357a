"""How scores and forecasters are called on axes and in tables."""

from __future__ import annotations

from typing import NamedTuple

from sapwood._text import visible


class MetricWords(NamedTuple):
    """A score in words: its name, its axis with the unit, which way is better, what it means, the value to aim at."""

    name: str
    axis: str
    better: str
    meaning: str
    goal: float | None = None


_LOWER, _HIGHER = "lower is better", "higher is better"

METRIC_WORDS: dict[str, MetricWords] = {
    "accuracy": MetricWords(
        "Accuracy", "share of rows right", _HIGHER, "Share of rows whose most probable class was the one that came."
    ),
    "auc": MetricWords(
        "AUC", "area under the ROC curve", _HIGHER, "How well the probabilities put rows in order; chance gives 0.5."
    ),
    "h_measure": MetricWords(
        "H-measure", "H-measure", _HIGHER, "How well rows are put in order, weighing costs alike for all forecasters."
    ),
    "log_loss": MetricWords(
        "Log loss", "log loss (nats a row)", _LOWER, "Surprise at the class that came; it punishes false certainty."
    ),
    "brier": MetricWords("Brier score", "Brier score", _LOWER, "Squared error of the probabilities."),
    "ece": MetricWords(
        "Calibration error", "expected calibration error", _LOWER, "Gap between probabilities and how often they held."
    ),
    "rmse": MetricWords(
        "RMSE", "RMSE (units of the target)", _LOWER, "Typical size of the error; large errors weigh most."
    ),
    "mae": MetricWords("MAE", "MAE (units of the target)", _LOWER, "Mean size of the error."),
    "log_score": MetricWords(
        "Log score",
        "log density of what came (nats a row)",
        _HIGHER,
        "How much density the forecast gave to what came.",
    ),
    "crps": MetricWords(
        "CRPS", "CRPS (units of the target)", _LOWER, "Distance between the whole forecast and what came."
    ),
    "coverage90": MetricWords(
        "Coverage of 90 % intervals",
        "share of rows inside",
        "closer to 0.9 is better",
        "Share of rows that fell inside their 90 % interval.",
        0.9,
    ),
    "width90": MetricWords(
        "Width of 90 % intervals",
        "mean width (units of the target)",
        "narrower is sharper",
        "How much the intervals leave open; compare it only between forecasters whose coverage is near 0.9.",
    ),
}

_FORECASTER_WORDS = {
    "model": "Sapwood",
    "no_change": "no change",
    "running_mean": "running mean",
    "majority": "majority class",
}


def drawn(name: object) -> str:
    r"""A name or label as matplotlib draws it as it is, without taking what is between dollar signs for mathematics.

    Examples
    --------
    >>> print(drawn("US$ and CA$"))
    US\$ and CA\$
    """
    return visible(name).replace("$", r"\$")


def forecaster_word(name: str) -> str:
    """How a forecaster is called in a picture."""
    return _FORECASTER_WORDS.get(name, name.replace("_", " "))

"""All metrics and how they are presented. Adding a metric takes its class, an entry here and an export."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar

from sapwood._options import Task
from sapwood.metrics._base import Metric
from sapwood.metrics._classification import Accuracy, Brier, Ece, LogLoss
from sapwood.metrics._forecast import ClassForecast, RegressionForecast
from sapwood.metrics._ranking import Auc, HMeasure
from sapwood.metrics._regression import Coverage90, Crps, LogScore, Mae, Rmse, Width90

K = TypeVar("K")


@dataclass(frozen=True)
class MetricInfo:
    """How a metric is presented.

    Attributes
    ----------
    metric : type
        The class; its name, its direction and what it needs of a forecast are attributes of the class.
    title : str
        For headings.
    short : str
        For the heading of a narrow column.
    axis_label : str
        For an axis, with the unit.
    explanation : str
        What it measures, in a sentence.
    goal : float, default=None
        The best value, if neither high nor low values are good.
    direction : str, default=""
        Which values are good. Empty: derived from the class and the goal.
    """

    metric: type[Metric[Any, float]]
    title: str
    short: str
    axis_label: str
    explanation: str
    goal: float | None = None
    direction: str = ""

    def __post_init__(self) -> None:
        if not self.direction:
            which = "higher" if self.metric.greater_is_better else "lower"
            which = which if self.goal is None else f"closer to {self.goal:g}"
            object.__setattr__(self, "direction", f"{which} is better")

    def best(self, values: Mapping[K, float]) -> K | None:
        """The key of the best value; None if fewer than two values exist."""
        known = {key: value for key, value in values.items() if value == value}
        return min(known, key=lambda key: self._loss(known[key])) if len(known) > 1 else None

    def _loss(self, value: float) -> float:
        if self.goal is not None:
            return abs(value - self.goal)
        return -value if self.metric.greater_is_better else value


_ENTRIES = (
    MetricInfo(
        Accuracy,
        "Accuracy",
        "accuracy",
        "share of rows classified correctly",
        "Share of rows whose predicted class was correct.",
    ),
    MetricInfo(
        Auc,
        "AUC",
        "AUC",
        "area under the ROC curve",
        "How well the probabilities rank the rows; guessing gives 0.5.",
    ),
    MetricInfo(
        HMeasure,
        "H-measure",
        "H-measure",
        "H-measure",
        "How well the probabilities rank the rows, with the same distribution of costs for all forecasters.",
    ),
    MetricInfo(
        LogLoss,
        "Log loss",
        "log loss",
        "log loss (nats per row)",
        "Mean of minus the log probability of the observed class; confident errors cost most.",
    ),
    MetricInfo(Brier, "Brier score", "Brier", "Brier score", "Squared error of the probabilities."),
    MetricInfo(
        Ece,
        "Calibration error",
        "ECE",
        "expected calibration error",
        "Difference between the predicted probabilities and the observed frequencies.",
    ),
    MetricInfo(
        Rmse, "RMSE", "RMSE", "RMSE (units of the target)", "Typical size of the error; large errors count most."
    ),
    MetricInfo(Mae, "MAE", "MAE", "MAE (units of the target)", "Mean absolute error."),
    MetricInfo(
        LogScore,
        "Log score",
        "log score",
        "log predictive density (nats per row)",
        "Mean log predictive density of the observed targets.",
    ),
    MetricInfo(
        Crps,
        "CRPS",
        "CRPS",
        "CRPS (units of the target)",
        "Distance between the predictive distribution and the observed target.",
    ),
    MetricInfo(
        Coverage90,
        "Coverage of 90 % intervals",
        "90 % covers",
        "share of rows inside",
        "Share of rows whose target fell inside the 90 % interval.",
        goal=0.9,
    ),
    MetricInfo(
        Width90,
        "Width of 90 % intervals",
        "width",
        "mean width (units of the target)",
        "How wide the intervals are; compare it only between forecasters whose coverage is near 0.9.",
        direction="narrower is sharper",
    ),
)

METRIC_INFO: Mapping[str, MetricInfo] = MappingProxyType({info.metric.name: info for info in _ENTRIES})
METRICS: Mapping[str, type[Metric[Any, float]]] = MappingProxyType(
    {name: info.metric for name, info in METRIC_INFO.items()}
)
CLASSIFICATION_METRICS: Mapping[str, type[Metric[ClassForecast, float]]] = MappingProxyType(
    {name: metric for name, metric in METRICS.items() if metric.forecast_type is ClassForecast}
)
REGRESSION_METRICS: Mapping[str, type[Metric[RegressionForecast, float]]] = MappingProxyType(
    {name: metric for name, metric in METRICS.items() if metric.forecast_type is RegressionForecast}
)

HEADLINE: Mapping[Task, str] = MappingProxyType({"regression": "rmse", "classification": "log_loss"})
"""The metric that sums up a run in one sentence, by task."""

_MOST_IMPORTANT = ("rmse", "log_score", "coverage90", "width90", "accuracy", "log_loss", "auc", "brier")


def by_importance(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """The metrics that a reader wants to see first, most important first, and the rest."""
    given = list(names)
    return [name for name in _MOST_IMPORTANT if name in given], [name for name in given if name not in _MOST_IMPORTANT]

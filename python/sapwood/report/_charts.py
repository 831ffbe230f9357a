"""The pictures of a report, by section, each with a caption that explains how to read it."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from sapwood import plot
from sapwood._base import DynamicTreeEstimator
from sapwood._fitted import native
from sapwood.metrics._registry import METRIC_INFO, by_importance
from sapwood.plot._variables import split_use
from sapwood.prequential.result import EvaluationResult
from sapwood.report._picture import Picture

_MOST_CLASSES = 10  # curves that can be told apart in one picture


def _sapwood(result: EvaluationResult) -> Any:
    """Return the model if it is Sapwood's and fitted; otherwise None."""
    model = result.model
    return model if isinstance(model, DynamicTreeEstimator) and model.__sklearn_is_fitted__() else None


def _names(result: EvaluationResult, model: Any) -> list[str] | None:
    """Return the names of the stream's columns if they are those of the model."""
    return list(result.feature_names) if len(result.feature_names) == native(model).n_inputs else None


def _most_used(model: Any, n_inputs: int) -> list[int]:
    """Return the inputs on which the trees split most, in descending order."""
    order: list[int] = np.argsort(-split_use(model)[: native(model).n_inputs], kind="stable")[:n_inputs].tolist()
    return order


def scores(result: EvaluationResult) -> list[Picture]:
    """Every score over time, the most important first."""
    if not len(result.scores["row"]):
        return []
    important, others = by_importance(result.metrics)
    return [
        Picture(
            f"score-{name.replace('_', '-')}",
            partial(plot.ScoresDisplay.from_result, result, name),
            f"{METRIC_INFO[name].explanation} {METRIC_INFO[name].direction.capitalize()}.",
            aside=name in others,
        )
        for name in [*important, *others]
    ]


def last_rows(result: EvaluationResult) -> list[Picture]:
    """Forecasts and observed targets, row by row."""
    if result.task != "regression" or not len(result.predictions["row"]):
        return []
    caption = (
        "Each bar is the 90 % predictive interval of the target, computed before the row was seen. About one row in "
        "ten should fall outside."
    )
    if np.isnan(result.predictions["lower"]).all():
        caption = "The mean that the model predicted before each row was seen, and the observed target."
    return [Picture("last-rows", partial(plot.PredictionsDisplay.from_result, result), caption, wide=True)]


def calibration(result: EvaluationResult) -> list[Picture]:
    """Whether the forecasts are calibrated."""
    if result.n_scored == 0:
        return []
    if result.reliability is not None:
        caption = (
            "How often the predicted class was correct, against its probability. Below the diagonal the forecasts are "
            "overconfident, above it underconfident."
        )
        return [Picture("reliability", partial(plot.ReliabilityDisplay.from_result, result), caption)]
    if result.pit_counts is None or not result.pit_counts.sum() > 0:  # NaN if the model forecasts only a mean
        return []
    return [
        Picture(
            "pit",
            partial(plot.PitDisplay.from_result, result),
            "Where each target fell in its predictive distribution. A hump in the middle means that intervals are too "
            "wide, a U shape that they are too narrow, a slope that forecasts are biased.",
        ),
        Picture(
            "coverage",
            partial(plot.CoverageDisplay.from_result, result),
            "The share of rows inside the intervals of each level, against the nominal share.",
        ),
    ]


def learned(result: EvaluationResult) -> list[Picture]:
    """The predictive distribution along inputs, and which of them the trees split on."""
    model = _sapwood(result)
    if model is None:
        return []
    names, target = _names(result, model), result.target or "target"
    slices = Picture(
        "slices",
        partial(plot.PredictiveSliceDisplay.from_estimator, model, feature_names=names, target=target),
        "What the model would predict now, along one input at a time. The ticks at the bottom are the active "
        "observations; far from them the curve is extrapolation.",
        wide=True,
    )
    use = Picture(
        "variables",
        partial(plot.VariableUseDisplay.from_estimator, model, feature_names=names, most=12),
        "How often the trees split on each input."
        + " Linear leaves also use inputs on which no tree splits." * (result.classes is None),
        wide=True,
    )
    too_many = result.classes is not None and len(result.classes) > _MOST_CLASSES
    return [use] if too_many else [slices, use]


def memory(result: EvaluationResult) -> list[Picture]:
    """The bank and the forgetting factor through the stream."""
    if not len(result.beliefs):
        return []
    bank = Picture(
        "bank",
        partial(plot.BankHistoryDisplay.from_result, result),
        "Clouds with small pools follow fast changes; clouds with large pools are more accurate while a stream is "
        "stationary. Each is weighted by its recent predictive performance.",
    )
    forgetting = Picture(
        "forgetting",
        partial(plot.ForgettingHistoryDisplay.from_result, result),
        "How much of the retired statistics the trees keep. A drop marks a change in the stream.",
    )
    return [forgetting] if len(result.beliefs.members) == 1 else [bank, forgetting]


def pool(result: EvaluationResult) -> list[Picture]:
    """Where the active observations are now, and where they were during the run."""
    model = _sapwood(result)
    if model is None:
        return []
    names, target = _names(result, model), result.target or "target"
    features, where = None, ""
    if native(model).n_inputs > 1:
        first, second = _most_used(model, 2)
        features, where = (first, second), ", over the two inputs it splits on most"
    now = Picture(
        "pool",
        partial(plot.PoolDisplay.from_estimator, model, features, feature_names=names, target=target),
        f"The observations that the model still stores individually{where}. Older ones are kept only as statistics of "
        "the leaves.",
    )
    if not len(result.pool):
        return [now]
    moved = Picture(
        "pool-history",
        partial(plot.PoolHistoryDisplay.from_result, result, _most_used(model, 1)[0]),
        "Where the active observations were along one input in the course of the stream. The pool follows the inputs "
        "when they drift; active discarding concentrates it where predictions are least certain.",
    )
    return [now, moved]


def trees(result: EvaluationResult) -> list[Picture]:
    """Size of the trees through the stream and now, and one of them."""
    model = _sapwood(result)
    if model is None:
        return []
    history = Picture(
        "tree-history",
        partial(plot.TreeHistoryDisplay.from_result, result),
        "Trees grow while the stream shows structure, and shrink when that structure changes.",
    )
    heights = Picture(
        "tree-heights",
        partial(plot.TreeHeightDisplay.from_estimator, model),
        "Trees at the end of the run; clouds count by their weight in the bank.",
    )
    one = Picture(
        "tree",
        partial(plot.TreeDisplay.from_estimator, model, feature_names=_names(result, model), max_depth=3),
        "One of the trees of the cloud with the largest weight. All trees of a cloud are equally likely; a prediction "
        "averages over them.",
        wide=True,
    )
    return [*([history] if len(result.beliefs) else []), heights, one]


SECTIONS = (scores, last_rows, calibration, learned, memory, pool, trees)
"""In the order of the report."""

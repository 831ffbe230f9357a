"""The pictures of a report, by section, each with a caption that says how to read it."""

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
    """The model, if it is ours and has learned something; otherwise None."""
    model = result.model
    return model if isinstance(model, DynamicTreeEstimator) and model.__sklearn_is_fitted__() else None


def _names(result: EvaluationResult, model: Any) -> list[str] | None:
    """The names of the stream's columns, where they are those of the model."""
    return list(result.feature_names) if len(result.feature_names) == native(model).n_inputs else None


def _most_used(model: Any, n_inputs: int) -> list[int]:
    """The inputs the trees split on most, the first of them first."""
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
    """Forecasts and what came, row by row."""
    if result.task != "regression" or not len(result.predictions["row"]):
        return []
    caption = (
        "Each bar is the interval that was to hold the target with 90 % probability, given before the row was seen. "
        "About one row in ten should fall outside."
    )
    if np.isnan(result.predictions["lower"]).all():
        caption = "What the model expected before each row was seen, and what came."
    return [Picture("last-rows", partial(plot.PredictionsDisplay.from_result, result), caption, wide=True)]


def calibration(result: EvaluationResult) -> list[Picture]:
    """Whether the forecasts mean what they say."""
    if result.n_scored == 0:
        return []
    if result.reliability is not None:
        caption = (
            "How often the announced class was right, against the probability it was given. Below the diagonal the "
            "forecasts claim too much, above it too little."
        )
        return [Picture("reliability", partial(plot.ReliabilityDisplay.from_result, result), caption)]
    if result.pit_counts is None or not result.pit_counts.sum() > 0:  # NaN where a model forecasts a mean only
        return []
    return [
        Picture(
            "pit",
            partial(plot.PitDisplay.from_result, result),
            "Where in its predictive distribution each target fell. A hump in the middle means that intervals are too "
            "wide, high ends that they are too narrow, a slope that forecasts are biased.",
        ),
        Picture(
            "coverage",
            partial(plot.CoverageDisplay.from_result, result),
            "Intervals of every level: the share of rows that fell inside, against the share that should.",
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
        "What the model would predict now, along one input at a time. Ticks at the foot are the active observations: "
        "far from them, do not trust the curve.",
        wide=True,
    )
    use = Picture(
        "variables",
        partial(plot.VariableUseDisplay.from_estimator, model, feature_names=names, most=12),
        "Where the model looks." + " Linear leaves also use inputs on which no tree splits." * (result.classes is None),
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
        "Clouds with small pools follow fast changes, clouds with large pools know more about a stream at rest. Each "
        "is weighted by how well it has predicted lately.",
    )
    forgetting = Picture(
        "forgetting",
        partial(plot.ForgettingHistoryDisplay.from_result, result),
        "How much of what has retired the trees keep. A drop marks a change in the stream.",
    )
    return [forgetting] if len(result.beliefs.members) == 1 else [bank, forgetting]


def pool(result: EvaluationResult) -> list[Picture]:
    """Where the active observations lie, and where they lay."""
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
        f"The observations the model still knows one by one{where}. Everything older lives on in the leaves only.",
    )
    if not len(result.pool):
        return [now]
    moved = Picture(
        "pool-history",
        partial(plot.PoolHistoryDisplay.from_result, result, _most_used(model, 1)[0]),
        "Where these observations lay along one input as the stream went on. The pool follows the inputs when they "
        "move; rules that choose what to keep may gather it where predictions are least certain.",
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
        "Trees grow while a stream shows structure, and fall when what they knew stops being true.",
    )
    heights = Picture(
        "tree-heights",
        partial(plot.TreeHeightDisplay.from_estimator, model),
        "Trees at the end of the run, clouds counted by their weight in the bank.",
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

"""The pictures of a report, by section, each with a caption that says how to read it."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from sapwood import plot
from sapwood._base import DynamicTreeEstimator
from sapwood.plot._variables import split_use
from sapwood.plot._words import METRIC_WORDS
from sapwood.report._html import Html, element, join
from sapwood.report._svg import figure
from sapwood.stream.result import EvaluationResult

_FIRST_SCORES = ("rmse", "log_score", "coverage90", "width90", "accuracy", "log_loss", "auc", "brier")
_MOST_CLASSES = 10  # curves that can be told apart in one picture


def _side_by_side(*figures: Html) -> Html:
    return element("div", *figures, class_="figures")


def _sapwood(result: EvaluationResult) -> Any:
    """The model, if it is ours and has learned something; otherwise None."""
    model = result.model
    return model if isinstance(model, DynamicTreeEstimator) and model.__sklearn_is_fitted__() else None


def _names(result: EvaluationResult, model: Any) -> list[str] | None:
    """The names of the stream's columns, where they are those of the model."""
    return list(result.feature_names) if len(result.feature_names) == model.n_features_in_ else None


def scores(result: EvaluationResult) -> Html:
    """Every score over time: those that say most at once, the others on demand."""
    if not len(result.scores["row"]):
        return Html("")
    drawn = {
        name: figure(partial(plot.ScoresDisplay.from_result, result, name), _score_caption(name))
        for name in result.metrics
    }
    first = [drawn.pop(name) for name in _FIRST_SCORES if name in drawn]
    rest = list(drawn.values())
    if not rest:
        return _side_by_side(*first)
    more = element("details", element("summary", f"{len(rest)} more scores over time"), _side_by_side(*rest))
    return _side_by_side(*first) + more


def _score_caption(metric: str) -> str:
    words = METRIC_WORDS[metric]
    return f"{words.meaning} {words.better.capitalize()}."


def last_rows(result: EvaluationResult) -> Html:
    """Forecasts and what came, row by row."""
    if result.task != "regression" or not len(result.predictions["row"]):
        return Html("")
    caption = (
        "Each bar is the interval that was to hold the target with 90 % probability, given before the row was seen. "
        "About one row in ten should fall outside."
    )
    return figure(lambda: plot.PredictionsDisplay.from_result(result), caption, wide=True)


def calibration(result: EvaluationResult) -> Html:
    """Whether the forecasts mean what they say."""
    if result.n_scored == 0:
        return Html("")
    if result.reliability is not None:
        caption = (
            "How often the announced class was right, against the probability it was given. Below the diagonal the "
            "forecasts claim too much, above it too little."
        )
        return _side_by_side(figure(lambda: plot.ReliabilityDisplay.from_result(result), caption))
    if result.pit_counts is None or not result.pit_counts.sum() > 0:  # NaN where a model forecasts a mean only
        return Html("")
    return _side_by_side(
        figure(
            lambda: plot.PitDisplay.from_result(result),
            "Where in its predictive distribution each target fell. A hump in the middle means that intervals are too "
            "wide, high ends that they are too narrow, a slope that forecasts are biased.",
        ),
        figure(
            lambda: plot.CoverageDisplay.from_result(result),
            "Intervals of every level: the share of rows that fell inside, against the share that should.",
        ),
    )


def learned(result: EvaluationResult) -> Html:
    """The predictive distribution along inputs, and which of them the trees split on."""
    model = _sapwood(result)
    if model is None:
        return Html("")
    names = _names(result, model)
    use = figure(
        lambda: plot.VariableUseDisplay.from_estimator(model, feature_names=names, most=12),
        "Where the model looks." + " Linear leaves also use inputs on which no tree splits." * (result.classes is None),
        wide=True,
    )
    if result.classes is not None and len(result.classes) > _MOST_CLASSES:
        return use
    slices = figure(
        lambda: plot.PredictiveSliceDisplay.from_estimator(
            model, feature_names=names, target=result.target or "target"
        ),
        "What the model would predict now, along one input at a time. Ticks at the foot are the active observations: "
        "far from them, do not trust the curve.",
        wide=True,
    )
    return join([slices, use])


def memory(result: EvaluationResult) -> Html:
    """The bank and the forgetting factor through the stream."""
    if not len(result.beliefs):
        return Html("")
    forgetting = figure(
        lambda: plot.ForgettingHistoryDisplay.from_result(result),
        "How much of what has retired the trees keep. A drop marks a change in the stream.",
    )
    if len(result.beliefs.members) == 1:
        return _side_by_side(forgetting)
    bank = figure(
        lambda: plot.BankHistoryDisplay.from_result(result),
        "Clouds with small pools follow fast changes, clouds with large pools know more about a stream at rest. Each "
        "is weighted by how well it has predicted lately.",
    )
    return _side_by_side(bank, forgetting)


def pool(result: EvaluationResult) -> Html:
    """Where the active observations lie."""
    model = _sapwood(result)
    if model is None:
        return Html("")
    names, target = _names(result, model), result.target or "target"
    features, where = None, ""
    if model.n_features_in_ > 1:
        first, second = np.argsort(-split_use(model)[: model.n_features_in_], kind="stable")[:2].tolist()
        features, where = (first, second), ", over the two inputs it splits on most"
    caption = f"The observations the model still knows one by one{where}. Everything older lives on in the leaves only."
    return _side_by_side(
        figure(lambda: plot.PoolDisplay.from_estimator(model, features, feature_names=names, target=target), caption)
    )


def trees(result: EvaluationResult) -> Html:
    """Size of the trees through the stream and now, and one of them."""
    model = _sapwood(result)
    if model is None:
        return Html("")
    names = _names(result, model)
    figures = [
        figure(
            lambda: plot.TreeHeightDisplay.from_estimator(model),
            "Trees at the end of the run, clouds counted by their weight in the bank.",
        ),
    ]
    if len(result.beliefs):
        history = figure(
            lambda: plot.TreeHistoryDisplay.from_result(result),
            "Trees grow while a stream shows structure, and fall when what they knew stops being true.",
        )
        figures.insert(0, history)
    one = figure(
        lambda: plot.TreeDisplay.from_estimator(model, feature_names=names, max_depth=3),
        "One of the trees of the cloud with the largest weight. All trees of a cloud are equally likely; a prediction "
        "averages over them.",
        wide=True,
    )
    return join([_side_by_side(*figures), one])

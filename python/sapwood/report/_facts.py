"""The text and the tables of a report, as data for the templates."""

from __future__ import annotations

import math
import platform
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np

import sapwood
from sapwood._base import DynamicTreeEstimator
from sapwood._formats import duration, number
from sapwood.metrics._registry import HEADLINE, METRIC_INFO
from sapwood.prequential.result import MODEL, EvaluationResult, forecaster_title

_MOST_NAMES = 30


def title(result: EvaluationResult) -> str:
    """What was learned from what."""
    source = _source(result)
    return f"{result.target} from {source}" if result.target else source


def _source(result: EvaluationResult) -> str:
    source = str(result.settings.get("source") or "<nothing>")
    if source == "-":
        return "standard input"
    return "a stream" if source.startswith("<") else PurePath(source).name or source


def _title(result: EvaluationResult, forecaster: str) -> str:
    ours = forecaster != MODEL or isinstance(result.model, DynamicTreeEstimator)
    return forecaster_title(forecaster) if ours else type(result.model).__name__


def summary(result: EvaluationResult) -> str:
    """Summarise the run in two sentences: the score, and those of the baselines."""
    rows = f"{result.n_scored:,} rows were forecast before they were learned, and scored."
    stopped = " The run was stopped before the end of the source." if result.interrupted else ""
    metric = HEADLINE[result.task]
    metric = metric if metric in result.metrics else (result.metrics[0] if result.metrics else "")
    overall = result.overall()
    ours = overall[MODEL].get(metric, math.nan)
    theirs = {name: overall[name].get(metric, math.nan) for name in result.baselines}
    if math.isnan(ours) or not theirs or any(map(math.isnan, theirs.values())):
        return rows + stopped
    beside = ", ".join(f"{_title(result, name)} {typographic(number(value))}" for name, value in theirs.items())
    info = METRIC_INFO[metric]
    sentence = f"{info.title} is {typographic(number(ours))}; baselines: {beside} ({info.direction})."
    return f"{rows} {sentence}{stopped}"


@dataclass(frozen=True)
class Score:
    """A cell of the table of scores."""

    value: float
    is_best: bool


@dataclass(frozen=True)
class ScoreRow:
    """The scores of one metric, forecaster by forecaster and group by group."""

    title: str
    direction: str
    cells: list[Score]


@dataclass(frozen=True)
class ScoreTable:
    """Every score of the model and the baselines, over all rows and over the last window."""

    groups: list[str]
    forecasters: list[str]
    rows: list[ScoreRow]


def score_table(result: EvaluationResult) -> ScoreTable:
    """Collect the scores."""
    window = result.settings.get("window")
    groups = {f"all {result.n_scored:,} rows": result.overall()}
    if window and window < result.n_scored:
        groups[f"last {window:,} rows"] = result.recent()
    rows = []
    for metric in result.metrics:
        info, cells = METRIC_INFO[metric], []
        for scores in groups.values():
            values = {name: scores[name][metric] for name in result.forecasters}
            best = info.best(values)
            cells += [Score(value, name == best) for name, value in values.items()]
        rows.append(ScoreRow(info.title, info.direction, cells))
    return ScoreTable(list(groups), [_title(result, name) for name in result.forecasters], rows)


@dataclass(frozen=True)
class RunFacts:
    """Source, rows, time and versions by name, and the settings by group."""

    facts: dict[str, str | None]
    settings: dict[str, dict[str, str]]


def what_ran(result: EvaluationResult) -> RunFacts:
    """Collect what ran on what, and how long it took."""
    settings = dict(result.settings)
    parameters = settings.pop("model", {})
    timings, classes = result.timings, result.classes
    facts = {
        "Source": str(settings.pop("source", None) or "a stream"),
        "Target": result.target or "(not named)",
        "Task": result.task,
        "Inputs": f"{len(result.feature_names)}: {_listed(result.feature_names)}",
        "Classes": None if classes is None else f"{len(classes)}: {_listed(map(str, classes))}",
        "Rows": f"{result.n_rows:,} forecast, {result.n_scored:,} scored, {result.n_learned:,} learned, "
        f"{result.n_bad:,} left out",
        "Model": type(result.model).__name__,
        "Time": f"{duration(timings.total)}, of which {_share(timings.engine, timings.total)} in the model; "
        f"{timings.rows_per_second:,.0f} rows per second",
        "Predictions": result.predictions_path,
        "Versions": f"Sapwood {sapwood.__version__}, Python {platform.python_version()}, numpy {np.__version__}, "
        f"{platform.system()} {platform.machine()}",
    }
    others = {name: value for name, value in settings.items() if name not in ("task", "target", "predictions")}
    groups = {"Parameters of the model": parameters, "Settings of the run": others}
    return RunFacts(
        facts, {title: {str(key): repr(value) for key, value in group.items()} for title, group in groups.items()}
    )


def left_out(result: EvaluationResult) -> list[tuple[str, str]] | None:
    """Number of rows left out, by reason; None if there is nothing to note about the run at all."""
    if not (result.interrupted or result.n_bad or result.notes):
        return None
    return [(reason, f"{count:,}") for reason, count in result.bad_reasons.items()]


@dataclass(frozen=True)
class Usage:
    """What a reader needs to use the model."""

    path: str
    is_saved: bool
    columns: str


def usage(result: EvaluationResult, model_path: str | None) -> Usage | None:
    """Return what a reader needs to use the model; None if it is not Sapwood's."""
    if not isinstance(result.model, DynamicTreeEstimator):
        return None
    return Usage(model_path or "model.sap", model_path is not None, _listed(result.feature_names))


def typographic(text: str) -> str:
    """Replace the ASCII of a formatted number by a minus sign, an infinity sign, or a dash if it is undefined."""
    return "–" if text == "-" else text.replace("-", "−").replace("inf", "∞")


def _listed(names: Any) -> str:
    listed = list(names)
    rest = len(listed) - _MOST_NAMES
    return ", ".join(listed[:_MOST_NAMES]) + (f" and {rest} more" if rest > 0 else "")


def _share(part: float, whole: float) -> str:
    return f"{part / whole:.0%}".replace("%", " %") if whole > 0 else "–"

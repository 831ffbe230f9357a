"""The words, tables and code of a report."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import numpy as np

import sapwood
from sapwood._base import DynamicTreeEstimator
from sapwood.metrics._registry import HEADLINE, METRIC_INFO
from sapwood.prequential.result import MODEL, EvaluationResult, forecaster_title
from sapwood.report._html import Html, element, join, scrolling, table

_MOST_NAMES = 30


def version() -> str:
    """Sapwood's version."""
    return sapwood.__version__


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


def summary(result: EvaluationResult) -> Html:
    """The run in two sentences: how well, against what."""
    rows = f"{result.n_scored:,} rows were forecast before they were learned, and scored."
    stopped = " The run was stopped before the end of the source." if result.interrupted else ""
    metric = HEADLINE[result.task]
    metric = metric if metric in result.metrics else (result.metrics[0] if result.metrics else "")
    overall = result.overall()
    ours = overall[MODEL].get(metric, math.nan)
    theirs = {name: overall[name].get(metric, math.nan) for name in result.baselines}
    if math.isnan(ours) or not theirs or any(map(math.isnan, theirs.values())):
        return element("p", rows + stopped, class_="lead")
    beside = ", ".join(f"{_title(result, name)} {number(value)}" for name, value in theirs.items())
    info = METRIC_INFO[metric]
    sentence = f"{info.title} is {number(ours)}; baselines: {beside} ({info.direction})."
    return element("p", f"{rows} {sentence}{stopped}", class_="lead")


def score_table(result: EvaluationResult) -> Html:
    """Every score of the model and the baselines, over all rows and over the last window."""
    window = result.settings.get("window")
    parts = [(f"all {result.n_scored:,} rows", result.overall())]
    if window and window < result.n_scored:
        parts.append((f"last {window:,} rows", result.recent()))
    group = Html("").join(
        element("th", text, colspan=str(len(result.forecasters)), scope="colgroup") for text, _ in parts
    )
    names = Html("").join(
        element("th", _title(result, name), scope="col") for _ in parts for name in result.forecasters
    )
    rows = []
    for metric in result.metrics:
        info = METRIC_INFO[metric]
        cells = [
            cell
            for _, values in parts
            for cell in _marked(metric, [values[name][metric] for name in result.forecasters])
        ]
        label = element("th", info.title, element("small", info.direction), scope="row")
        rows.append(element("tr", label, *cells))
    head = element(
        "thead",
        element("tr", element("th", "score", scope="col", rowspan="2"), Html(group)),
        element("tr", Html(names)),
    )
    caption = element("caption", "Bold is best in its group. Baselines see only past targets.")
    return scrolling(element("table", caption, head, element("tbody", *rows), class_="scores"), "Scores")


def _marked(metric: str, values: list[float]) -> list[Html]:
    """Cells of one metric, the best among them in bold."""
    best = METRIC_INFO[metric].best(dict(enumerate(values)))
    return [
        element("td", element("strong", number(value)) if ix == best else number(value))
        for ix, value in enumerate(values)
    ]


def what_ran(result: EvaluationResult) -> Html:
    """Source, rows, time, settings and versions."""
    settings = dict(result.settings)
    parameters = settings.pop("model", {})
    facts = {
        "Source": settings.pop("source", None) or "a stream",
        "Target": result.target or "(not named)",
        "Task": result.task,
        "Inputs": f"{len(result.feature_names)}: {_listed(result.feature_names)}",
        "Classes": None if result.classes is None else f"{len(result.classes)}: {_listed(map(str, result.classes))}",
        "Rows": f"{result.n_rows:,} forecast, {result.n_scored:,} scored, {result.n_learned:,} learned, "
        f"{result.n_bad:,} left out",
        "Model": type(result.model).__name__,
        "Time": f"{_duration(result.timings.total)}, of which {_share(result.timings.engine, result.timings.total)} in "
        f"the model; {result.timings.rows_per_second:,.0f} rows a second",
        "Predictions": result.predictions_path,
        "Versions": f"Sapwood {version()}, Python {platform.python_version()}, numpy {np.__version__}, "
        f"{platform.system()} {platform.machine()}",
    }
    pairs = Html("").join(
        element("dt", name) + element("dd", str(value)) for name, value in facts.items() if value is not None
    )
    shown = {name: value for name, value in settings.items() if name not in ("task", "target", "predictions")}
    return join(
        [
            element("dl", Html(pairs)),
            _settings("Parameters of the model", parameters),
            _settings("Settings of the run", shown),
        ]
    )


def _settings(name: str, values: Mapping[str, Any]) -> Html:
    if not values:
        return Html("")
    rows = [(str(key), element("code", repr(value))) for key, value in values.items()]
    return element("details", element("summary", name), table(("name", "value"), rows, name))


def notes(result: EvaluationResult) -> Html:
    """Rows left out and why, and what the source had to say."""
    parts: list[Html] = []
    if result.interrupted:
        parts.append(element("p", "The run was stopped before the end of the source; these are the rows so far."))
    if result.n_bad:
        reasons = [(reason, f"{count:,}") for reason, count in result.bad_reasons.items()]
        parts.append(element("p", f"{result.n_bad:,} rows of the source could not be used and were left out."))
        parts.append(table(("reason", "rows"), reasons, "Rows left out"))
    if result.notes:
        parts.append(element("ul", *(element("li", note) for note in result.notes)))
    return join(parts)


def how_to_load(result: EvaluationResult, model_path: str | None) -> Html:
    """The lines that bring the model back."""
    if not isinstance(result.model, DynamicTreeEstimator):
        return Html("")
    name = model_path or "model.sap"
    made = (
        ""
        if model_path
        else f'result.model.save("{name}")  # after evaluate(), or: sapwood learn ... --save {name}\n\n'
    )
    ask = (
        "mean = model.predict(X)\nlower, upper = model.predict_dist(X).interval(0.9)"
        if result.task == "regression"
        else "label = model.predict(X)\nproba = model.predict_proba(X)  # columns follow model.classes_"
    )
    code = f'{made}import sapwood\n\nmodel = sapwood.load("{name}")\n{ask}'
    columns = _listed(result.feature_names)
    return join(
        [
            element("pre", element("code", code)),
            element("p", f"The columns of X, in this order: {columns}. Missing values are NaN."),
            element(
                "p",
                "On the command line: ",
                element("code", f"sapwood predict {name} SOURCE"),
                " and ",
                element("code", f"sapwood inspect {name}"),
                ".",
            ),
        ]
    )


def number(value: float) -> str:
    """Four significant digits, and a dash for what does not exist."""
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value != 0 and not 1e-4 <= abs(value) < 1e6:
        return f"{value:.3e}".replace("-", "−")
    digits = max(0, 3 - math.floor(math.log10(abs(value)))) if value else 3
    return f"{value:,.{min(digits, 4)}f}".replace("-", "−")


def _listed(names: Any) -> str:
    listed = list(names)
    rest = len(listed) - _MOST_NAMES
    return ", ".join(listed[:_MOST_NAMES]) + (f" and {rest} more" if rest > 0 else "")


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def _share(part: float, whole: float) -> str:
    return f"{part / whole:.0%}".replace("%", " %") if whole > 0 else "–"

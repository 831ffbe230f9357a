"""Test-then-train over a stream: measure a model's forecasts while it learns."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from sapwood._base import DynamicTreeEstimator
from sapwood._fitted import is_fitted
from sapwood.prequential.files.printed import PrintedPredictions
from sapwood.prequential.learners import task_of
from sapwood.prequential.progress_lines import ProgressLines
from sapwood.prequential.result import EvaluationResult
from sapwood.prequential.run import Progress, open_run
from sapwood.prequential.settings import (
    FileSettings,
    LabelSettings,
    ScoreSettings,
    Settings,
    SourceSettings,
    choose_metrics,
)
from sapwood.prequential.stopping import StopRequest


# The many parameters are the public interface; they are grouped into `Settings` at once.
def evaluate(
    model: Any,
    source: Any,
    metrics: Iterable[str] | None = None,
    *,
    target: str | None = None,
    source_options: Mapping[str, Any] | None = None,
    delay: int = 0,
    labels: Any = None,
    key: str | None = None,
    label_wait: int = 10_000,
    warm_up: int = 0,
    window: int = 1000,
    max_rows: int | None = None,
    lags: int | Literal["auto"] | None = "auto",
    keep: int | None = 100_000,
    predictions: str | os.PathLike[str] | PrintedPredictions | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: int = 10_000,
    resume: bool = False,
    settings: Mapping[str, Any] | None = None,
    progress: Callable[[Progress], None] | bool | None = None,
    stop: StopRequest | None = None,
) -> EvaluationResult:
    """Forecast every row of a stream, score the forecast, then learn the row: one pass, in order, in place.

    Parameters
    ----------
    model : estimator
        A Sapwood estimator, fitted or not. For comparison also a scikit-learn classifier or regressor with
        ``partial_fit``, or a river model; those are driven row by row, which is slow.
    source : Source, or anything `open_source` accepts
    metrics : iterable of str, default=None
        Names from :data:`sapwood.metrics.METRICS`. None: all that apply to the task (RMSE and MAE for regressors that
        only predict a mean).
    target : str, default=None
        The target column, if `source` is not open yet.
    source_options : mapping, default=None
        Further arguments of :func:`open_source`, if `source` is not open yet.
    delay : int, default=0
        How many rows late labels arrive: row i is learned after row ``i + delay`` has been forecast. Labels still
        outstanding when the stream ends are learned then.
    labels : source, default=None
        A second source that holds the labels (in its column `target`) while `source` holds the inputs. If every row has
        a label, entry j arrives after row ``j + delay`` has been forecast; each row without one postpones those after
        it by one row.
    key : str, default=None
        The column, present in both sources, that matches labels to rows. None: both are in the same order. Without
        `labels`, a row without a target is forecast and waits for a later row of `source` with the same key, which
        brings its label and is not itself forecast. Such rows are learned with the inputs they were forecast from, but
        not scored.
    label_wait : int, default=10_000
        How many entries of `labels` to wait for a label beyond its turn, or how many rows may wait for a later row
        with their key. A row whose label does not arrive is forecast,
        but neither scored nor learned.
    warm_up : int, default=0
        Number of rows at the start that are learned but not scored.
    window : int, default=1000
        Number of rows in the rolling scores. Scores are recorded every half window, and less often in a long stream.
    max_rows : int, default=None
        Stop after this many rows of the source, if it is not open yet.
    lags : int, "auto" or None, default="auto"
        How many of the last targets an unfitted model also gets as inputs, unless it has `lags` of its own. "auto": the
        model's "auto" if labels arrive at once, none if they are late. None: leave the model as it is.
    keep : int or None, default=100_000
        How many of the last predictions the result holds. None: all.
    predictions : path, default=None
        A CSV or Parquet file to write the predictions of all rows to; ``"-"`` prints them, a line for each row as soon
        as it has been forecast.
    checkpoint : path, default=None
        A file from which the run can be resumed. It is replaced atomically, and the previous one is kept beside it.
    checkpoint_every : int, default=10_000
        Number of rows between checkpoints.
    resume : bool, default=False
        Continue from `checkpoint`, if it exists. The other arguments must be the same as before (`max_rows`, `progress`
        and `stop` may differ). Model and predictions are then, byte for byte, those of an uninterrupted run.
    settings : mapping, default=None
        Further JSON values to record in the result and in checkpoints, and to require unchanged on resuming.
    progress : callable or bool, default=None
        True: print a line on standard error now and then. A function is called with a :class:`Progress` a few times a
        second.
    stop : StopRequest, default=None
        Stops the run early but cleanly; the result is then marked ``interrupted``.

    Returns
    -------
    EvaluationResult

    Notes
    -----
    Baselines are always scored on the same rows as the model: "no_change" predicts the last target that arrived,
    "running_mean" or "majority" summarise all that arrived. The classes in the first batch of a classification are
    known from the start. The first row of any other class is learned but not scored, since no forecast could have
    included it.

    Examples
    --------
    >>> from sapwood import DynamicTreeRegressor
    >>> from sapwood.datasets import friedman
    >>> from sapwood.stream import evaluate
    >>> model = DynamicTreeRegressor(n_particles=50, max_active=100, random_state=0)
    >>> result = evaluate(model, friedman(n=500), warm_up=50)
    >>> scores = result.overall()
    >>> scores["model"]["rmse"] < scores["running_mean"]["rmse"] < scores["no_change"]["rmse"]
    True
    >>> model.n_seen_, result.n_scored
    (500, 450)
    """
    task = task_of(model)
    chosen = Settings(
        task=task,
        source=SourceSettings(source, dict(source_options or {}), max_rows),
        labels=LabelSettings(target, labels, key, delay, label_wait),
        scores=ScoreSettings(choose_metrics(metrics, task, model), warm_up, window, keep),
        files=FileSettings(
            PrintedPredictions() if predictions == "-" else predictions, checkpoint, checkpoint_every, resume
        ),
        extra=dict(settings or {}),
    )
    chosen.check(model)
    chosen.check_paths()
    if isinstance(model, DynamicTreeEstimator):
        _set_lags(model, lags, late=chosen.labels.are_late)
    stop = stop or StopRequest()
    report = _reporter(progress)
    with open_run(model, chosen, stop) as run:
        return run.go(report, stop)


def _reporter(progress: Callable[[Progress], None] | bool | None) -> Callable[[Progress], None] | None:
    if progress is None or isinstance(progress, bool):
        return ProgressLines() if progress else None
    if not callable(progress):
        raise ValueError(f"progress is {progress!r}; it must be True, False or a function of one argument")
    return progress


def _set_lags(model: DynamicTreeEstimator, lags: int | Literal["auto"] | None, *, late: bool) -> None:
    """Set the lags of a model that has neither started nor lags of its own; those of late labels would be stale."""
    if lags is not None and not is_fitted(model) and model.lags == 0:
        model.set_params(lags=(0 if late else "auto") if lags == "auto" else lags)

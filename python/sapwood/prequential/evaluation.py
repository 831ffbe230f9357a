"""Test-then-train over a stream: the way to learn what a model is worth while it learns."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sapwood._base import DynamicTreeEstimator
from sapwood._classifier import DynamicTreeClassifier
from sapwood._files import from_bytes, to_bytes
from sapwood._labels import LabelBook
from sapwood._regressor import DynamicTreeRegressor
from sapwood.prequential.files.checkpoint import Checkpoint, freeze, thaw
from sapwood.prequential.files.predictions import PredictionFile, open_predictions
from sapwood.prequential.late_labels import LateLabels
from sapwood.prequential.learners.engine import EngineLearner, Learner
from sapwood.prequential.learners.foreign import foreign_learner, task_of
from sapwood.prequential.loop import Prequential, predicted
from sapwood.prequential.result import EvaluationResult, Timings
from sapwood.prequential.row_feed import RowFeed
from sapwood.prequential.scoring import Scoring
from sapwood.prequential.settings import demand_same, in_json, metric_names, parameters_of
from sapwood.prequential.stopping import StopRequest
from sapwood.reading.encoding.target import Task
from sapwood.reading.errors import SourceError
from sapwood.reading.source import Source, open_source

_ESTIMATORS: dict[str, type[DynamicTreeEstimator]] = {
    "regression": DynamicTreeRegressor,
    "classification": DynamicTreeClassifier,
}


@dataclass(frozen=True)
class Progress:
    """How far a run is. Given to `progress` after every piece of the stream, a few times a second.

    Attributes
    ----------
    n_rows : int
        Rows forecast so far.
    n_total : int or None
        Rows there are, where that is known.
    fraction : float or None
        How much of the source has been read, from 0 to 1, where that can be told.
    seconds : float
        Time since the run began, not counting what came before a resume.
    n_now : int
        Rows forecast in this time.
    scores : callable
        Gives the scores over the window, by forecaster and metric; it takes a few milliseconds.
    """

    n_rows: int
    n_total: int | None
    fraction: float | None
    seconds: float
    n_now: int
    scores: Callable[[], dict[str, dict[str, float]]]


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
    predictions: str | os.PathLike[str] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: int = 10_000,
    resume: bool = False,
    settings: Mapping[str, Any] | None = None,
    progress: Callable[[Progress], None] | None = None,
    stop: StopRequest | None = None,
) -> EvaluationResult:
    """Forecast every row of a stream, score the forecast, and then learn the row: one pass, in order, in place.

    Parameters
    ----------
    model : estimator
        A Sapwood estimator, started or not. For comparison also a scikit-learn classifier or regressor with
        ``partial_fit``, or a river model: those are fed row by row, which is slow.
    source : Source, or anything `open_source` takes
    metrics : iterable of str, default=None
        Names of :data:`sapwood.metrics.METRICS`. None: all of the task (RMSE and MAE for models that forecast nothing
        but a mean).
    target : str, default=None
        The target column, where `source` has yet to be opened.
    source_options : mapping, default=None
        Further arguments of :func:`open_source`, where `source` has yet to be opened.
    delay : int, default=0
        Labels arrive so many rows late: row i is learned after row ``i + delay`` has been forecast. What is still
        missing when the stream ends is learned then.
    labels : source, default=None
        A second source that holds the labels (its column is `target`) while `source` holds the inputs. Its entry j
        arrives after row ``j + delay`` has been forecast, if all rows have labels; a row without one puts off those
        after it.
    key : str, default=None
        The column, in both sources, that says which label belongs to which row. None: they come in the same order.
    label_wait : int, default=10_000
        How many entries of `labels` behind its turn a label is waited for. A row whose label does not come is forecast,
        but neither scored nor learned.
    warm_up : int, default=0
        Rows at the start that are learned but not scored.
    window : int, default=1000
        Rows of the rolling scores. Scores are looked at every half window, and more rarely in a long stream.
    max_rows : int, default=None
        Stop after so many rows of the source, where it has yet to be opened.
    lags : int, "auto" or None, default="auto"
        How many of the last targets a model that has not started also sees as inputs, unless it has `lags` of its own.
        "auto": the model's "auto" where labels arrive at once, none where they are late. None: leave the model alone.
    keep : int or None, default=100_000
        How many of the last predictions the result holds. None: all.
    predictions : path, default=None
        A CSV or Parquet file to receive the predictions of all rows.
    checkpoint : path, default=None
        A file from which the run can be resumed. It is replaced atomically, and the one before is kept beside it.
    checkpoint_every : int, default=10_000
        Rows between two checkpoints.
    resume : bool, default=False
        Go on from `checkpoint`, if it exists. The other arguments must be as they were (`max_rows`, `progress` and
        `stop` may differ). Model and predictions are then, byte for byte, those of a run without interruption.
    settings : mapping, default=None
        What else to note in the result and in checkpoints, and to demand unchanged on resuming; fit for JSON.
    progress : callable, default=None
        Called with a :class:`Progress` a few times a second.
    stop : StopRequest, default=None
        Asks the run to stop early but cleanly; the result then says ``interrupted``.

    Returns
    -------
    EvaluationResult

    Notes
    -----
    Baselines are always scored beside the model, on the same rows: "no_change" says that the next target is the last
    one that arrived, "running_mean" or "majority" follow all that arrived. The labels of a classification's first
    batch are expected from the start; a row whose class was never met before is learned but not scored, for nobody
    could have foreseen it.

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
    for name, given, least in (
        ("delay", delay, 0),
        ("warm_up", warm_up, 0),
        ("window", window, 1),
        ("label_wait", label_wait, 0),
        ("checkpoint_every", checkpoint_every, 1),
        ("keep", keep, 0),
    ):
        if given is not None and given < least:
            raise ValueError(f"{name} is {given}; it must be at least {least}")
    if resume and checkpoint is None:
        raise ValueError("resume is True, but there is no checkpoint to resume from; name it with checkpoint=")
    if isinstance(model, DynamicTreeEstimator):
        if lags is not None and model._model is None and model.lags == 0:
            late = delay > 0 or labels is not None
            model.set_params(lags=(0 if late else "auto") if lags == "auto" else lags)
    elif checkpoint is not None:
        raise ValueError("a checkpoint can only be made of a Sapwood model; leave checkpoint out")
    task = model._task if isinstance(model, DynamicTreeEstimator) else task_of(model)
    chosen = metric_names(metrics, task, model)
    asked = {
        "task": task,
        "model": parameters_of(model),
        "source": in_json(source),
        "target": target,
        "source_options": {name: in_json(value) for name, value in (source_options or {}).items()},
        "labels": in_json(labels),
        "key": key,
        "metrics": list(chosen),
        "delay": delay,
        "label_wait": label_wait,
        "warm_up": warm_up,
        "window": window,
        "keep": keep,
        "predictions": in_json(predictions),
        **(settings or {}),
    }
    before = Checkpoint.read(checkpoint) if resume and checkpoint is not None else None
    if before is not None:
        demand_same(before.header["settings"], asked, os.fspath(checkpoint or ""))
    with stop.reading() if stop is not None else nullcontext():
        opened = _open(source, target, source_options, task, labels, key, max_rows, before)
    run = _Run(model, task, opened, asked, chosen, before)
    run.prepare(target, labels, key, delay, label_wait, stop, named=not _is_nameless(source))
    try:
        sink_state = before.header["predictions"] if before is not None else None
        run.loop.sink = None if predictions is None else open_predictions(predictions, sink_state)
        return run.go(checkpoint, checkpoint_every, progress, stop)
    finally:
        run.close()
        if opened is not source:
            opened.close()


class _Run:
    """One call of `evaluate`: the loop, its source and its files."""

    loop: Prequential
    incoming: RowFeed

    def __init__(
        self,
        model: Any,
        task: Task,
        source: Source,
        settings: dict[str, Any],
        metrics: tuple[str, ...],
        before: Checkpoint | None,
    ) -> None:
        self.model = model
        self.task: Task = task
        self.source = source
        self.settings = settings
        self.metrics = metrics
        self.before = before
        self.state = None if before is None else thaw(before.blobs["state"])
        self.seconds_before = 0.0 if before is None else float(before.header["seconds"])
        self.finished = False

    def prepare(
        self,
        target: str | None,
        labels: Any,
        key: str | None,
        delay: int,
        label_wait: int,
        stop: StopRequest | None,
        *,
        named: bool,
    ) -> None:
        """Make the loop as it was at the checkpoint, or as it is before the first row."""
        header = {} if self.before is None else self.before.header
        late = None
        if labels is not None:
            remembered = header.get("late", {"n_read": 0, "n_unlabelled": 0, "unmatched": []})
            late = LateLabels(
                labels,
                target=target,
                key=key,
                task=self.task,
                delay=delay,
                wait=label_wait,
                n_read=remembered["n_read"],
            )
            late.restore(remembered)
        book = getattr(self.model, "_labels", LabelBook.empty())
        if self.state is not None:
            book = LabelBook(*self.state["book"])
        self.incoming = RowFeed(self.source, self.task, delay, late, book)
        learner: Learner
        if isinstance(self.model, DynamicTreeEstimator):
            learner = EngineLearner(self.model, crps="crps" in self.metrics)
        else:
            learner = foreign_learner(self.model, self.task, self.source.feature_names)
        names = np.array(self.source.feature_names, dtype=object) if named else None
        if self.state is not None and self.before is not None:
            self._restore_model(self.before.blobs["model"])
            self.incoming.n_read = header["n_read"]
            self.incoming.held = self.state["held"]
        else:
            self._first_batch(learner, names, stop)
        self.loop = Prequential(
            self.model,
            learner,
            Scoring(self.task, self.metrics, self.settings["window"], max(1, len(self.incoming.book))),
            n_inputs=len(self.source.feature_names),
            warm_up=self.settings["warm_up"],
            spacing=max(1, self.settings["window"] // 2),
            keep=self.settings["keep"],
            sink=None,
        )
        if self.state is not None:
            self.loop.restore(self.state["loop"])

    def _first_batch(self, learner: Learner, names: NDArray[Any] | None, stop: StopRequest | None) -> None:
        """A model starts with the classes of the first batch in sight."""
        if not self.incoming.fill(stop):
            if stop is not None and stop.signal is not None:
                raise KeyboardInterrupt
            raise SourceError(f"{self.settings['source']}: has no row that can be used; there is nothing to learn from")
        learner.meet(self.incoming.book)
        if isinstance(learner, EngineLearner):
            learner.start(len(self.source.feature_names), names, self.incoming.book)

    def _restore_model(self, data: bytes) -> None:
        kept = from_bytes(data, _ESTIMATORS)
        names = getattr(kept, "feature_names_in_", None)
        self.model._adopt(kept._started(), names, getattr(kept, "_labels", None))

    def go(
        self,
        checkpoint: str | os.PathLike[str] | None,
        every: int,
        progress: Callable[[Progress], None] | None,
        stop: StopRequest | None,
    ) -> EvaluationResult:
        """Run to the end of the source, or until asked to stop."""
        self.began = time.perf_counter()
        first = self.loop.n_rows
        due = (first // every + 1) * every if checkpoint is not None else None
        saved: int | None = None
        try:
            while not (stop is not None and stop.signal is not None) and self.incoming.fill(stop):
                n_rows = min(len(self.incoming.held), self.loop.piece_rows())
                if due is not None:
                    n_rows = min(n_rows, due - self.loop.n_rows)
                self.loop.take(self.incoming.held.take(slice(0, n_rows)), self.incoming.book)
                self.incoming.drop(n_rows)
                if checkpoint is not None and due is not None and self.loop.n_rows >= due:
                    self._checkpoint(checkpoint)
                    saved, due = self.loop.n_rows, due + every
                if progress is not None:
                    progress(self._progress(first))
        except SourceError:
            # What was learned from the good part is worth keeping: the file can be mended and the run resumed.
            if checkpoint is not None:
                self._checkpoint(checkpoint)
            raise
        interrupted = stop is not None and stop.signal is not None
        if checkpoint is not None and saved != self.loop.n_rows:
            self._checkpoint(checkpoint)
        if not interrupted:
            self.loop.learn_waiting()
        if self.loop.sink is not None:
            self.loop.sink.publish()
        self.finished = not interrupted
        return self._result(interrupted=interrupted)

    def _progress(self, first: int) -> Progress:
        return Progress(
            n_rows=self.loop.n_rows,
            n_total=self.source.n_rows,
            fraction=self.source.fraction,
            seconds=time.perf_counter() - self.began,
            n_now=self.loop.n_rows - first,
            scores=self.loop.scoring.recent,
        )

    def _checkpoint(self, path: str | os.PathLike[str]) -> None:
        sink: PredictionFile | None = self.loop.sink
        late = self.incoming.late
        header = {
            "settings": self.settings,
            "predictions": None if sink is None else sink.sync(),
            "source": self.source.state(),
            "n_read": self.incoming.n_read,
            "seconds": self._seconds(),
            **({} if late is None else {"late": late.state()}),
        }
        book = self.incoming.book
        state = {"loop": self.loop.state(), "held": self.incoming.held, "book": (book.classes, book.codes)}
        Checkpoint(header, {"model": to_bytes(self.model), "state": freeze(state)}).write(path)

    def _seconds(self) -> float:
        return self.seconds_before + time.perf_counter() - self.began

    def _result(self, *, interrupted: bool) -> EvaluationResult:
        loop = self.loop
        looks = loop.looks.finished(loop.n_rows, loop.scoring, self.model)
        seconds = self._seconds()
        labels = self.incoming.book.class_of_code if self.task == "classification" else None
        return EvaluationResult(
            task=self.task,
            model=self.model,
            metrics=self.metrics,
            baselines=loop.scoring.baselines,
            scores=looks.table(loop.scoring),
            predictions=predicted(loop.kept.columns(), labels),
            predictions_path=self.settings["predictions"],
            beliefs=looks.beliefs(self.model),
            pool=looks.pool(len(self.source.feature_names)),
            pit_counts=loop.scoring.pit_counts(),
            reliability=loop.scoring.reliability(),
            classes=labels,
            feature_names=tuple(self.source.feature_names),
            target=self.incoming.late.target if self.incoming.late is not None else self.source.target,
            settings=self.settings,
            timings=Timings(seconds, loop.engine_seconds, loop.n_rows / seconds if seconds else 0.0),
            n_rows=loop.n_rows,
            n_scored=loop.scoring.n_scored,
            n_learned=loop.n_learned,
            n_bad=self.source.n_bad,
            bad_reasons=self.source.bad_reasons,
            notes=tuple(self.source.notes),
            interrupted=interrupted,
        )

    def close(self) -> None:
        """Let go of files."""
        if self.loop.sink is not None:
            self.loop.sink.close(finished=self.finished)
        if self.incoming.late is not None:
            self.incoming.late.close()


def _is_nameless(source: Any) -> bool:
    """Arrays have no names of columns, and a model that learned from one must not expect them later."""
    return (hasattr(source, "feature_names") and hasattr(source, "X")) or (
        isinstance(source, tuple) and len(source) == 2 and isinstance(source[0], np.ndarray)
    )


def _open(
    source: Any,
    target: str | None,
    options: Mapping[str, Any] | None,
    task: Task,
    labels: Any,
    key: str | None,
    max_rows: int | None,
    before: Checkpoint | None,
) -> Source:
    if isinstance(source, Source):
        if before is not None and source.position != (expected := before.header["source"]["position"]):
            raise ValueError(
                f"the source stands at row {source.position} and the checkpoint at row {expected}; give what the "
                "source was opened from, or open it with resume="
            )
        return source
    further = dict(options or {})
    if labels is None:
        further = {"target": target, "task": task, **further}
    elif key is not None:
        further = {"target": key, **further}
    return open_source(source, max_rows=max_rows, resume=None if before is None else before.header["source"], **further)

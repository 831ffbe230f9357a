"""One evaluation: the source, the loop and the files, from the first row or a checkpoint to the result."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from sapwood._base import DynamicTreeEstimator
from sapwood._classifier import DynamicTreeClassifier
from sapwood._files import _labels_from, _plain_labels, from_bytes, to_bytes
from sapwood._fitted import fitted, is_fitted, set_fitted
from sapwood._labels import LabelBook
from sapwood._regressor import DynamicTreeRegressor
from sapwood._state import Fields, StateError
from sapwood.prequential.files.checkpoint import Checkpoint, refusing_crafted_state
from sapwood.prequential.files.lock import locked
from sapwood.prequential.files.predictions import PredictionFile, check_file_state, open_predictions
from sapwood.prequential.files.printed import PrintedPredictions
from sapwood.prequential.late_labels import LateLabels
from sapwood.prequential.learners import EngineLearner, Learner, learner_for
from sapwood.prequential.loop import PrequentialLoop
from sapwood.prequential.recent_predictions import check_codes, result_columns
from sapwood.prequential.result import EvaluationResult, Timings
from sapwood.prequential.row_feed import Filled, RowFeed
from sapwood.prequential.rows import Rows
from sapwood.prequential.scoring import Scoring
from sapwood.prequential.settings import FilePath, Settings, check_unchanged
from sapwood.prequential.stopping import StopRequest
from sapwood.reading.errors import SourceError
from sapwood.reading.open_source import open_source
from sapwood.reading.source import Source

LIVE_SECONDS = 10.0
"""Seconds between two checkpoints of a feed, whose rows cannot be had again."""

_TICK = 0.5  # seconds to wait for a row before looking whether anything else is to be done

_ESTIMATORS: dict[str, type[DynamicTreeEstimator]] = {
    "regression": DynamicTreeRegressor,
    "classification": DynamicTreeClassifier,
}


@dataclass(frozen=True)
class Progress:
    """How far a run has come. Passed to `progress` after every chunk of the stream, a few times a second.

    Attributes
    ----------
    n_rows : int
        Rows forecast so far.
    n_total : int or None
        Rows in total, where known.
    fraction : float or None
        How much of the source has been read, from 0 to 1, where known.
    seconds : float
        Time since the run began, not counting what came before a resume.
    n_now : int
        Rows forecast in this time.
    scores : callable
        Returns the scores over the window, by forecaster and metric; it takes a few milliseconds.
    """

    n_rows: int
    n_total: int | None
    fraction: float | None
    seconds: float
    n_now: int
    scores: Callable[[], dict[str, dict[str, float]]]


class Run:
    """A run that is ready to go, made by `open_run`.

    Parameters
    ----------
    model : estimator
    settings : Settings
    record : dict
        The settings as checkpoints and the result record them.
    feed : RowFeed
    loop : PrequentialLoop
    seconds_before : float
        Time spent before the run was resumed.
    """

    def __init__(
        self,
        model: Any,
        settings: Settings,
        record: dict[str, Any],
        feed: RowFeed,
        loop: PrequentialLoop,
        seconds_before: float,
    ) -> None:
        self.finished = False
        self._model = model
        self._settings = settings
        self._record = record
        self._source = feed.source
        self._feed = feed
        self._loop = loop
        self._seconds_before = seconds_before
        self._first_row = loop.n_rows
        self._began = time.perf_counter()

    def go(self, progress: Callable[[Progress], None] | None, stop: StopRequest) -> EvaluationResult:
        """Run to the end of the source, or until asked to stop."""
        path, every = self._settings.files.checkpoint, self._settings.files.checkpoint_every
        try:
            saved_at = self._process_source(path, every, progress, stop)
        except SourceError:
            # Keep what was learned from the good part: the source can be repaired and the run resumed.
            if path is not None:
                self._write_checkpoint(path)
            raise
        interrupted = stop.signal is not None
        if path is not None and saved_at != self._loop.n_rows:
            self._write_checkpoint(path)
        if not interrupted:
            self._loop.learn_waiting()
        if self._loop.predictions is not None:
            self._loop.predictions.publish()
        self.finished = not interrupted
        return self._result(interrupted=interrupted)

    def _process_source(
        self, path: FilePath | None, every: int, progress: Callable[[Progress], None] | None, stop: StopRequest
    ) -> int | None:
        """Process chunks until the source ends or a stop is requested; return the row of the last checkpoint."""
        loop, feed = self._loop, self._feed
        saved_at, saved_time = None, 0.0
        due = (self._first_row // every + 1) * every
        while stop.signal is None and feed.fill(stop, _TICK) is not Filled.ENDED:
            loop.expect(feed.take_arrived(), feed.book)
            if len(feed.held):
                n_rows = min(len(feed.held), loop.max_chunk())
                if path is not None:
                    n_rows = min(n_rows, due - loop.n_rows)
                loop.process(feed.held.take(slice(0, n_rows)), feed.book)
                feed.drop(n_rows)
                if self._source.is_live and loop.predictions is not None:
                    loop.predictions.flush()
            is_overdue = self._source.is_live and time.monotonic() - saved_time >= LIVE_SECONDS
            if path is not None and (loop.n_rows >= due or (is_overdue and loop.n_rows != saved_at)):
                self._write_checkpoint(path)
                saved_at, saved_time = loop.n_rows, time.monotonic()
                due = (loop.n_rows // every + 1) * every
            if progress is not None:
                progress(self._progress())
        return saved_at

    def _progress(self) -> Progress:
        return Progress(
            n_rows=self._loop.n_rows,
            n_total=self._source.n_rows,
            fraction=self._source.fraction,
            seconds=time.perf_counter() - self._began,
            n_now=self._loop.n_rows - self._first_row,
            scores=self._loop.scoring.recent,
        )

    def _write_checkpoint(self, path: FilePath) -> None:
        predictions, feed = self._loop.predictions, self._feed
        content = {
            "settings": self._record,
            "predictions": None if predictions is None else predictions.sync(),
            "source": self._source.state(),
            "late": None if feed.late is None else feed.late.state(),
            "pending": None if feed.pending is None else feed.pending.state(),
            "n_read": feed.n_read,
            "held": feed.held.state(),
            "book": _plain_labels(feed.book),
            "loop": self._loop.state(),
            "seconds": self._seconds(),
            "model": to_bytes(self._model),
        }
        Checkpoint(content).write(path)

    def _seconds(self) -> float:
        return self._seconds_before + time.perf_counter() - self._began

    def _result(self, *, interrupted: bool) -> EvaluationResult:
        loop, source, feed = self._loop, self._source, self._feed
        history = loop.history.with_end(loop.n_rows, loop.scoring, self._model)
        seconds = self._seconds()
        labels = feed.book.class_of_code if self._settings.task == "classification" else None
        return EvaluationResult(
            task=self._settings.task,
            model=self._model,
            metrics=self._settings.scores.metrics,
            baselines=loop.scoring.baselines,
            scores=history.scores(loop.scoring),
            predictions=result_columns(loop.recent.columns(), labels),
            predictions_path=self._record["predictions"],
            beliefs=history.beliefs(self._model),
            pool=history.pool(len(source.feature_names)),
            pit_counts=loop.scoring.pit_counts(),
            reliability=loop.scoring.reliability(),
            classes=labels,
            feature_names=tuple(source.feature_names),
            target=source.target if feed.late is None else feed.late.target,
            settings=self._record,
            timings=Timings(seconds, loop.engine_seconds, loop.n_rows / seconds if seconds else 0.0),
            n_rows=loop.n_rows,
            n_scored=loop.scoring.n_scored,
            n_learned=loop.n_learned,
            n_bad=source.n_bad,
            bad_reasons=source.bad_reasons,
            notes=(*source.notes, *(loop.predictions.notes() if loop.predictions is not None else ())),
            interrupted=interrupted,
        )


@contextmanager
def open_run(model: Any, settings: Settings, stop: StopRequest) -> Iterator[Run]:
    """Open the source and the files of a run, restore it if it is to be resumed, and close everything at the end."""
    record = settings.record(model)
    with ExitStack() as cleanup:
        cleanup.enter_context(locked(settings.locked_paths()))
        checkpoint = _read_checkpoint(settings, record)
        with stop.reading():
            source = _open_source(settings, checkpoint)
        if source is not settings.source.spec:
            cleanup.callback(source.close)
        if checkpoint is None:
            _share_encoder(model, source, settings)
        late = None
        if settings.labels.spec is not None:
            with stop.reading(), _reading_state(settings):
                before = None if checkpoint is None else Fields(checkpoint.content, "checkpoint").raw("late")
                if checkpoint is not None and before is None:
                    raise StateError("checkpoint.late is null, but there is a source of labels")
                late = LateLabels(settings.labels, settings.task, before)
            cleanup.callback(late.close)
        learner = learner_for(
            model, settings.task, source.feature_names, crps=settings.scores.need_crps, late=settings.labels.are_late
        )
        if checkpoint is None:
            wait = settings.labels.wait
            feed = RowFeed(source, settings.task, settings.labels.delay, late, _labels_of(model), wait=wait)
            _start(learner, feed, settings, record, stop)
        else:
            with _reading_state(settings):
                feed = _restore_feed(checkpoint, source, settings, late)
                _restore_model(model, Fields(checkpoint.content, "checkpoint").data("model"), feed)
        loop = PrequentialLoop(
            model,
            learner,
            Scoring(settings.task, settings.scores.metrics, settings.scores.window, max(1, len(feed.book))),
            settings.scores,
            n_inputs=len(source.feature_names),
        )
        seconds_before, file_state = 0.0, None
        if checkpoint is not None:
            with _reading_state(settings):
                fields = Fields(checkpoint.content, "checkpoint")
                loop.restore(fields.part("loop"), feed.book)
                seconds_before = fields.number("seconds")
                file_state = fields.raw("predictions")
                check_file_state(file_state, wanted=settings.files.predictions is not None)
        # Last, since it drops the rows after the checkpoint: everything else in the checkpoint has proved usable.
        wanted = settings.files.predictions
        if wanted is not None:
            predictions: PredictionFile = (
                wanted if isinstance(wanted, PrintedPredictions) else open_predictions(wanted, file_state)
            )
            loop.predictions = predictions
        run = Run(model, settings, record, feed, loop, seconds_before)
        if loop.predictions is not None:
            cleanup.callback(lambda: predictions.close(finished=run.finished))
        yield run


def _share_encoder(model: Any, source: Source, settings: Settings) -> None:
    """Let the source encode as the model does, if that has learned before from a table or a stream."""
    if not isinstance(model, DynamicTreeEstimator) or not is_fitted(model):
        return
    encoder = fitted(model).encoder
    if encoder is None:
        return
    if not _is_nameless(settings.source.spec):
        source.adopt(encoder)
    elif not encoder.is_plain:
        raise SourceError(
            "the model was started from a table, some of whose columns are not numbers; give it a source that has the "
            f"columns {', '.join(encoder.columns)}"
        )


def _read_checkpoint(settings: Settings, record: dict[str, Any]) -> Checkpoint | None:
    path = settings.files.checkpoint
    if path is None or not settings.files.resume:
        return None
    checkpoint = Checkpoint.read(path)
    if checkpoint is not None:
        check_unchanged(checkpoint.content["settings"], record, os.fspath(path))
    return checkpoint


def _reading_state(settings: Settings) -> AbstractContextManager[None]:
    """Refuse a crafted checkpoint by its name. Without one, there is no state to read."""
    return nullcontext() if settings.files.checkpoint is None else refusing_crafted_state(settings.files.checkpoint)


def _open_source(settings: Settings, checkpoint: Checkpoint | None) -> Source:
    spec, labels = settings.source.spec, settings.labels
    if isinstance(spec, Source):
        if checkpoint is not None:
            _check_position(spec, checkpoint)
        return spec
    options = dict(settings.source.options)
    if labels.spec is None:
        options = {"target": labels.target, "task": settings.task, "key": labels.key, **options}
    elif labels.key is not None:
        options = {"target": labels.key, **options}
    state = None if checkpoint is None else checkpoint.source
    return open_source(spec, max_rows=settings.source.max_rows, resume=state, **options)


def _check_position(source: Source, checkpoint: Checkpoint) -> None:
    """Refuse a source that its owner opened elsewhere than at the checkpoint, or from other data."""
    expected, found = checkpoint.source, source.state()
    if any(expected.get(name) != found[name] for name in ("start", "position", "fingerprint")):
        raise ValueError(
            f"the source is at row {source.position}, the checkpoint at row {expected.get('position')!r:.20}, and the "
            "rows before them must be the same; pass what the source was opened from, or open it with resume="
        )


def _labels_of(model: Any) -> LabelBook:
    is_own = isinstance(model, DynamicTreeEstimator) and is_fitted(model)
    return fitted(model).book if is_own else LabelBook.empty()


def _start(learner: Learner, feed: RowFeed, settings: Settings, record: dict[str, Any], stop: StopRequest) -> None:
    """Read the first batch and start the model with the classes in it."""
    while (filled := feed.fill(stop)) is Filled.PAUSED:
        pass
    if filled is Filled.ENDED:
        if stop.signal is not None:
            raise KeyboardInterrupt(stop.signal)
        raise SourceError(f"{record['source']}: has no usable row; there is nothing to learn from")
    if settings.task == "classification" and not len(feed.book):
        raise SourceError(
            f"{record['source']}: none of its first rows has a label, so that no class is known; begin with a row that "
            "has one"
        )
    learner.set_labels(feed.book)
    if isinstance(learner, EngineLearner):
        source = feed.source
        encoder, target = None, None
        if not _is_nameless(settings.source.spec):
            encoder, target = source.encoder, source.target if feed.late is None else feed.late.target
        learner.start(len(source.feature_names), encoder, target, feed.book)


def _restore_feed(checkpoint: Checkpoint, source: Source, settings: Settings, late: LateLabels | None) -> RowFeed:
    fields = Fields(checkpoint.content, "checkpoint")
    try:
        book = _labels_from(fields.raw("book"))
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise StateError(f"checkpoint.book is not a list of classes ({error})") from error
    if book is None:
        raise StateError("checkpoint.book is missing")
    held = Rows.restore(fields.part("held"), len(source.feature_names))
    if settings.task == "classification":
        check_codes(held.y, len(book), "checkpoint.held.y")
    n_read = fields.integer("n_read", len(held))
    labels = settings.labels
    feed = RowFeed(source, settings.task, labels.delay, late, book, wait=labels.wait, n_read=n_read, held=held)
    if feed.pending is not None:
        feed.pending.restore(fields.part("pending"), len(source.feature_names))
    return feed


def _restore_model(model: Any, data: bytes, feed: RowFeed) -> None:
    state = fitted(from_bytes(data, _ESTIMATORS))
    core = state.model
    if core.task != feed.task or core.n_inputs != len(feed.source.feature_names):
        raise StateError("checkpoint.model is of another task, or has another number of inputs than the source")
    if core.n_classes > len(feed.book):
        raise StateError("checkpoint.model has more classes than checkpoint.book")
    if state.encoder is not None:
        if state.encoder.state() != feed.source.encoder.state():
            raise StateError("checkpoint.model encodes its columns in another way than checkpoint.source")
        state.encoder = feed.source.encoder
    set_fitted(model, state)


def _is_nameless(spec: Any) -> bool:
    """Whether the source is made of arrays: a model that learned from them must not expect column names later."""
    return (hasattr(spec, "feature_names") and hasattr(spec, "X")) or (
        isinstance(spec, tuple) and len(spec) == 2 and isinstance(spec[0], np.ndarray)
    )

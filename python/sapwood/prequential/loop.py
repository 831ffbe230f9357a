"""The prequential loop: every row is forecast, scored, and learned once its label has arrived."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from sapwood._labels import LabelBook
from sapwood._state import Fields, StateError
from sapwood.prequential.files.predictions import PredictionFile
from sapwood.prequential.label_queue import LabelQueue, plan
from sapwood.prequential.learners import Learner
from sapwood.prequential.recent_predictions import RecentPredictions, check_codes, file_columns, prediction_columns
from sapwood.prequential.rows import Rows
from sapwood.prequential.run_history import RunHistory
from sapwood.prequential.scoring import Scoring
from sapwood.prequential.settings import ScoreSettings

_CHUNK_SECONDS = 0.5  # between two points at which the run can stop or report progress
_FIRST_CHUNK = 32


class PrequentialLoop:
    """The state of a run between two chunks of the stream, and what a chunk does to it.

    Parameters
    ----------
    model : estimator
        What `learner` drives; its state goes into the history.
    learner : Learner
    scoring : Scoring
    settings : ScoreSettings
    n_inputs : int

    Attributes
    ----------
    predictions : PredictionFile or None
        The file that receives the predictions of all rows. None until it is set.
    """

    def __init__(
        self,
        model: Any,
        learner: Learner,
        scoring: Scoring,
        settings: ScoreSettings,
        *,
        n_inputs: int,
    ) -> None:
        self.model = model
        self.learner = learner
        self.scoring = scoring
        self.history = RunHistory(settings.spacing)
        self.recent = RecentPredictions(settings.keep)
        self.predictions: PredictionFile | None = None
        self.n_rows = 0
        self.n_learned = 0
        self.engine_seconds = 0.0
        self._queue = LabelQueue(Rows.empty(n_inputs))
        self._warm_up = settings.warm_up
        self._chunk_rows = _FIRST_CHUNK

    def max_chunk(self) -> int:
        """Return the most rows to process next: few enough to stop soon, and none beyond the next history entry."""
        return min(self._chunk_rows, self.history.next_row(self.n_rows) - self.n_rows)

    def expect(self, arrived: list[Rows], book: LabelBook) -> None:
        """Take rows that were forecast without a label, which has now come. They are learned, but not scored.

        Those whose labels came after the last row that was forecast are learned at once, the others in their turn.
        """
        for rows in arrived:
            self._queue.add(rows)
        due = self._queue.pop_due(self.n_rows) if arrived else Rows.empty(0)
        if len(due):
            self.learner.set_labels(book)
            self.learner.learn(due.x, due.y)
            self.scoring.learn(due.y)
            self.n_learned += len(due)

    def process(self, rows: Rows, book: LabelBook) -> None:
        """Forecast rows, score them, learn what is due, and keep the predictions."""
        began = time.perf_counter()
        self.learner.set_labels(book)
        self._queue.add(rows)
        due = self._queue.pop_due(self.n_rows + len(rows))
        for step in plan(self.n_rows, len(rows), due, self.learner.n_classes):
            test = rows.take(slice(step.first, step.end))
            learned = due.take(slice(step.learn_first, step.learn_end))
            self._step(test, learned, self.n_rows + step.first, book, paired=step.paired)
        self.n_rows += len(rows)
        self.history.record(self.n_rows, self.scoring, self.model)
        within_time = int(len(rows) * _CHUNK_SECONDS / (time.perf_counter() - began))
        self._chunk_rows = max(1, min(2 * self._chunk_rows, within_time))

    def _step(self, test: Rows, learned: Rows, first: int, book: LabelBook, *, paired: bool) -> None:
        y = test.y
        if self.learner.task == "classification":
            y = np.where(y < self.learner.n_classes, y, np.nan)  # the model has no probability for an unknown class
        together = learned if paired else learned.take(slice(0, 0))
        began = time.perf_counter()
        made = self.learner.forecast_then_learn(test.x, y, together.x, together.y)
        if not paired:
            self.learner.learn(learned.x, learned.y)
        self.engine_seconds += time.perf_counter() - began
        scored = np.where(np.arange(first, first + len(y)) < self._warm_up, np.nan, y)
        self.scoring.forecast_then_learn(made.forecast, scored, together.y)
        if not paired:
            self.scoring.learn(learned.y)
        self.n_learned += len(learned)
        columns = prediction_columns(made, test)
        self.recent.append(columns)
        if self.predictions is not None:
            self.predictions.append(file_columns(columns, book))

    def learn_waiting(self) -> None:
        """Learn the rows whose labels were still to arrive when the stream ended."""
        rest = self._queue.pop_all()
        if len(rest):
            began = time.perf_counter()
            self.learner.learn(rest.x, rest.y)
            self.engine_seconds += time.perf_counter() - began
            self.n_learned += len(rest)

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint needs besides the model, as plain data."""
        return {
            "scoring": self.scoring.state(),
            "history": self.history.state(),
            "waiting": self._queue.waiting.state(),
            "recent": self.recent.state(),
            "n_rows": self.n_rows,
            "n_learned": self.n_learned,
            "engine_seconds": self.engine_seconds,
        }

    def restore(self, fields: Fields, book: LabelBook) -> None:
        """Continue from what `state` returned; the model is restored already."""
        task = self.scoring.task
        self.scoring.restore(fields.part("scoring"))
        self.history.restore(fields.part("history"), self.scoring, self.model)
        self.recent.restore(fields.part("recent"), task, len(book))
        waiting = Rows.restore(fields.part("waiting"), self._queue.waiting.x.shape[1])
        if np.isnan(waiting.y).any() or (np.diff(waiting.arrival) < 0).any():
            raise StateError(f"{fields.where}.waiting holds rows without a label, or out of order")
        if task == "classification":
            check_codes(waiting.y, len(book), f"{fields.where}.waiting.y")
        self._queue.waiting = waiting
        self.n_rows, self.n_learned = fields.integer("n_rows"), fields.integer("n_learned")
        self.engine_seconds = fields.number("engine_seconds")

"""The prequential loop: every row is forecast, scored, and learned when its label has come."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood._labels import LabelBook
from sapwood.metrics import RegressionForecast
from sapwood.prequential.files.predictions import PredictionFile
from sapwood.prequential.label_queue import LabelQueue, Rows, plan
from sapwood.prequential.learners.engine import Learner, Told
from sapwood.prequential.run_history import RunHistory
from sapwood.prequential.scoring import Scoring

Floats = NDArray[np.float64]

_PIECE_SECONDS = 0.5  # between two moments at which the loop can stop or show progress
_FIRST_PIECE = 32


class Prequential:
    """The state of a run between two pieces of the stream, and what a piece does to it."""

    def __init__(
        self,
        model: Any,
        learner: Learner,
        scoring: Scoring,
        *,
        n_inputs: int,
        warm_up: int,
        spacing: int,
        keep: int | None,
        sink: PredictionFile | None,
    ) -> None:
        self.model = model
        self.learner = learner
        self.scoring = scoring
        self.looks = RunHistory(spacing)
        self.arrivals = LabelQueue(Rows.none(n_inputs))
        self.kept = RecentPredictions(keep)
        self.sink = sink
        self.n_rows = 0
        self.n_learned = 0
        self.engine_seconds = 0.0
        self._warm_up = warm_up
        self._piece = _FIRST_PIECE

    def piece_rows(self) -> int:
        """How many rows to take next, at most: short enough to stop soon, and no further than the next look."""
        return min(self._piece, self.looks.next_row(self.n_rows) - self.n_rows)

    def take(self, rows: Rows, book: LabelBook) -> None:
        """Forecast some rows, score them, learn what is due, and remember what was said."""
        began = time.perf_counter()
        self.learner.meet(book)
        self.arrivals.add(rows)
        due = self.arrivals.due(self.n_rows + len(rows))
        for step in plan(self.n_rows, len(rows), due, self.learner.n_classes):
            test = rows.take(slice(step.first, step.end))
            learned = due.take(slice(step.learn_first, step.learn_end))
            self._step(test, learned, self.n_rows + step.first, book, paired=step.paired)
        self.n_rows += len(rows)
        self.looks.take(self.n_rows, self.scoring, self.model)
        self._piece = max(1, min(2 * self._piece, int(len(rows) * _PIECE_SECONDS / (time.perf_counter() - began))))

    def _step(self, test: Rows, learned: Rows, first: int, book: LabelBook, *, paired: bool) -> None:
        y = test.y
        if self.learner.task == "classification":
            y = np.where(y < self.learner.n_classes, y, np.nan)  # nobody can foresee a class that was never met
        together = learned if paired else learned.take(slice(0, 0))
        began = time.perf_counter()
        told = self.learner.forecast_then_learn(test.x, y, together.x, together.y)
        if not paired:
            self.learner.learn(learned.x, learned.y)
        self.engine_seconds += time.perf_counter() - began
        scored = np.where(np.arange(first, first + len(y)) < self._warm_up, np.nan, y)
        self.scoring.forecast_then_learn(told.forecast, scored, together.y)
        if not paired:
            self.scoring.learn(learned.y)
        self.n_learned += len(learned)
        columns = _columns(told, test)
        self.kept.append(columns)
        if self.sink is not None:
            self.sink.append(_file_columns(columns, book))

    def learn_waiting(self) -> None:
        """The stream is over, and the labels that were late come in."""
        rest, self.arrivals.waiting = self.arrivals.waiting, self.arrivals.waiting.take(slice(0, 0))
        if len(rest):
            began = time.perf_counter()
            self.learner.learn(rest.x, rest.y)
            self.engine_seconds += time.perf_counter() - began
            self.n_learned += len(rest)

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps beside the model."""
        return {
            "scoring": self.scoring,
            "looks": self.looks,
            "waiting": self.arrivals.waiting,
            "kept": self.kept.blocks,
            "n_rows": self.n_rows,
            "n_learned": self.n_learned,
            "engine_seconds": self.engine_seconds,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state` gave."""
        self.scoring, self.looks = state["scoring"], state["looks"]
        self.arrivals.waiting = state["waiting"]
        self.kept.blocks = state["kept"]
        self.n_rows, self.n_learned = state["n_rows"], state["n_learned"]
        self.engine_seconds = state["engine_seconds"]


class RecentPredictions:
    """The predictions of the last rows, in blocks of columns."""

    def __init__(self, n_rows: int | None) -> None:
        self._most = n_rows
        self.blocks: list[dict[str, NDArray[Any]]] = []

    def append(self, columns: dict[str, NDArray[Any]]) -> None:
        """Add some rows; blocks that lie wholly before the last `n_rows` go."""
        self.blocks.append(columns)
        if self._most is None:
            return
        n_after = sum(len(block["row"]) for block in self.blocks[1:])
        while len(self.blocks) > 1 and n_after >= self._most:
            self.blocks.pop(0)
            n_after -= len(self.blocks[0]["row"])

    def columns(self) -> dict[str, NDArray[Any]]:
        """One array a column. Probabilities of classes that were not known yet are 0."""
        if not self.blocks:
            return {}
        width = max((block["proba"].shape[1] for block in self.blocks if "proba" in block), default=0)
        together: dict[str, NDArray[Any]] = {}
        for name in self.blocks[0]:
            parts = [block[name] for block in self.blocks]
            if name == "proba":
                parts = [np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in parts]
            whole = np.concatenate(parts)
            together[name] = whole if self._most is None else whole[max(0, len(whole) - self._most) :]
        return together


def _columns(told: Told, test: Rows) -> dict[str, NDArray[Any]]:
    said = told.forecast
    if isinstance(said, RegressionForecast):
        return {
            "row": test.source_row,
            "y": test.y,
            "mean": said.mean,
            "std": told.spread["std"],
            "epistemic_std": told.spread["epistemic_std"],
            "lower": said.lower,
            "upper": said.upper,
            "ln_density": said.ln_density,
            "pit": said.pit,
        }
    return {
        "row": test.source_row,
        "y": test.y,
        "prediction": said.label,
        "ln_density": said.ln_density,
        "proba": said.proba,
    }


_IN_FILES = ("row", "y", "mean", "std", "lower", "upper", "ln_density")


def _file_columns(columns: dict[str, NDArray[Any]], book: LabelBook) -> dict[str, NDArray[Any]]:
    if "proba" not in columns:
        return {name: columns[name] for name in _IN_FILES}
    labels = book.class_of_code
    proba = columns["proba"]
    return {
        "row": columns["row"],
        "y": as_labels(columns["y"], labels),
        "prediction": as_labels(columns["prediction"], labels),
        **{f"p_{label}": proba[:, code] for code, label in enumerate(labels[: proba.shape[1]].tolist())},
    }


def as_labels(codes: Floats, labels: NDArray[Any]) -> NDArray[Any]:
    """Labels in place of codes; None where a code is NaN."""
    unknown = np.isnan(codes)
    named: NDArray[Any] = labels[np.where(unknown, 0, codes).astype(np.intp)]
    if unknown.any():
        named = named.astype(object)
        named[unknown] = None
    return named


def predicted(columns: dict[str, NDArray[Any]], labels: NDArray[Any] | None) -> dict[str, NDArray[Any]]:
    """The kept predictions as users see them: labels in place of codes."""
    if labels is None or not columns:
        return columns
    shown = {name: as_labels(columns[name], labels) for name in ("y", "prediction")}
    return {**columns, **shown}

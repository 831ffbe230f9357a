"""Predictions as tables: the columns of a forecast, and the last rows of them for the result."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood._labels import LabelBook
from sapwood._options import Task
from sapwood._state import Fields, StateError
from sapwood.metrics import RegressionForecast
from sapwood.prequential.learners import LearnerForecast
from sapwood.prequential.rows import Floats, Rows

Columns = dict[str, NDArray[Any]]

_REGRESSION_COLUMNS = ("y", "mean", "std", "epistemic_std", "lower", "upper", "ln_density", "pit")
_CLASS_COLUMNS = ("y", "prediction", "ln_density")
_FILE_COLUMNS = ("row", "y", "mean", "std", "lower", "upper", "ln_density")


class RecentPredictions:
    """The predictions of the last `n_rows` rows (None: of all), in blocks of columns."""

    def __init__(self, n_rows: int | None) -> None:
        self._capacity = n_rows
        self.blocks: list[Columns] = []

    def append(self, columns: Columns) -> None:
        """Add rows, and drop the blocks that are no longer needed."""
        self.blocks.append(columns)
        if self._capacity is None:
            return
        n_after = sum(len(block["row"]) for block in self.blocks[1:])
        while len(self.blocks) > 1 and n_after >= self._capacity:
            self.blocks.pop(0)
            n_after -= len(self.blocks[0]["row"])

    def columns(self) -> Columns:
        """Return one array per column. The probability of a class before it was known is 0."""
        if not self.blocks:
            return {}
        width = max((block["proba"].shape[1] for block in self.blocks if "proba" in block), default=0)
        joined: Columns = {}
        for name in self.blocks[0]:
            parts = [block[name] for block in self.blocks]
            if name == "proba":
                parts = [np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in parts]
            whole = np.concatenate(parts)
            joined[name] = whole if self._capacity is None else whole[max(0, len(whole) - self._capacity) :]
        return joined

    def state(self) -> dict[str, Any]:
        """Return the rows kept, for a checkpoint, as one array per column."""
        return dict(self.columns())

    def restore(self, fields: Fields, task: Task, n_classes: int) -> None:
        """Continue from what `state` returned."""
        if "row" not in fields:
            self.blocks = []
            return
        rows = fields.integers("row", (None,), minimum=0)
        block: Columns = {"row": rows}
        for name in _REGRESSION_COLUMNS if task == "regression" else _CLASS_COLUMNS:
            block[name] = fields.floats(name, (len(rows),))
        if task == "classification":
            block["proba"] = fields.floats("proba", (len(rows), None))
            if block["proba"].shape[1] > n_classes:
                raise StateError(f"{fields.where}.proba has more columns than there are classes")
            for name in ("y", "prediction"):
                check_codes(block[name], n_classes, f"{fields.where}.{name}")
        self.blocks = [block]


def check_codes(codes: Floats, n_classes: int, where: str) -> None:
    """Raise StateError unless all are codes of classes, or NaN."""
    known = codes[~np.isnan(codes)]
    if not ((known >= 0) & (known < n_classes) & (known == np.floor(known))).all():
        raise StateError(f"{where} holds a number that is not the code of one of the {n_classes} classes")


def prediction_columns(made: LearnerForecast, test: Rows) -> Columns:
    """Return the forecasts of `test` by column, with classes as codes."""
    forecast = made.forecast
    if isinstance(forecast, RegressionForecast):
        return {
            "row": test.source_row,
            "y": test.y,
            "mean": forecast.mean,
            "std": made.spread["std"],
            "epistemic_std": made.spread["epistemic_std"],
            "lower": forecast.lower,
            "upper": forecast.upper,
            "ln_density": forecast.ln_density,
            "pit": forecast.pit,
        }
    return {
        "row": test.source_row,
        "y": test.y,
        "prediction": forecast.label,
        "ln_density": forecast.ln_density,
        "proba": forecast.proba,
    }


def file_columns(columns: Columns, book: LabelBook) -> Columns:
    """Return the columns for a predictions file: labels instead of codes, and one column per probability."""
    if "proba" not in columns:
        return {name: columns[name] for name in _FILE_COLUMNS}
    labels = book.class_of_code
    proba = columns["proba"]
    return {
        "row": columns["row"],
        "y": _decode(columns["y"], labels),
        "prediction": _decode(columns["prediction"], labels),
        **{f"p_{label}": proba[:, code] for code, label in enumerate(labels[: proba.shape[1]].tolist())},
    }


def result_columns(columns: Columns, labels: NDArray[Any] | None) -> Columns:
    """Return the columns for the result: labels instead of codes, unless `labels` is None."""
    if labels is None or not columns:
        return columns
    return {**columns, **{name: _decode(columns[name], labels) for name in ("y", "prediction")}}


def _decode(codes: Floats, labels: NDArray[Any]) -> NDArray[Any]:
    """Return the labels of codes; None where a code is NaN."""
    unknown = np.isnan(codes)
    decoded: NDArray[Any] = labels[np.where(unknown, 0, codes).astype(np.intp)]
    if unknown.any():
        decoded = decoded.astype(object)
        decoded[unknown] = None
    return decoded

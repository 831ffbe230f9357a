"""The interface between the prequential loop and a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sapwood._labels import LabelBook
from sapwood._options import Task
from sapwood.metrics import ClassForecast, RegressionForecast

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LearnerForecast:
    """Forecasts of some rows, ready to be scored, and for regression their spread: "std" and "epistemic_std"."""

    forecast: RegressionForecast | ClassForecast
    spread: Mapping[str, Floats] = field(default_factory=dict)


class Learner(Protocol):
    """A model in the prequential loop. Targets are numbers: values, or the codes of a `LabelBook`."""

    task: Task

    @property
    def n_classes(self) -> int:
        """Number of classes the model knows; a row of any other class cannot be scored. 0 for regression."""

    def forecast_then_learn(self, x_test: Floats, y_test: Floats, x: Floats, y: Floats) -> LearnerForecast:
        """Forecast each row of `x_test`, then learn the row of `x` paired with it; the last rows are aligned."""

    def learn(self, x: Floats, y: Floats) -> None:
        """Learn rows, which may bring new classes."""

    def set_labels(self, book: LabelBook) -> None:
        """Set the codes of the classes seen so far. A class joins the model when `learn` gets its first row."""

"""The interface of every metric: updated with chunks of forecasts, over all rows or over a rolling window."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from sapwood._state import Fields, StateError
from sapwood.metrics._forecast import ClassForecast, RegressionForecast

Floats = NDArray[np.float64]
F = TypeVar("F", RegressionForecast, ClassForecast)
V = TypeVar("V")


class Metric(ABC, Generic[F, V]):
    """A metric, updated in chunks of any size. The chunk size does not affect the value, not even its last bit.

    Subclasses define the numbers they need from each row (``_terms``), how to accumulate them in constant memory
    (``_absorb``), and the value of a complete table of them (``_reduce``), which rolling metrics use. Checkpoints save
    and restore a metric as plain data with ``state`` and ``restore``.
    """

    name: ClassVar[str]
    greater_is_better: ClassVar[bool | None]
    needs: ClassVar[Literal["mean", "distribution", "crps"]] = "distribution"
    """What a forecast must provide: only a mean (or a class), a distribution, or also the CRPS, which is expensive."""
    forecast_type: type[F]

    def __init__(self) -> None:
        self.n_rows = 0

    def update(self, forecast: F) -> None:
        """Score more rows. Rows whose ``y`` is unknown are ignored."""
        terms = self._checked_terms(forecast)
        self._absorb(terms)
        self.n_rows += len(terms)

    def rolling(self, window: int) -> Rolling[F, V]:
        """Return a new metric of the same kind that scores only the last ``window`` rows, exactly."""
        return Rolling(self, window)

    @abstractmethod
    def value(self) -> V:
        """The score of all rows so far; NaN if it is undefined."""

    def state(self) -> dict[str, Any]:
        """Return the accumulated state as numbers and arrays."""
        return {"n_rows": self.n_rows}

    def restore(self, fields: Fields) -> None:
        """Continue from what ``state`` returned."""
        self.n_rows = fields.integer("n_rows")

    def _checked_terms(self, forecast: F) -> Floats:
        if not isinstance(forecast, self.forecast_type):
            raise TypeError(
                f"{self.name} was given a {type(forecast).__name__}; it scores a {self.forecast_type.__name__}."
            )
        return self._terms(forecast.known())

    @abstractmethod
    def _terms(self, forecast: F) -> Floats:
        """The numbers needed of each row, shape (rows, columns)."""

    def _has_width(self, n_columns: int) -> bool:
        """Whether ``_terms`` can have this many columns."""
        return n_columns == 1

    @abstractmethod
    def _absorb(self, terms: Floats) -> None: ...

    @abstractmethod
    def _reduce(self, terms: Floats) -> V: ...


class Rolling(Generic[F, V]):
    """A metric over the last ``window`` rows, which it keeps in memory. Created by :meth:`Metric.rolling`.

    Examples
    --------
    >>> from sapwood.metrics import Accuracy, ClassForecast
    >>> recent = Accuracy().rolling(2)
    >>> recent.update(ClassForecast(y=[1, 0, 0], proba=[[0.9, 0.1], [0.8, 0.2], [0.7, 0.3]]))
    >>> recent.value()
    1.0
    """

    def __init__(self, metric: Metric[F, V], window: int) -> None:
        if window < 1:
            raise ValueError(f"window is {window}; a rolling metric needs at least 1 row.")
        self.metric: Metric[F, V] = metric
        self.window = window
        self._held: Floats = np.empty((0, 0))

    @property
    def n_rows(self) -> int:
        """Rows in the window now."""
        return len(self._held)

    def update(self, forecast: F) -> None:
        """Add rows to the window; the oldest drop out."""
        terms = self.metric._checked_terms(forecast)
        width = max(self._held.shape[1], terms.shape[1])
        both = np.concatenate([_widen(self._held, width), _widen(terms, width)])
        self._held = both[-self.window :].copy()

    def value(self) -> V:
        """The score of the rows in the window; NaN if it is undefined."""
        return self.metric._reduce(self._held)

    def state(self) -> dict[str, Any]:
        """The window, as an array."""
        return {"held": self._held}

    def restore(self, fields: Fields) -> None:
        """Continue from what ``state`` returned."""
        held = fields.floats("held", (None, None))
        if len(held) > self.window or (len(held) and not self.metric._has_width(held.shape[1])):
            raise StateError(f"{fields.where}.held has shape {held.shape}, which does not suit {self.metric.name}")
        self._held = held


def _widen(terms: Floats, width: int) -> Floats:
    # Only class probabilities gain columns, and a class that was still unknown had probability zero.
    return terms if terms.shape[1] == width else np.pad(terms, ((0, 0), (0, width - terms.shape[1])))


def add_in_order(total: float, terms: Floats) -> float:
    """Add the terms to ``total`` strictly from left to right, so that the sum does not depend on the chunks."""
    return float(np.cumsum(np.concatenate([[total], terms]))[-1])


class MeanMetric(Metric[F, float]):
    """A metric that is the mean of one number per row, or a function of that mean."""

    def __init__(self) -> None:
        super().__init__()
        self._total = 0.0

    def value(self) -> float:
        return self._finish(self._total / self.n_rows) if self.n_rows else float("nan")

    def state(self) -> dict[str, Any]:
        return {**super().state(), "total": self._total}

    def restore(self, fields: Fields) -> None:
        super().restore(fields)
        self._total = fields.number("total")

    def _terms(self, forecast: F) -> Floats:
        return self._term(forecast)[:, np.newaxis]

    @abstractmethod
    def _term(self, forecast: F) -> Floats:
        """The number whose mean is taken."""

    def _absorb(self, terms: Floats) -> None:
        self._total = add_in_order(self._total, terms[:, 0])

    def _reduce(self, terms: Floats) -> float:
        return self._finish(float(np.mean(terms[:, 0]))) if len(terms) else float("nan")

    def _finish(self, mean: float) -> float:
        return mean

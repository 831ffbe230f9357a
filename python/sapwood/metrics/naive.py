"""Naive forecasts as baselines, which a useful model must beat: no change, and the running mean or frequencies.

Each sees only targets, learns them one by one, and forecasts a whole distribution, so that every metric applies to it.
``forecast_then_learn(y_test, y)`` follows the engine: row i of ``y_test`` is forecast, and then row
``i - (len(y_test) - len(y))`` of ``y`` is learned, if it exists; without ``y``, the row just forecast.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

from sapwood._state import Fields, StateError
from sapwood.metrics._forecast import LEVELS90, ClassForecast, RegressionForecast
from sapwood.metrics._student_t import crps_student_t, ln_density_student_t

Floats = NDArray[np.float64]

_DF = 3.0  # tails heavy enough that a jump does not ruin the log score, light enough that variance and CRPS exist
_SCALE_MEMORY = 100  # memory of the running scale, in errors, so that it follows changes of the noise
_NO_LABEL = -1
_LEAST_SCALE = 1e-9  # relative to the forecast: a constant stream must not have an infinite density


def _targets(y_test: ArrayLike, y: ArrayLike | None) -> tuple[Floats, Floats]:
    ahead = np.asarray(y_test, dtype=np.float64)
    arrived = ahead if y is None else np.asarray(y, dtype=np.float64)
    if ahead.ndim != 1 or arrived.ndim != 1 or len(arrived) > len(ahead):
        raise ValueError(
            f"y_test has shape {ahead.shape} and y {arrived.shape}; both must be 1-D, and y no longer than y_test."
        )
    return ahead, arrived


class RegressionBaseline(ABC):
    """Student-t forecasts with 3 degrees of freedom around a location; the scale is estimated from past errors.

    The scale is the maximum-likelihood one, tracked by an expectation-maximisation step for each error e:
    ``s^2 <- s^2 + (w e^2 - s^2) / min(n, 100)`` with ``w = (3 + 1) / (3 + e^2 / s^2)``. Before the first target the
    forecast has location 0 and scale 1; before the first error the scale is the size of the location.
    """

    name: ClassVar[str]
    _location_field: ClassVar[str]

    def __init__(self) -> None:
        self._location = 0.0
        self._n_targets = 0
        self._n_errors = 0
        self._square_scale = 1.0

    @abstractmethod
    def _observe(self, target: float) -> None:
        """Move the location."""

    def forecast_then_learn(self, y_test: ArrayLike, y: ArrayLike | None = None) -> RegressionForecast:
        """Forecast each row, then learn the row that arrives. NaN is not learned."""
        ahead, arrived = _targets(y_test, y)
        first = len(ahead) - len(arrived)
        location, scale = np.empty(len(ahead)), np.empty(len(ahead))
        for i in range(len(ahead)):
            location[i] = here = self._location
            scale[i] = max(math.sqrt(self._square_scale), _LEAST_SCALE * max(abs(here), 1.0))
            if i >= first:
                self._learn(float(arrived[i - first]))
        z_low, z_high = stdtrit(_DF, np.array(LEVELS90))
        return RegressionForecast(
            y=ahead,
            mean=location,
            lower=location + z_low * scale,
            upper=location + z_high * scale,
            ln_density=ln_density_student_t(ahead, _DF, location, scale),
            pit=stdtr(_DF, (ahead - location) / scale),
            crps=crps_student_t(ahead, _DF, location, scale),
        )

    def _learn(self, target: float) -> None:
        if math.isnan(target):
            return
        if self._n_targets:
            self._learn_error(target - self._location)
        else:
            self._square_scale = target * target or 1.0
        self._n_targets += 1
        self._observe(target)

    def _learn_error(self, error: float) -> None:
        self._n_errors += 1
        square = error * error
        if self._n_errors == 1:
            self._square_scale = square
            return
        if square:
            square *= (_DF + 1.0) / (_DF + square / self._square_scale) if self._square_scale else 1.0
        self._square_scale += (square - self._square_scale) / min(self._n_errors, _SCALE_MEMORY)

    def state(self) -> dict[str, Any]:
        """Return what was learned so far, as plain numbers."""
        return {
            "n_targets": self._n_targets,
            "n_errors": self._n_errors,
            "square_scale": self._square_scale,
            self._location_field: self._location,
        }

    def restore(self, fields: Fields) -> None:
        """Continue from what ``state`` returned."""
        self._n_targets, self._n_errors = fields.integer("n_targets"), fields.integer("n_errors")
        self._square_scale = fields.number("square_scale")
        if not self._square_scale >= 0.0:
            raise StateError(f"{fields.where}.square_scale is {self._square_scale}; it must not be negative")
        self._location = fields.number(self._location_field)


class NoChange(RegressionBaseline):
    """The next target is the last one.

    Examples
    --------
    >>> from sapwood.metrics.naive import NoChange
    >>> NoChange().forecast_then_learn([1.0, 2.0, 4.0]).mean.tolist()
    [0.0, 1.0, 2.0]
    """

    name = "no_change"
    _location_field = "last"

    def _observe(self, target: float) -> None:
        self._location = target


class RunningMean(RegressionBaseline):
    """The next target is the mean of all so far.

    Examples
    --------
    >>> from sapwood.metrics.naive import RunningMean
    >>> RunningMean().forecast_then_learn([1.0, 2.0, 4.0]).mean.tolist()
    [0.0, 1.0, 1.5]
    """

    name = "running_mean"
    _location_field = "mean"

    def _observe(self, target: float) -> None:
        self._location += (target - self._location) / self._n_targets


class ClassBaseline(ABC):
    """Forecasts of a class from the labels so far. ``n_classes`` may grow between calls."""

    name: ClassVar[str]

    def __init__(self, n_classes: int) -> None:
        if n_classes < 1:
            raise ValueError(f"n_classes is {n_classes}; there must be at least 1 class.")
        self._counts = np.zeros(n_classes)

    @property
    def n_classes(self) -> int:
        """Classes known so far."""
        return len(self._counts)

    def add_classes(self, n_classes: int) -> None:
        """Make room for classes up to ``n_classes``."""
        self._counts = np.pad(self._counts, (0, max(0, n_classes - self.n_classes)))

    def forecast_then_learn(self, y_test: ArrayLike, y: ArrayLike | None = None) -> ClassForecast:
        """Forecast each row, then learn the class index that arrives. NaN is not learned."""
        ahead, arrived = _targets(y_test, y)
        highest = max(np.nanmax(ahead, initial=-1.0), np.nanmax(arrived, initial=-1.0))
        self.add_classes(int(highest) + 1)
        known = ~np.isnan(arrived)
        labels = arrived[known].astype(np.intp)
        # How many of the labels have been learned when each row is forecast.
        delay = len(ahead) - len(arrived)
        n_learned = np.append(0, np.cumsum(known))[np.clip(np.arange(len(ahead)) - delay, 0, len(arrived))]
        ones = np.zeros((len(labels) + 1, self.n_classes))
        ones[np.arange(len(labels)) + 1, labels] = 1.0
        counts = self._counts + np.cumsum(ones, axis=0)
        proba, label = self._forecast(counts[n_learned], labels, n_learned)
        self._counts = counts[-1]
        return ClassForecast(y=ahead, proba=proba, label=label)

    def state(self) -> dict[str, Any]:
        """Return what was learned so far, as plain data."""
        return {"counts": self._counts}

    def restore(self, fields: Fields) -> None:
        """Continue from what ``state`` returned."""
        counts = fields.floats("counts", (None,))
        if not len(counts) or not (counts >= 0.0).all():
            raise StateError(f"{fields.where}.counts must hold at least one class and no negative count")
        self._counts = counts

    @abstractmethod
    def _forecast(self, counts: Floats, labels: NDArray[np.intp], n_learned: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """Return probabilities and predictions for rows before which ``n_learned`` of the ``labels`` were learned."""


def _frequencies(counts: Floats) -> Floats:
    smoothed: Floats = (counts + 1.0) / (counts.sum(axis=1, keepdims=True) + counts.shape[1])
    return smoothed


class Majority(ClassBaseline):
    """The most frequent class so far, with the running frequencies (plus one of each class) as probabilities.

    Examples
    --------
    >>> from sapwood.metrics.naive import Majority
    >>> Majority(n_classes=2).forecast_then_learn([1, 1, 0]).label.tolist()
    [0.0, 1.0, 1.0]
    """

    name = "majority"

    def _forecast(self, counts: Floats, labels: NDArray[np.intp], n_learned: NDArray[np.intp]) -> tuple[Floats, Floats]:
        return _frequencies(counts), np.argmax(counts, axis=1).astype(np.float64)


class NoChangeClass(ClassBaseline):
    """The last class again.

    Its probability is the share of rows so far that repeated the class before them, with one of each outcome added; the
    remainder is divided among the other classes in proportion to their running frequencies. The last class is predicted
    even if another is more probable, since that is what "no change" means.

    Examples
    --------
    >>> from sapwood.metrics.naive import NoChangeClass
    >>> forecast = NoChangeClass(n_classes=2).forecast_then_learn([1, 1, 0])
    >>> forecast.label.tolist(), forecast.proba[2].round(3).tolist()
    ([0.0, 1.0, 1.0], [0.333, 0.667])
    """

    name = "no_change"

    def __init__(self, n_classes: int) -> None:
        super().__init__(n_classes)
        self._last = _NO_LABEL
        self._n_pairs = 0
        self._n_repeats = 0

    def _forecast(self, counts: Floats, labels: NDArray[np.intp], n_learned: NDArray[np.intp]) -> tuple[Floats, Floats]:
        last = np.append(self._last, labels)
        n_pairs = self._n_pairs + np.append(0, np.cumsum(last[:-1] != _NO_LABEL))
        n_repeats = self._n_repeats + np.append(0, np.cumsum(last[:-1] == labels))
        self._last, self._n_pairs, self._n_repeats = last[-1], n_pairs[-1], n_repeats[-1]

        proba, last = _frequencies(counts), last[n_learned]
        rows = np.flatnonzero(last != _NO_LABEL) if self.n_classes > 1 else np.empty(0, dtype=np.intp)
        repeat = ((n_repeats + 1.0) / (n_pairs + 2.0))[n_learned[rows]]
        proba[rows] *= ((1.0 - repeat) / (1.0 - proba[rows, last[rows]]))[:, np.newaxis]
        proba[rows, last[rows]] = repeat
        return proba, np.maximum(last, 0).astype(np.float64)

    def state(self) -> dict[str, Any]:
        own = {"last": int(self._last), "n_pairs": int(self._n_pairs), "n_repeats": int(self._n_repeats)}
        return {**super().state(), **own}

    def restore(self, fields: Fields) -> None:
        super().restore(fields)
        self._last = fields.integer("last", _NO_LABEL, self.n_classes - 1)
        self._n_pairs = fields.integer("n_pairs")
        self._n_repeats = fields.integer("n_repeats", 0, self._n_pairs)


def regression_baselines() -> dict[str, RegressionBaseline]:
    """The baselines of a regression, by name."""
    return {baseline.name: baseline for baseline in (NoChange(), RunningMean())}


def class_baselines(n_classes: int) -> dict[str, ClassBaseline]:
    """The baselines of a classification, by name."""
    return {baseline.name: baseline for baseline in (NoChangeClass(n_classes), Majority(n_classes))}

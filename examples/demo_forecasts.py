"""One-step-ahead forecasts, their scores, and the two baselines that every forecaster must beat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

WARM_UP = 100  # rows that are learned but not scored
_Z90 = 1.6448536269514722  # half the width of a normal's central 90 % interval, in standard deviations


@dataclass(frozen=True)
class Forecasts:
    """What one forecaster said about every row before it saw the row's target."""

    name: str
    mean: Floats
    low: Floats  # the central 90 % interval
    high: Floats
    ln_density: Floats  # of the target that came

    def squared_error(self, y: Floats) -> Floats:
        return (y - self.mean) ** 2

    def covered(self, y: Floats) -> NDArray[np.bool_]:
        return (self.low <= y) & (y <= self.high)


@dataclass(frozen=True)
class Scores:
    rmse: float
    log_score: float  # mean log density; higher is better
    coverage: float  # of the 90 % interval


@dataclass(frozen=True)
class Beliefs:
    """What a model believed, looked at every so many rows."""

    rows: Floats
    members: tuple[str, ...]
    weights: Floats  # (looks, members): each member's weight in the next prediction
    forgetting: Floats  # mean forgetting factor of all particles, each cloud counted by its weight


def scores(forecasts: Forecasts, y: Floats, rows: slice) -> Scores:
    """Scores over some rows."""
    return Scores(
        rmse=float(np.sqrt(np.mean(forecasts.squared_error(y)[rows]))),
        log_score=float(np.mean(forecasts.ln_density[rows])),
        coverage=float(np.mean(forecasts.covered(y)[rows])),
    )


def no_change(y: Floats) -> Forecasts:
    """The last target again, with the spread of the changes so far."""
    return _normal("no change", y, np.concatenate([[y[0]], y[:-1]]))


def running_mean(y: Floats) -> Forecasts:
    """The mean of the targets so far, with the spread of its errors so far."""
    return _normal("running mean", y, np.concatenate([[y[0]], np.cumsum(y)[:-1] / np.arange(1, len(y))]))


def clairvoyant(y: Floats, truth: Floats, noise: float) -> Forecasts:
    """One that knows the noise-free truth and the noise: nothing can do better for long."""
    return Forecasts(
        name="best possible",
        mean=truth,
        low=truth - _Z90 * noise,
        high=truth + _Z90 * noise,
        ln_density=-0.5 * (np.log(2.0 * np.pi * noise**2) + ((y - truth) / noise) ** 2),
    )


def _normal(name: str, y: Floats, mean: Floats) -> Forecasts:
    # A baseline may use only what came before: row t's spread comes from the errors of the rows before it.
    squared = (y - mean) ** 2
    var = np.full_like(y, np.nan)
    var[2:] = np.cumsum(squared)[1:-1] / np.arange(1, len(y) - 1)
    sd = np.sqrt(var)
    return Forecasts(
        name=name,
        mean=mean,
        low=mean - _Z90 * sd,
        high=mean + _Z90 * sd,
        ln_density=-0.5 * (np.log(2.0 * np.pi * var) + squared / var),
    )

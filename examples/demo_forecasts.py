"""What forecasters said about a stream, row by row, and how good it was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sapwood.metrics import coverage90, log_score, rmse
from sapwood.metrics.baselines import RegressionBaseline

Floats = NDArray[np.float64]

WARM_UP = 100  # rows that are learned but not scored


@dataclass(frozen=True)
class Forecasts:
    """What one forecaster said about every row before it saw the row's target."""

    name: str
    mean: Floats
    lower: Floats  # ends of the central 90 % interval
    upper: Floats
    ln_density: Floats  # of the target that came

    def squared_error(self, y: Floats) -> Floats:
        """Of the mean, row by row."""
        return (y - self.mean) ** 2

    def covered(self, y: Floats) -> NDArray[np.bool_]:
        """Whether the interval held the target, row by row."""
        return (self.lower <= y) & (y <= self.upper)


class Scores(NamedTuple):
    rmse: float
    log_score: float
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
        rmse(y[rows], forecasts.mean[rows]),
        log_score(forecasts.ln_density[rows]),
        coverage90(y[rows], forecasts.lower[rows], forecasts.upper[rows]),
    )


def of_baseline(name: str, baseline: RegressionBaseline, y: Floats) -> Forecasts:
    """A baseline's forecasts of the whole stream, each made from the rows before it."""
    said = baseline.forecast_then_learn(y)
    return Forecasts(name, said.mean, said.lower, said.upper, said.ln_density)


def clairvoyant(y: Floats, truth: Floats) -> Forecasts:
    """One that knows the noise-free truth and that the noise is standard normal: nothing can do better for long."""
    half_width = 1.6448536269514722  # of a standard normal's central 90 % interval
    ln_density = -0.5 * (np.log(2.0 * np.pi) + (y - truth) ** 2)
    return Forecasts("best possible", truth, truth - half_width, truth + half_width, ln_density)

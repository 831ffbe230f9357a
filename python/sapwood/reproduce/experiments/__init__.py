"""The experiments, in the order of the paper."""

from __future__ import annotations

from sapwood.reproduce._experiment import Experiment
from sapwood.reproduce.experiments.drift_regression import DriftRegression
from sapwood.reproduce.experiments.elec2 import Elec2
from sapwood.reproduce.experiments.fraud import Fraud
from sapwood.reproduce.experiments.friedman import Friedman
from sapwood.reproduce.experiments.height import Height
from sapwood.reproduce.experiments.moving_target import MovingTarget
from sapwood.reproduce.experiments.parabola import Parabola
from sapwood.reproduce.experiments.retirement import Retirement
from sapwood.reproduce.experiments.spam import Spam

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Retirement(),
        Parabola(),
        Friedman(),
        Spam(),
        DriftRegression(),
        Height(),
        MovingTarget(),
        Elec2(),
        Fraud(),
    )
}

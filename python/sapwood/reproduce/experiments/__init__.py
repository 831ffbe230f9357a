"""The experiments, in the order of the paper."""

from __future__ import annotations

from sapwood.reproduce._experiment import Experiment
from sapwood.reproduce.experiments.friedman import Friedman
from sapwood.reproduce.experiments.parabola import Parabola
from sapwood.reproduce.experiments.retirement import Retirement

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment for experiment in (Retirement(), Parabola(), Friedman())
}

"""Simple references: no change, running mean or class frequencies, and recursive least squares."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.quality.inputs import RAW
from benchmarks.quality.methods.method import Floats, Method, Peer, Run, peer
from benchmarks.quality.problems import Problem
from sapwood.metrics import naive


def _run(regression: Callable[[], Any], classification: Callable[[int], Any]) -> Callable[[Problem, str], Run]:
    def run(problem: Problem, form: str) -> Run:
        began, cpu_began = time.perf_counter(), time.process_time()
        forecaster = regression() if problem.is_regression else classification(problem.n_classes)
        forecast = forecaster.forecast_then_learn(problem.y)
        return Run(forecast, time.perf_counter() - began, time.process_time() - cpu_began, None, {})

    return run


class RecursiveLeastSquares(Peer):
    """Least squares over all rows so far, one rank-one update per row."""

    def __init__(self, n_inputs: int, ridge: float = 1e-3) -> None:
        self.settings = {"ridge": ridge}
        self._coefficients = np.zeros(n_inputs + 1)
        self._inverse = np.eye(n_inputs + 1) / ridge

    def rows(self, x: Floats, y: Floats) -> list[Floats]:
        return list(np.column_stack([np.ones(len(x)), x]))

    def forecast(self, row: Floats) -> float:
        return float(row @ self._coefficients)

    def learn(self, row: Floats, target: float) -> None:
        gain = self._inverse @ row
        gain /= 1.0 + row @ gain
        self._coefficients += gain * (target - row @ self._coefficients)
        self._inverse -= np.outer(gain, row @ self._inverse)

    def n_bytes(self) -> int:
        return int(self._coefficients.nbytes + self._inverse.nbytes)


BASELINES = [
    Method("no change", "baseline", True, True, (RAW,), _run(naive.NoChange, naive.NoChangeClass), takes_last=False),
    Method(
        "running mean / frequencies",
        "baseline",
        True,
        True,
        (RAW,),
        _run(naive.RunningMean, naive.Majority),
        takes_last=False,
    ),
    peer(
        "recursive least squares",
        "baseline",
        regression=lambda problem, n_inputs: RecursiveLeastSquares(n_inputs),
        scale_matters=True,
    ),
]

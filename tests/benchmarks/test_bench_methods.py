"""The loop that runs peers, and what is done with what they give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from benchmarks.quality.methods.baseline import RecursiveLeastSquares
from benchmarks.quality.methods.method import FLOOR, Method, Peer, class_forecast, prequential, regression_forecast
from benchmarks.quality.methods.ours import OURS, point_only
from benchmarks.quality.problems import Problem
from benchmarks.quality.scores import scores

from sapwood.datasets import friedman, moving_target
from sapwood.metrics import ClassForecast, RegressionForecast


class LastTarget(Peer):
    """Forecasts the last target it was taught."""

    def __init__(self) -> None:
        self.settings: dict[str, Any] = {}
        self._last = 0.0

    def rows(self, x: Any, y: Any) -> list[Any]:
        return list(x)

    def forecast(self, row: Any) -> float:
        return self._last

    def learn(self, row: Any, target: float) -> None:
        self._last = target

    def n_bytes(self) -> None:
        return None


def _regression(n: int = 400) -> Problem:
    stream = friedman(n=n, seed=0)
    return Problem("Friedman", stream.X, stream.y, 0, lagged=False)


def test_each_row_is_forecast_before_it_is_learned() -> None:
    problem = _regression()
    mean = prequential(LastTarget(), problem, problem.X).forecast.mean
    np.testing.assert_array_equal(mean[1:], problem.y[:-1])


def test_recursive_least_squares_is_least_squares() -> None:
    """After all rows its coefficients are those of one ridge regression; tolerance: 400 rank-one updates."""
    problem = _regression()
    learner = RecursiveLeastSquares(5, ridge=1e-3)
    prequential(learner, problem, problem.X)
    design = np.column_stack([np.ones(400), problem.X])
    direct = np.linalg.solve(design.T @ design + 1e-3 * np.eye(6), design.T @ problem.y)
    x = np.array([1.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    np.testing.assert_allclose(learner.forecast(x), x @ direct, rtol=1e-6)


def test_forecasts_that_are_no_numbers_are_counted_and_replaced() -> None:
    problem = _regression(300)
    points = problem.y.tolist()
    points[250] = float("nan")
    points[251] = float("inf")
    forecast, n_replaced = regression_forecast(problem, points)
    assert n_replaced == 2
    assert forecast.mean[250] == problem.y[249]


@pytest.mark.parametrize("given", [None, [], [0.0, 0.0, 0.0], [float("nan"), 0.5, 0.5], [-1.0, 1.0, 1.0]])
def test_rows_without_probabilities_become_equal(given: Any) -> None:
    problem = Problem("three classes", np.zeros((2, 1)), np.array([0.0, 2.0]), 3, lagged=False)
    forecast, n_replaced = class_forecast(problem, [given, [2.0, 2.0]])
    assert n_replaced == 1
    np.testing.assert_allclose(forecast.proba[0], 1 / 3)
    assert forecast.proba[1, 2] == pytest.approx(FLOOR, rel=0.01)  # the floor, before the row is made to sum to one
    np.testing.assert_allclose(forecast.proba.sum(axis=1), 1.0)


def _ours() -> Method:
    return next(method for method in OURS if method.name == "Sapwood")


def test_ours_regression_has_every_score_and_a_point_only_twin() -> None:
    run = _ours().run(_regression(260), "raw")
    assert isinstance(run.forecast, RegressionForecast)
    twin = point_only(run)
    np.testing.assert_array_equal(twin.forecast.mean, run.forecast.mean)
    for which in (run, twin):
        assert all(np.isfinite(value) for value in scores(which.forecast).values())
    assert run.model_bytes is not None
    assert run.settings["bank"]


def test_ours_classification_has_every_score() -> None:
    stream = moving_target(n=260, seed=0)
    run = _ours().run(Problem("XOR", stream.X, stream.y.astype(float), 2, lagged=False), "raw")
    assert isinstance(run.forecast, ClassForecast)
    assert all(np.isfinite(value) for value in scores(run.forecast).values())

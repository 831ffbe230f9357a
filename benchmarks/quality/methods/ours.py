"""Sapwood with all defaults, as the prequential loop runs it: labels arrive immediately, so lags are on."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.quality.inputs import RAW
from benchmarks.quality.methods.method import SEED, Method, Run
from benchmarks.quality.problems import Problem
from benchmarks.quality.residual_distribution import residual_forecast
from sapwood import DynamicTreeClassifier, DynamicTreeRegressor
from sapwood._core import Model
from sapwood._fitted import new_model
from sapwood.metrics import ClassForecast, RegressionForecast

_LEVELS = np.array([0.05, 0.95])

POINT_SUFFIX = ", mean only"


def start(problem: Problem, seed: int = SEED, **parameters: Any) -> Model:
    """A new model with the defaults of the prequential loop, overridden by ``parameters``."""
    estimator = DynamicTreeRegressor if problem.is_regression else DynamicTreeClassifier
    parameters = {"lags": "auto", "random_state": seed, **parameters}
    return new_model(estimator(**parameters), problem.X.shape[1], problem.n_classes, problem.n_classes)


def forecast_then_learn(problem: Problem, model: Model) -> RegressionForecast | ClassForecast:
    """Forecast each row, with everything that is scored, then learn it."""
    x, y = problem.X, problem.y
    if problem.is_regression:
        ahead = model.forecast_then_learn(x, y, x, y, levels=_LEVELS, pit=True, crps=True)
        return RegressionForecast.from_core(ahead, y)
    return ClassForecast.from_core(model.forecast_then_learn(x, y, x, y), y)


def bank(model: Model) -> list[dict[str, Any]]:
    """The members of the bank, for the record."""
    members = (model.member_config(i) for i in range(model.n_members))
    return [
        {
            "leaf": member.leaf,
            "n_particles": member.n_particles,
            "max_active": member.max_active,
            "discard": member.discard,
            "forgetting": member.forgetting,
            "lags": member.lags,
        }
        for member in members
    ]


def point_only(run: Run) -> Run:
    """The same run with only its mean, and the distribution of its own recent errors."""
    assert isinstance(run.forecast, RegressionForecast)
    forecast = residual_forecast(run.forecast.y, run.forecast.mean)
    return Run(forecast, run.seconds, run.cpu_seconds, run.model_bytes, run.settings)


def _with(**parameters: Any) -> Any:
    def run(problem: Problem, form: str) -> Run:
        # Timed like the peers: forecast and learn. Only the suite needs the exact CRPS and quantiles of every row, so
        # regression is timed in a pass without them.
        x, y = problem.X, problem.y
        model = start(problem, **parameters)
        began, cpu_began = time.perf_counter(), time.process_time()
        ahead = model.forecast_then_learn(x, y, x, y)
        seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu_began
        forecast: RegressionForecast | ClassForecast
        if problem.is_regression:
            forecast = forecast_then_learn(problem, start(problem, **parameters))
        else:
            forecast = ClassForecast.from_core(ahead, y)
        return Run(forecast, seconds, cpu_seconds, len(model.save(b"")), {**parameters, "bank": bank(model)})

    return run


OURS = [
    Method("Sapwood", "sapwood", True, True, (RAW,), _with(), takes_last=False),
    Method("Sapwood, lags=0", "sapwood", True, True, (RAW,), _with(lags=0), takes_last=False),
]

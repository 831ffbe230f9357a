"""The jobs of the target table on generated data: fixed seeds, one thread, N = 1000 unless stated otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.speed.measured import Effort, Measured
from benchmarks.speed.timing import Timing, best_of
from sapwood import DynamicTreeRegressor
from sapwood._core import Model
from sapwood._fitted import native, new_model
from sapwood.datasets import friedman

SEED = 0
# The trees, and so the cost, vary by about 10 % with the seed: learning is timed with several seeds.
_LEARNING_SEEDS = range(5)
_POOL = 200


def friedman_jobs(effort: Effort) -> Iterator[Measured]:
    """Learning Friedman's function with linear leaves: 1800 steps with a full pool of 200, or 2000 keeping every point.

    Each time is the mean over several seeds of the best time per seed.
    """
    online: dict[str, Any] = {"max_active": _POOL, "forgetting": 1.0, "prior": "reference"}
    yield _learn("Friedman ORAND, w=200, 1800 steps", effort, {**online, "discard": "random"}, (0.20, 0.12, 20.6))
    yield _learn("Friedman OALC, w=200, 1800 steps", effort, {**online, "discard": "alc"}, (0.26, 0.15, 39.0))
    full: dict[str, Any] = {"max_active": None, "prior": "reference"}
    yield _learn("Friedman FULL, 2000 steps, reference prior", effort, full, (0.40, 0.20, 51.0))
    yield _learn("Friedman FULL, 2000 steps, default prior", effort, {"max_active": None}, (0.60, 0.30, None))


def _cloud(n_inputs: int, parameters: dict[str, Any]) -> Model:
    settings: dict[str, Any] = {"leaf": "linear", "n_particles": 1000, "random_state": SEED, **parameters}
    return new_model(DynamicTreeRegressor(**settings), n_inputs)


def _learn(
    name: str, effort: Effort, parameters: dict[str, Any], goals: tuple[float | None, float | None, float | None]
) -> Measured:
    n_before = _POOL if parameters["max_active"] is not None else 0
    n_steps = effort.steps(2000 - n_before)
    timings = [_learn_seed(seed, n_before, n_steps, effort, parameters) for seed in _LEARNING_SEEDS]
    target, stretch, r_package = goals
    mean = float(np.mean([timing.cpu_seconds for timing in timings]))
    detail = {"seeds": {seed: timing.as_record() for seed, timing in zip(_LEARNING_SEEDS, timings, strict=True)}}
    return Measured(name, mean, "s", target, stretch, r_package, {**detail, "steps": n_steps})


def _learn_seed(seed: int, n_before: int, n_steps: int, effort: Effort, parameters: dict[str, Any]) -> Timing:
    stream = friedman(n=n_before + n_steps, seed=seed)

    def with_a_full_pool() -> Model:
        model = _cloud(5, {**parameters, "random_state": seed})
        model.learn(stream.X[:n_before], stream.y[:n_before])
        return model

    return best_of(effort.n_runs, with_a_full_pool, lambda model: model.learn(stream.X[n_before:], stream.y[n_before:]))


def wide_jobs(effort: Effort) -> Iterator[Measured]:
    """Many inputs: the rate has no target."""
    n_before, n_steps = 100, effort.steps(500)
    for leaf, n_inputs in (("constant", 100), ("linear", 50)):
        rng = np.random.default_rng(SEED)
        x = rng.random((n_before + n_steps, n_inputs))
        y = 10.0 * np.sin(np.pi * x[:, 0]) + 5.0 * x[:, -1] + rng.standard_normal(len(x))

        def started(leaf: str = leaf, x: Any = x, y: Any = y) -> Model:
            model = _cloud(x.shape[1], {"leaf": leaf, "max_active": 100})
            model.learn(x[:n_before], y[:n_before])
            return model

        def learn(model: Model, x: Any = x, y: Any = y) -> None:
            model.learn(x[n_before:], y[n_before:])

        timing = best_of(min(effort.n_runs, 3), started, learn, warm_up=False)
        name = f"{n_inputs} inputs, {leaf} leaves, w=100"
        yield Measured(name, n_steps / timing.cpu_seconds, "rows/s", None, None, None, timing.as_record())


def prediction_jobs(effort: Effort) -> Iterator[Measured]:
    """Predicting 1000 rows with a cloud that keeps 2000 active points."""
    n_learned = effort.steps(2000)
    stream = friedman(n=n_learned + effort.steps(1000), seed=SEED)
    model = _cloud(5, {"max_active": None})
    model.learn(stream.X[:n_learned], stream.y[:n_learned])
    fresh = stream.X[n_learned:]
    levels = np.array([0.05, 0.25, 0.5, 0.75, 0.95])

    def moments(_: None) -> None:
        predictive = model.predictive(fresh)
        predictive.mean()
        predictive.var()

    def quantiles(_: None) -> None:
        moments(None)
        model.predictive(fresh).quantile(levels)

    for name, work, goals in (
        ("predict 1000 rows, FULL cloud: mean and sd", moments, (0.025, 0.010, 0.18)),
        ("predict 1000 rows, FULL cloud: with 5 quantiles", quantiles, (0.150, 0.060, 1.7)),
    ):
        timing = best_of(effort.n_runs, lambda: None, work)
        yield Measured(name, timing.cpu_seconds, "s", *goals, timing.as_record())


def row_by_row(effort: Effort) -> Iterator[Measured]:
    """Overhead of the Python layer per row: ``partial_fit`` of single rows minus one engine call for all rows."""
    stream = friedman(n=10 + effort.steps(2000), seed=SEED)
    small: dict[str, Any] = {"leaf": "constant", "n_particles": 1, "max_active": 10, "random_state": SEED}

    def started() -> DynamicTreeRegressor:
        return DynamicTreeRegressor(**small).partial_fit(stream.X[:10], stream.y[:10])

    def one_by_one(model: DynamicTreeRegressor) -> None:
        for t in range(10, len(stream)):
            model.partial_fit(stream.X[t : t + 1], stream.y[t : t + 1])

    def at_once(model: DynamicTreeRegressor) -> None:
        native(model).learn(stream.X[10:], stream.y[10:])

    single, batch = best_of(effort.n_runs, started, one_by_one), best_of(effort.n_runs, started, at_once)
    overhead = (single.cpu_seconds - batch.cpu_seconds) / (len(stream) - 10) * 1e6
    detail = {"one_by_one": single.as_record(), "at_once": batch.as_record()}
    yield Measured("partial_fit of one row, above the engine's time", overhead, "us", 5.0, None, None, detail)

"""How the cost of one observation grows: with t, N, w, p and the number of classes; and prediction with rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.speed.timing import best_of
from sapwood import DynamicTreeClassifier, DynamicTreeRegressor
from sapwood._core import Model
from sapwood.datasets import friedman

Floats = NDArray[np.float64]

_SEED = 0


@dataclass(frozen=True)
class Curve:
    """Microseconds of processor time per observation (or per predicted row) against one quantity."""

    name: str
    against: str
    promise: str
    x: list[float]
    microseconds: list[float]

    @property
    def slope(self) -> float:
        """Exponent of the growth: least squares on log scales."""
        return float(np.polyfit(np.log(self.x), np.log(self.microseconds), 1)[0])

    def as_record(self) -> dict[str, Any]:
        """The curve as it is stored."""
        return {
            "name": self.name,
            "against": self.against,
            "promise": self.promise,
            "x": self.x,
            "microseconds": [round(value, 3) for value in self.microseconds],
            "exponent": round(self.slope, 3),
        }


def _regression(n: int, p: int) -> tuple[Floats, Floats]:
    r = np.random.default_rng(_SEED)
    x = r.random((n, p))
    return x, 10.0 * np.sin(np.pi * x[:, 0]) + 5.0 * x[:, -1] + r.standard_normal(n)


def _steady(start: Callable[[], Model], x: Any, y: Any, n_before: int, n_runs: int) -> float:
    """Microseconds a row once the pool is full."""

    def full() -> Model:
        model = start()
        model.learn(x[:n_before], y[:n_before])
        return model

    timing = best_of(n_runs, full, lambda model: model.learn(x[n_before:], y[n_before:]), warm_up=False)
    return timing.cpu_seconds / (len(x) - n_before) * 1e6


def _cloud(n_inputs: int, **parameters: Any) -> Callable[[], Model]:
    settings: dict[str, Any] = {"n_particles": 200, "max_active": 100, "random_state": _SEED, **parameters}
    return lambda: DynamicTreeRegressor(**settings)._start(n_inputs)


def against_particles(n_runs: int) -> Curve:
    """Cost against N."""
    stream, sizes = friedman(n=1200, seed=_SEED), [50, 100, 200, 500, 1000, 2000]
    cost = [_steady(_cloud(5, n_particles=n, leaf="linear"), stream.X, stream.y, 200, n_runs) for n in sizes]
    return Curve("particles, linear leaves", "N", "no faster than N", [float(n) for n in sizes], cost)


def against_pool(n_runs: int) -> Curve:
    """Cost against w."""
    sizes = [25, 50, 100, 200, 500, 1000]
    stream = friedman(n=2500, seed=_SEED)
    cost = [
        _steady(_cloud(5, max_active=w, leaf="linear"), stream.X[: w + 1000], stream.y[: w + 1000], w, n_runs)
        for w in sizes
    ]
    return Curve("pool, linear leaves", "w", "slowly", [float(w) for w in sizes], cost)


def against_inputs(leaf: str, promise: str, sizes: list[int], n_runs: int) -> Curve:
    """Cost against p."""
    cost = [_steady(_cloud(p, leaf=leaf), *_regression(1000, p), 200, n_runs) for p in sizes]
    return Curve(f"inputs, {leaf} leaves", "p", promise, [float(p) for p in sizes], cost)


def against_classes(n_runs: int) -> Curve:
    """Cost against the number of classes."""
    sizes = [2, 4, 8, 16, 32]
    r = np.random.default_rng(_SEED)
    x = r.random((1200, 3))
    cost = []
    for n_classes in sizes:
        y = np.floor(x[:, 0] * n_classes)
        estimator = DynamicTreeClassifier(n_particles=200, max_active=200, random_state=_SEED)

        def start(estimator: DynamicTreeClassifier = estimator, n_classes: int = n_classes) -> Model:
            return estimator._start(3, n_classes, n_classes)

        cost.append(_steady(start, x, y, 200, n_runs))
    return Curve("classes, multinomial leaves", "classes", "no faster than classes", [float(k) for k in sizes], cost)


def _rows(x: Floats, y: Floats, which: slice) -> tuple[Floats, Floats]:
    return x[which], y[which]


def against_time(n_rows: int) -> Curve:
    """Cost against t: the same stream without end, the default bank but for smaller clouds."""
    x, y = _regression(n_rows, 5)
    model = DynamicTreeRegressor(n_particles=50, max_active=[25, 100], random_state=_SEED)._start(5)
    ends = [int(end) for end in np.geomspace(1000, n_rows, num=7)]
    done, times, cost = 0, [], []
    for end in ends:
        block = min(1000, end - done)
        model.learn(x[done : end - block], y[done : end - block])
        last = slice(end - block, end)
        timing = best_of(1, partial(_rows, x, y, last), lambda rows: model.learn(*rows), warm_up=False)
        done = end
        times.append(float(end))
        cost.append(timing.cpu_seconds / block * 1e6)
    return Curve("time", "t", "flat", times, cost)


def prediction(n_runs: int) -> Curve:
    """Cost of one predicted row (mean and variance) against how many are asked for at once."""
    stream = friedman(n=1000, seed=_SEED)
    model = _cloud(5, leaf="linear", n_particles=1000, max_active=None)()
    model.learn(stream.X, stream.y)
    sizes = [1, 10, 100, 1000, 10_000]
    x = np.random.default_rng(_SEED).random((sizes[-1], 5))
    cost = [
        best_of(n_runs, partial(model.predictive, x[:n]), lambda predictive: predictive.var()).cpu_seconds / n * 1e6
        for n in sizes
    ]
    return Curve("prediction, 1000 particles", "rows at once", "falling", [float(n) for n in sizes], cost)


def curves(n_runs: int, n_rows: int) -> list[Curve]:
    """Every curve."""
    made = [
        against_particles(n_runs),
        against_pool(n_runs),
        against_inputs("constant", "no faster than p", [2, 5, 10, 20, 50, 100], n_runs),
        against_inputs("linear", "no faster than p squared", [2, 5, 10, 20, 50], n_runs),
        against_classes(n_runs),
        prediction(n_runs),
        against_time(n_rows),
    ]
    for curve in made:
        points = "  ".join(f"{x:g}: {cost:.1f}" for x, cost in zip(curve.x, curve.microseconds, strict=True))
        print(
            f"{curve.name:30} ~ {curve.against}^{curve.slope:.2f} ({curve.promise})   us by {curve.against}  {points}"
        )
    return made

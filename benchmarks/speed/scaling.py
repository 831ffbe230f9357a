"""Cost of one observation against t, N, w, p and the number of classes, and of prediction against the batch size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.memory.flat import resident_megabytes
from benchmarks.speed.measured import Effort
from benchmarks.speed.timing import best_of
from sapwood import DynamicTreeClassifier, DynamicTreeRegressor
from sapwood._core import Model
from sapwood._fitted import new_model
from sapwood.datasets import friedman

Floats = NDArray[np.float64]
Start = Callable[[int], Model]  # from a seed

_SEED = 0
# Trees take different shapes by chance, and one shape may cost twice as much as another.
_N_SHAPES = 4
_CHECKPOINTS = [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000]
_BLOCK = 1_000  # rows generated at a time
# Blocks timed at each checkpoint: shapes change over thousands of rows, and the cost with them.
_TIMED_BLOCKS = 20


@dataclass(frozen=True)
class Curve:
    """Microseconds of processor time per observation (or per predicted row) against one quantity.

    ``most`` is the largest allowed exponent; None where there is no limit. ``detail`` holds other measurements at the
    same points.
    """

    name: str
    against: str
    most: float | None
    x: list[float]
    microseconds: list[float]
    detail: dict[str, Any] = field(default_factory=dict)

    @property
    def slope(self) -> float:
        """Exponent of the growth: least squares on log scales."""
        return float(np.polyfit(np.log(self.x), np.log(self.microseconds), 1)[0])

    def as_record(self) -> dict[str, Any]:
        """The curve in the form in which it is stored."""
        return {
            "name": self.name,
            "against": self.against,
            "exponent": round(self.slope, 3),
            "exponent_promised": self.most,
            "x": self.x,
            "microseconds": [round(value, 3) for value in self.microseconds],
            **self.detail,
        }

    def summary(self) -> str:
        """The curve in one line."""
        promise = "" if self.most is None else f" (at most {self.most:g})"
        points = "  ".join(f"{x:,.0f}: {cost:.1f}" for x, cost in zip(self.x, self.microseconds, strict=True))
        return f"{self.name:32} exponent {self.slope:5.2f}{promise:15} us by {self.against}: {points}"


def curves(effort: Effort) -> Iterator[Curve]:
    """Every curve."""
    yield against_particles(effort)
    yield against_pool(effort)
    yield against_inputs("constant", 1.0, [2, 5, 10, 20, 50, 100], effort)
    yield against_inputs("linear", 2.0, [2, 5, 10, 20, 50], effort)
    yield against_classes(effort)
    yield prediction(effort)
    yield against_time(effort)


def against_particles(effort: Effort) -> Curve:
    """Cost against N."""
    sizes = effort.some([50, 100, 200, 500, 1000, 2000])
    stream = friedman(n=200 + effort.steps(1000), seed=_SEED)
    cost = [_step_cost(_cloud(5, n_particles=n, leaf="linear"), stream.X, stream.y, 200, effort.n_runs) for n in sizes]
    return _curve("particles, linear leaves", "N", 1.0, sizes, cost)


def against_pool(effort: Effort) -> Curve:
    """Cost against w."""
    sizes = effort.some([25, 50, 100, 200, 500, 1000])
    n_steps = effort.steps(1000)
    stream = friedman(n=sizes[-1] + n_steps, seed=_SEED)
    cost = [
        _step_cost(
            _cloud(5, max_active=w, leaf="linear"), stream.X[: w + n_steps], stream.y[: w + n_steps], w, effort.n_runs
        )
        for w in sizes
    ]
    return _curve("pool, linear leaves", "w", None, sizes, cost)


def against_inputs(leaf: str, most: float, sizes: list[int], effort: Effort) -> Curve:
    """Cost against p."""
    sizes, n_steps = effort.some(sizes), effort.steps(800)
    cost = [_step_cost(_cloud(p, leaf=leaf), *_regression(200 + n_steps, p), 200, effort.n_runs) for p in sizes]
    return _curve(f"inputs, {leaf} leaves", "p", most, sizes, cost)


def against_classes(effort: Effort) -> Curve:
    """Cost against the number of classes."""
    sizes = effort.some([2, 4, 8, 16, 32])
    x = np.random.default_rng(_SEED).random((200 + effort.steps(1000), 3))
    cost = []
    for n_classes in sizes:
        start = partial(_classes, n_classes)
        cost.append(_step_cost(start, x, np.floor(x[:, 0] * n_classes), 200, effort.n_runs))
    return _curve("classes, multinomial leaves", "classes", 1.0, sizes, cost)


def prediction(effort: Effort) -> Curve:
    """Cost per predicted row (mean and variance) against the number of rows per call."""
    stream = friedman(n=effort.steps(1000), seed=_SEED)
    model = _cloud(5, leaf="linear", n_particles=1000, max_active=None)(_SEED)
    model.learn(stream.X, stream.y)
    sizes = effort.some([1, 10, 100, 1000, 10_000])
    x = np.random.default_rng(_SEED).random((sizes[-1], 5))
    cost = [
        best_of(effort.n_runs, partial(model.predictive, x[:n]), lambda predictive: predictive.var()).cpu_seconds
        / n
        * 1e6
        for n in sizes
    ]
    return _curve("prediction, 1000 particles", "rows at once", 0.0, sizes, cost)


def against_time(effort: Effort) -> Curve:
    """Cost against t on an endless stream, for a bank of two pools with enough copies to average over tree shapes.

    The model is saved at each checkpoint. Afterwards every saved model learns the rows that follow its checkpoint,
    interleaved, so that a busy minute affects all of them alike.
    """
    checkpoints = [t for t in _CHECKPOINTS if t <= effort.n_long] or [effort.n_long]
    settings: dict[str, Any] = {"n_particles": 20, "max_active": [25, 100], "copies": 10, "random_state": _SEED}
    model = new_model(DynamicTreeRegressor(**settings), 5)
    saved, memory, done = [], [], 0
    for t in checkpoints:
        for block in range(done // _BLOCK, t // _BLOCK):
            model.learn(*_block(block))
        done = t // _BLOCK * _BLOCK
        saved.append((done, model.save(b"")))
        memory.append(round(resident_megabytes(), 1))
    n_blocks = 1 if effort.quick else _TIMED_BLOCKS
    seconds = np.array([[_time_ahead(*checkpoint, n_blocks) for checkpoint in saved] for _ in range(effort.n_runs)])
    cost = seconds.min(axis=0) / (n_blocks * _BLOCK) * 1e6
    return _curve("time", "t", 0.0, checkpoints, cost.tolist(), {"resident_megabytes": memory})


def _time_ahead(done: int, saved: bytes, n_blocks: int) -> float:
    """Processor seconds that a saved model takes to learn the next blocks."""
    rows = _blocks(done // _BLOCK, n_blocks)
    return best_of(1, lambda: Model.load(saved)[0], lambda copy: copy.learn(*rows), warm_up=False).cpu_seconds


def _curve(
    name: str,
    against: str,
    most: float | None,
    sizes: list[int],
    cost: list[float],
    detail: dict[str, Any] | None = None,
) -> Curve:
    return Curve(name, against, most, [float(size) for size in sizes], cost, detail or {})


def _regression(n: int, p: int, seed: int = _SEED) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    x = rng.random((n, p))
    return x, 10.0 * np.sin(np.pi * x[:, 0]) + 5.0 * x[:, -1] + rng.standard_normal(n)


def _block(ix: int) -> tuple[Floats, Floats]:
    """One block of the endless stream, from row ``ix * _BLOCK``."""
    return _regression(_BLOCK, 5, seed=ix)


def _blocks(first: int, n: int) -> tuple[Floats, Floats]:
    x, y = zip(*(_block(ix) for ix in range(first, first + n)), strict=True)
    return np.concatenate(x), np.concatenate(y)


def _classes(n_classes: int, seed: int) -> Model:
    estimator = DynamicTreeClassifier(n_particles=200, max_active=200, random_state=seed)
    return new_model(estimator, 3, n_classes, n_classes)


def _cloud(n_inputs: int, **parameters: Any) -> Start:
    settings: dict[str, Any] = {"n_particles": 200, "max_active": 100, **parameters}
    return lambda seed: new_model(DynamicTreeRegressor(random_state=seed, **settings), n_inputs)


def _step_cost(start: Start, x: Floats, y: Floats, n_before: int, n_runs: int) -> float:
    """Microseconds per row once the pool is full, averaged over several tree shapes."""

    def full(seed: int) -> Model:
        model = start(seed)
        model.learn(x[:n_before], y[:n_before])
        return model

    def learn(model: Model) -> None:
        model.learn(x[n_before:], y[n_before:])

    seconds = [
        best_of(n_runs, partial(full, seed), learn, warm_up=False).cpu_seconds
        for seed in range(_SEED, _SEED + _N_SHAPES)
    ]
    return float(np.mean(seconds)) / (len(x) - n_before) * 1e6

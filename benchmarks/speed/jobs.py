"""The jobs of the target table: fixed data, fixed seeds, one thread, N = 1000 where nothing else is said."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.problems import Absent, Problem, problem
from benchmarks.speed.timing import best_of
from sapwood import DynamicTreeClassifier, DynamicTreeRegressor
from sapwood._core import Model
from sapwood.datasets import friedman
from sapwood.stream import evaluate

Floats = NDArray[np.float64]

_POOL = 200
_SEED = 0


@dataclass(frozen=True)
class Measured:
    """One line of the table. ``value`` and the targets are in ``unit``.

    ``r_package`` is what the R package dynaTree 1.2-17 took for the same work on a machine of the same kind.
    """

    job: str
    value: float
    unit: str
    target: float | None
    stretch: float | None
    r_package: float | None
    detail: dict[str, Any]

    @property
    def more_is_better(self) -> bool:
        return self.unit in ("rows/s", "times")

    @property
    def ratio_to_r(self) -> float | None:
        """How many times faster than the R package."""
        if self.r_package is None:
            return None
        return self.value / self.r_package if self.more_is_better else self.r_package / self.value

    def reached(self, goal: float | None) -> bool | None:
        """Whether a goal was reached; None where there is none."""
        if goal is None:
            return None
        return self.value >= goal if self.more_is_better else self.value <= goal


def friedman_jobs(n_runs: int) -> Iterator[Measured]:
    """Learning Friedman's function with linear leaves: 1800 steps with a full pool of 200, or 2000 keeping all."""
    online: dict[str, Any] = {"max_active": _POOL, "forgetting": 1.0, "prior": "reference"}
    yield _learn("Friedman ORAND, w=200, 1800 steps", n_runs, {**online, "discard": "random"}, (0.20, 0.12, 20.6))
    yield _learn("Friedman OALC, w=200, 1800 steps", n_runs, {**online, "discard": "alc"}, (0.26, 0.15, 39.0))
    full: dict[str, Any] = {"max_active": None, "prior": "reference"}
    yield _learn("Friedman FULL, 2000 steps, reference prior", n_runs, full, (0.40, 0.20, 51.0))
    yield _learn("Friedman FULL, 2000 steps, default prior", n_runs, {"max_active": None}, (0.60, 0.30, None))


def _cloud(parameters: dict[str, Any]) -> Model:
    settings: dict[str, Any] = {"leaf": "linear", "n_particles": 1000, "random_state": _SEED, **parameters}
    return DynamicTreeRegressor(**settings)._start(5)


def _learn(
    name: str, n_runs: int, parameters: dict[str, Any], goals: tuple[float | None, float | None, float | None]
) -> Measured:
    stream = friedman(n=2000, seed=_SEED)
    n_before = _POOL if parameters["max_active"] is not None else 0

    def with_a_full_pool() -> Model:
        model = _cloud(parameters)
        model.learn(stream.X[:n_before], stream.y[:n_before])
        return model

    timing = best_of(n_runs, with_a_full_pool, lambda model: model.learn(stream.X[n_before:], stream.y[n_before:]))
    target, stretch, r_package = goals
    return Measured(name, timing.cpu_seconds, "s", target, stretch, r_package, timing.as_record())


def prediction_jobs(n_runs: int) -> Iterator[Measured]:
    """Predicting 1000 rows with a cloud that kept 2000."""
    stream = friedman(n=3000, seed=_SEED)
    model = _cloud({"max_active": None})
    model.learn(stream.X[:2000], stream.y[:2000])
    fresh = stream.X[2000:]
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
        timing = best_of(n_runs, lambda: None, work)
        yield Measured(name, timing.cpu_seconds, "s", *goals, timing.as_record())


def elec2_jobs(n_runs: int, n_rows: int) -> Iterator[Measured]:
    """ELEC2: one cloud as the paper had it, the default bank through ``evaluate``, and the bank's file."""
    try:
        stream = problem("elec2_paper", n_rows)
    except Absent as reason:
        print(f"ELEC2: left out. {reason}")
        return
    yield _paper_cloud(stream, n_runs)
    yield from _default_bank(stream, n_runs)


def _rate(
    name: str, n_rows: int, goals: tuple[float, float, float | None], n_runs: int, work: Callable[[], object]
) -> Measured:
    timing = best_of(n_runs, lambda: None, lambda _: work(), warm_up=False)
    return Measured(name, n_rows / timing.cpu_seconds, "rows/s", *goals, timing.as_record())


def _paper_cloud(stream: Problem, n_runs: int) -> Measured:
    def work() -> None:
        model = DynamicTreeClassifier(n_particles=1000, max_active=100, forgetting=0.8, random_state=_SEED)
        model._start(stream.X.shape[1], 2, 2).forecast_then_learn(stream.X, stream.y, stream.X, stream.y)

    name = "ELEC2, w=100, lambda=.8, forecast then learn"
    return _rate(name, len(stream), (8_000.0, 20_000.0, 205.0), n_runs, work)


def _default_bank(stream: Problem, n_runs: int) -> Iterator[Measured]:
    labels = stream.y.astype(np.int64)
    learned = DynamicTreeClassifier(random_state=_SEED)

    def work() -> None:
        nonlocal learned
        learned = DynamicTreeClassifier(random_state=_SEED)
        evaluate(learned, (stream.X, labels))

    name = "ELEC2, all defaults, through evaluate"
    yield _rate(name, len(stream), (4_000.0, 12_000.0, None), n_runs, work)
    model = learned._started()
    data = model.save(b"")
    saving = best_of(max(n_runs, 3), lambda: None, lambda _: model.save(b""))
    loading = best_of(max(n_runs, 3), lambda: None, lambda _: Model.load(data))
    yield Measured("ELEC2 default model: save", saving.cpu_seconds, "s", 0.020, None, None, saving.as_record())
    yield Measured("ELEC2 default model: load", loading.cpu_seconds, "s", 0.020, None, None, loading.as_record())
    yield Measured("ELEC2 default model: file", len(data) / 1e6, "MB", 2.0, None, None, {"bytes": len(data)})


def row_by_row(n_runs: int) -> Iterator[Measured]:
    """What the Python layer adds to one row: ``partial_fit`` of single rows less one call of the engine for all."""
    stream = friedman(n=2000, seed=_SEED)
    small: dict[str, Any] = {"leaf": "constant", "n_particles": 1, "max_active": 10, "random_state": _SEED}

    def started() -> DynamicTreeRegressor:
        return DynamicTreeRegressor(**small).partial_fit(stream.X[:10], stream.y[:10])

    def one_by_one(model: DynamicTreeRegressor) -> None:
        for t in range(10, len(stream)):
            model.partial_fit(stream.X[t : t + 1], stream.y[t : t + 1])

    def at_once(model: DynamicTreeRegressor) -> None:
        model._started().learn(stream.X[10:], stream.y[10:])

    rows = len(stream) - 10
    single, batch = best_of(n_runs, started, one_by_one), best_of(n_runs, started, at_once)
    overhead = (single.cpu_seconds - batch.cpu_seconds) / rows * 1e6
    detail = {"one_by_one": single.as_record(), "at_once": batch.as_record()}
    yield Measured("partial_fit of one row, above the engine's time", overhead, "us", 5.0, None, None, detail)


def threads(n_runs: int) -> Iterator[Measured]:
    """The default bank on two threads against one, by the clock: to be read on a quiet machine."""
    stream = friedman(n=1000, seed=_SEED)

    def learn(n_threads: int) -> float:
        started = best_of(
            n_runs,
            lambda: DynamicTreeRegressor(random_state=_SEED)._start(5),
            lambda model: model.learn(stream.X, stream.y, n_threads=n_threads),
        )
        return started.seconds

    one, two = learn(1), learn(2)
    detail = {"one": one, "two": two}
    yield Measured("default bank: two threads over one", one / two, "times", 1.6, None, None, detail)

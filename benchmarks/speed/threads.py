"""Wall-clock speed-up of two threads on the default bank: on an idle machine, and with every core busy."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from benchmarks.speed.measured import Effort, Measured
from benchmarks.speed.timing import interleaved
from sapwood import DynamicTreeRegressor
from sapwood._core import Model
from sapwood._fitted import new_model
from sapwood.datasets import friedman

_SEED = 0
_N_BEFORE = 500  # rows learned before timing: the first rows are cheap and leave little work to share


def thread_jobs(effort: Effort) -> Iterator[Measured]:
    """The ratios of times; the first is meaningful only on an idle machine."""
    yield _ratio("default bank: two threads over one", effort, 1.6)
    with busy_cores():
        yield _ratio("default bank: two threads over one, every core busy", effort, 1.0)


def _ratio(name: str, effort: Effort, target: float) -> Measured:
    stream = friedman(n=_N_BEFORE + effort.steps(2500), seed=_SEED)

    def started() -> Model:
        model = new_model(DynamicTreeRegressor(lags="auto", random_state=_SEED), 5)
        model.learn(stream.X[:_N_BEFORE], stream.y[:_N_BEFORE])
        return model

    def learn(n_threads: int, model: Model) -> None:
        model.learn(stream.X[_N_BEFORE:], stream.y[_N_BEFORE:], n_threads=n_threads)

    one, two = (
        timing.seconds for timing in interleaved(effort.n_runs, started, [partial(learn, 1), partial(learn, 2)])
    )
    detail = {"one": one, "two": two, "n_runs": effort.n_runs, "load_1min": os.getloadavg()[0]}
    return Measured(name, one / two, "times", target, None, None, detail)


@contextmanager
def busy_cores() -> Iterator[None]:
    """Keep every core busy with a process that loops."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for process in loops:
            process.kill()
            process.wait()

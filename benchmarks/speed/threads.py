"""Two threads against one on the default bank, by the clock: alone, and while others keep every core busy."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.speed.measured import Effort, Measured
from benchmarks.speed.timing import best_of
from sapwood import DynamicTreeRegressor
from sapwood.datasets import friedman

_SEED = 0


def thread_jobs(effort: Effort) -> Iterator[Measured]:
    """The ratio of times; the first is to be read on a quiet machine."""
    yield _ratio("default bank: two threads over one", effort, 1.6)
    with busy_cores():
        yield _ratio("default bank: two threads over one, every core busy", effort, 1.0)


def _ratio(name: str, effort: Effort, target: float) -> Measured:
    stream = friedman(n=effort.steps(1000), seed=_SEED)
    seconds = [
        best_of(
            effort.n_runs,
            lambda: DynamicTreeRegressor(lags="auto", random_state=_SEED)._start(5),
            lambda model, n_threads=n_threads: model.learn(stream.X, stream.y, n_threads=n_threads),
        ).seconds
        for n_threads in (1, 2)
    ]
    detail = {"one": seconds[0], "two": seconds[1], "load_1min": os.getloadavg()[0]}
    return Measured(name, seconds[0] / seconds[1], "times", target, None, None, detail)


@contextmanager
def busy_cores() -> Iterator[None]:
    """A process on every core that does nothing but count."""
    counting = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for process in counting:
            process.kill()
            process.wait()

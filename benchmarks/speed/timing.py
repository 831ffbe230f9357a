"""How time is taken: a warm-up, then the best of several, because a neighbour can only make a run slower."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

Prepared = TypeVar("Prepared")


@dataclass(frozen=True)
class Timing:
    """Best times of several runs of the same work.

    Attributes
    ----------
    seconds : float
        Shortest time on the clock.
    cpu_seconds : float
        Shortest processor time, of all threads. On a busy machine the one to compare for work on one thread.
    """

    seconds: float
    cpu_seconds: float
    n_runs: int

    def as_record(self) -> dict[str, Any]:
        """The timing as it is stored."""
        return {"seconds": self.seconds, "cpu_seconds": self.cpu_seconds, "n_runs": self.n_runs}


def best_of(
    n_runs: int, prepare: Callable[[], Prepared], work: Callable[[Prepared], object], *, warm_up: bool = True
) -> Timing:
    """Time ``work`` on what ``prepare`` makes, afresh for each run; only the work is timed.

    Examples
    --------
    >>> from benchmarks.speed.timing import best_of
    >>> best_of(2, lambda: 1000, lambda n: sum(range(n))).n_runs
    2
    """
    seconds, cpu_seconds = [], []
    for run in range(n_runs + warm_up):
        prepared = prepare()
        began, cpu_began = time.perf_counter(), time.process_time()
        work(prepared)
        cpu_ended, ended = time.process_time(), time.perf_counter()
        if run >= warm_up:
            seconds.append(ended - began)
            cpu_seconds.append(cpu_ended - cpu_began)
    return Timing(min(seconds), min(cpu_seconds), n_runs)

"""How time is taken: a warm-up, then the best of several, because a neighbour can only make a run slower."""

from __future__ import annotations

import math
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
    return interleaved(n_runs, prepare, [work], warm_up=warm_up)[0]


def interleaved(
    n_runs: int, prepare: Callable[[], Prepared], works: list[Callable[[Prepared], object]], *, warm_up: bool = True
) -> list[Timing]:
    """The same for several pieces of work that are to be compared, one after the other in each run.

    A neighbour that is loud for a while is then loud for all of them.

    Examples
    --------
    >>> from benchmarks.speed.timing import interleaved
    >>> [timing.n_runs for timing in interleaved(2, lambda: 1000, [range, str])]
    [2, 2]
    """
    timings = [Timing(math.inf, math.inf, n_runs)] * len(works)
    for run in range(n_runs + warm_up):
        for at, work in enumerate(works):
            prepared = prepare()
            began, cpu_began = time.perf_counter(), time.process_time()
            work(prepared)
            cpu_ended, ended = time.process_time(), time.perf_counter()
            if run >= warm_up:
                best = timings[at]
                seconds, cpu_seconds = min(best.seconds, ended - began), min(best.cpu_seconds, cpu_ended - cpu_began)
                timings[at] = Timing(seconds, cpu_seconds, n_runs)
    return timings

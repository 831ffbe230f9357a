"""Timing: a warm-up, then the best of several runs, because other load can only make a run slower."""

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
        Shortest wall-clock time.
    cpu_seconds : float
        Shortest processor time, summed over threads. On a busy machine, compare this for single-threaded work.
    """

    seconds: float
    cpu_seconds: float
    n_runs: int

    def as_record(self) -> dict[str, Any]:
        """The timing in the form in which it is stored."""
        return {"seconds": self.seconds, "cpu_seconds": self.cpu_seconds, "n_runs": self.n_runs}


def best_of(
    n_runs: int, prepare: Callable[[], Prepared], work: Callable[[Prepared], object], *, warm_up: bool = True
) -> Timing:
    """Time ``work`` on a new result of ``prepare`` for each run; only the work is timed.

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
    """Time several pieces of work that are to be compared, one after the other within each run.

    Temporary load on the machine then affects all of them.

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

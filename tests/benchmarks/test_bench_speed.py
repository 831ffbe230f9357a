"""The speed suite's bookkeeping; how long anything takes is not tested."""

from __future__ import annotations

from benchmarks.speed.jobs import Measured
from benchmarks.speed.scaling import Curve
from benchmarks.speed.timing import best_of


def test_the_warm_up_is_not_counted_and_each_run_starts_afresh() -> None:
    made: list[list[int]] = []

    def prepare() -> list[int]:
        made.append([])
        return made[-1]

    timing = best_of(3, prepare, lambda work: work.append(1))
    assert timing.n_runs == 3
    assert made == [[1]] * 4


def test_more_is_better_only_for_rates() -> None:
    fast = Measured("a rate", 300.0, "rows/s", 200.0, None, 100.0, {})
    slow = Measured("a time", 0.3, "s", 0.2, 0.1, 3.0, {})
    assert fast.reached(fast.target)
    assert fast.ratio_to_r == 3.0
    assert not slow.reached(slow.target)
    assert slow.ratio_to_r == 10.0
    assert fast.reached(fast.stretch) is None


def test_the_exponent_of_a_power_law() -> None:
    curve = Curve("a curve", "x", "", [1.0, 2.0, 4.0], [3.0, 12.0, 48.0])
    assert round(curve.slope, 6) == 2.0

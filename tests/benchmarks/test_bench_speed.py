"""The speed suite's bookkeeping; how long anything takes is not tested."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.quality.problems import Unavailable, problem
from benchmarks.speed.__main__ import main
from benchmarks.speed.measured import Effort, Measured
from benchmarks.speed.peers import compare
from benchmarks.speed.scaling import Curve
from benchmarks.speed.timing import best_of, interleaved


def test_the_warm_up_is_not_counted_and_each_run_starts_afresh() -> None:
    made: list[list[int]] = []

    def prepare() -> list[int]:
        made.append([])
        return made[-1]

    timing = best_of(3, prepare, lambda work: work.append(1))
    assert timing.n_runs == 3
    assert made == [[1]] * 4


def test_what_is_compared_takes_turns() -> None:
    """Faults it catches: all runs of one before the first of the other, so that a loud minute falls on one alone."""
    order: list[str] = []
    timings = interleaved(2, lambda: order, [lambda done: done.append("one"), lambda done: done.append("two")])
    assert order == ["one", "two"] * 3
    assert [timing.n_runs for timing in timings] == [2, 2]


def test_more_is_better_only_for_rates() -> None:
    fast = Measured("a rate", 300.0, "rows/s", 200.0, None, 100.0, {})
    slow = Measured("a time", 0.3, "s", 0.2, 0.1, 3.0, {})
    assert fast.reached(fast.target)
    assert fast.ratio_to_r == 3.0
    assert not slow.reached(slow.target)
    assert slow.ratio_to_r == 10.0
    assert fast.reached(fast.stretch) is None
    assert (fast.verdict, slow.verdict) == ("reached", "missed")
    assert Measured("a better time", 0.05, "s", 0.2, 0.1, None, {}).verdict == "stretch"
    assert Measured("only stated", 0.05, "s", None, None, None, {}).verdict == ""


def test_the_exponent_of_a_power_law() -> None:
    curve = Curve("a curve", "x", None, [1.0, 2.0, 4.0], [3.0, 12.0, 48.0])
    assert round(curve.slope, 6) == 2.0


def test_a_quick_look_does_less() -> None:
    assert Effort(5, 10_000, 100_000).steps(2000) == 2000
    assert Effort(1, 300, 3000, quick=True).steps(2000) == 40
    assert Effort(1, 300, 3000, quick=True).some([1, 2, 3]) == [1, 2]


@pytest.mark.slow
def test_everything_runs_and_says_on_which_machine(tmp_path: Path) -> None:
    assert main(["--quick", "jobs", "threads", "scaling", "--out", str(tmp_path)]) == 0
    stored = {part: json.loads((tmp_path / f"{part}.json").read_text()) for part in ("jobs", "threads", "scaling")}
    for part, record in stored.items():
        assert {"processor", "cores", "load_1min", "commit"} <= set(record["machine"])
        assert record[part]
    assert all(line["value"] > 0 for part in ("jobs", "threads") for line in stored[part][part] if line["unit"] != "us")
    assert [curve["against"] for curve in stored["scaling"]["scaling"]] == [
        "N",
        "w",
        "p",
        "p",
        "classes",
        "rows at once",
        "t",
    ]
    assert (tmp_path / "scaling.png").read_bytes().startswith(b"\x89PNG")


def test_peers_stand_beside_sapwood_on_the_same_rows() -> None:
    try:
        problem("elec2_paper", 10)
    except Unavailable as reason:
        pytest.skip(str(reason))
    ours, naive = compare(1500, ("Sapwood", "a method that is not there", "scikit-learn naive Bayes"))
    assert ours["sapwood_times_as_fast"] == 1.0
    assert ours["rows"] == naive["rows"] == 1500
    assert 0 < ours["log_loss"] < naive["log_loss"]

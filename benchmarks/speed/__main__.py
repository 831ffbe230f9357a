"""Speed: the jobs of the target table, the peers on ELEC2 in the same run, and how the cost grows.

    python -m benchmarks.speed                        everything, best of 5
    python -m benchmarks.speed jobs peers             only these parts (jobs, peers, scaling)
    python -m benchmarks.speed --runs 1 --rows 2000   a quick look

Times are processor seconds of one thread, the best of the runs: a neighbour can only make a run slower. What is
measured is stored in benchmarks/speed/results/, with the machine it was measured on.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.speed import jobs, peers, picture, scaling

FOLDER = Path(__file__).parent / "results"
PARTS = ("jobs", "peers", "scaling")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.speed", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="part", help=f"{', '.join(PARTS)} (default: all)")
    parser.add_argument("--runs", type=int, default=5, help="best of so many (default: 5)")
    parser.add_argument("--rows", type=int, default=10_000, help="rows of ELEC2 (default: 10,000)")
    parser.add_argument("--long", type=int, default=100_000, help="rows of the curve against time (default: 100,000)")
    options = parser.parse_args()
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"there is no part {sorted(unknown)[0]!r}; the parts are {', '.join(PARTS)}")
    parts = options.parts or PARTS
    if "jobs" in parts:
        _store("jobs", [_line(measured) for measured in _jobs(options.runs, options.rows)])
    if "peers" in parts:
        _store("peers", peers.compare(options.rows))
    if "scaling" in parts:
        made = scaling.curves(options.runs, options.long)
        _store("scaling", [curve.as_record() for curve in made])
        picture.draw(made, FOLDER / "scaling.png")
    return 0


def _jobs(n_runs: int, n_rows: int) -> Iterator[jobs.Measured]:
    yield from jobs.friedman_jobs(n_runs)
    yield from jobs.prediction_jobs(n_runs)
    yield from jobs.row_by_row(n_runs)
    yield from jobs.threads(n_runs)
    # ELEC2 is long: the best of three says as much.
    yield from jobs.elec2_jobs(min(n_runs, 3), n_rows)


def _line(measured: jobs.Measured) -> dict[str, Any]:
    ratio = "" if measured.ratio_to_r is None else f"{measured.ratio_to_r:6.0f} x R"
    target, stretch = measured.reached(measured.target), measured.reached(measured.stretch)
    mark = "stretch" if stretch else "reached" if target else "missed"
    goal = "" if measured.target is None else f"target {measured.target:g}"
    print(f"{mark:8} {measured.job:52}{ratio:>10} {measured.value:11.4g} {measured.unit:8} {goal}", flush=True)
    return {
        "job": measured.job,
        "ratio_to_r_package": measured.ratio_to_r,
        "value": measured.value,
        "unit": measured.unit,
        "target": measured.target,
        "stretch": measured.stretch,
        "reached": target,
        "detail": measured.detail,
    }


def _store(part: str, content: list[dict[str, Any]]) -> None:
    FOLDER.mkdir(exist_ok=True)
    record = {"machine": machine.facts(), part: content}
    (FOLDER / f"{part}.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())

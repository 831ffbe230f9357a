"""Speed: the jobs of the target table, the peers on ELEC2 in the same run, and scaling curves.

    python -m benchmarks.speed                   everything, best of 5
    python -m benchmarks.speed jobs peers        only these parts (jobs, threads, peers, scaling)
    python -m benchmarks.speed scaling --long 1000000
    python -m benchmarks.speed page              update the tables of docs/performance.md from the stored results
    python -m benchmarks.speed --quick           check that everything runs; stores nothing

Times are processor seconds, the best of several runs, because other load can only make a run slower. Only the
comparison of two threads with one uses wall-clock time. Results are stored in benchmarks/speed/results/ with a
description of the machine.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.speed import elec2, jobs, page, peers, picture, scaling, threads
from benchmarks.speed.measured import Effort, Measured

FOLDER = Path(__file__).parent / "results"
PARTS = ("jobs", "threads", "peers", "scaling")
_PAGE = "page"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.speed", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="part", help=f"{', '.join(PARTS)} (default: all), {_PAGE}")
    parser.add_argument("--runs", type=int, default=5, help="number of runs, of which the best counts (default: 5)")
    parser.add_argument("--rows", type=int, default=10_000, help="rows of ELEC2 (default: 10,000)")
    parser.add_argument("--peer-rows", type=int, help="rows of ELEC2 beside the peers (default: that of --rows)")
    parser.add_argument("--long", type=int, default=100_000, help="rows for the curve over time (default: 100,000)")
    parser.add_argument("--quick", action="store_true", help="few steps and sizes; store nothing")
    parser.add_argument("--out", type=Path, help="folder for the results (default: benchmarks/speed/results)")
    options = parser.parse_args(arguments)
    if options.parts == [_PAGE]:
        print(f"wrote {page.write()}")
        return 0
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"there is no part {sorted(unknown)[0]!r}; the parts are {', '.join(PARTS)}")
    effort = Effort(1, 300, 3000, quick=True) if options.quick else Effort(options.runs, options.rows, options.long)
    n_peer_rows = effort.n_rows if options.quick else options.peer_rows or options.rows
    with tempfile.TemporaryDirectory() as nowhere:
        folder = options.out or (Path(nowhere) if options.quick else FOLDER)
        folder.mkdir(exist_ok=True)
        _measure(options.parts or list(PARTS), effort, n_peer_rows, folder)
    return 0


def _measure(parts: list[str], effort: Effort, n_peer_rows: int, folder: Path) -> None:
    if "jobs" in parts:
        _store(folder, "jobs", [_line(measured, effort) for measured in _jobs(effort)])
    if "threads" in parts:
        _store(folder, "threads", [_line(measured, effort) for measured in threads.thread_jobs(effort)])
    if "peers" in parts:
        _store(folder, "peers", peers.compare(n_peer_rows))
    if "scaling" in parts:
        made = []
        for curve in scaling.curves(effort):
            print(curve.summary(), flush=True)
            made.append(curve)
        _store(folder, "scaling", [curve.as_record() for curve in made])
        picture.draw(made, page.PICTURE if folder == FOLDER else folder / "scaling.png")


def _jobs(effort: Effort) -> Iterator[Measured]:
    return chain(
        jobs.friedman_jobs(effort),
        jobs.prediction_jobs(effort),
        jobs.row_by_row(effort),
        jobs.wide_jobs(effort),
        elec2.elec2_jobs(effort),
    )


def _line(measured: Measured, effort: Effort) -> dict[str, Any]:
    if effort.quick:
        print(f"ran  {measured.job}", flush=True)
        return measured.as_record()
    ratio = "" if measured.ratio_to_r is None else f"{measured.ratio_to_r:6.0f} x R"
    goal = "" if measured.target is None else f"target {measured.target:g}"
    print(
        f"{measured.verdict:8} {ratio:>10}  {measured.job:52} {measured.value:11.4g} {measured.unit:8} {goal}",
        flush=True,
    )
    return measured.as_record()


def _store(folder: Path, part: str, content: list[dict[str, Any]]) -> None:
    record = {"machine": machine.facts(), part: content}
    (folder / f"{part}.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())

"""Kill ``sapwood learn`` repeatedly, resume it, and compare its output with that of an uninterrupted run.

    python -m benchmarks.crash                 200 kills
    python -m benchmarks.crash --kills 8       a short run
    python -m benchmarks.crash --kills 1000 --store      for docs/reliability.md; a stopped one goes on from there

A round starts a run, kills it with SIGKILL at a time drawn uniformly over half the duration of an uninterrupted run, or
a little more after several kills, starts it again with --resume, and so on until it completes. The model, the
predictions and the quarantined rows must then be identical to those of the uninterrupted run, byte for byte, with no
row lost or duplicated. Rounds alternate between jobs that differ in source, task and files. The exit code is 0 if every
round passed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks import machine
from benchmarks.crash.jobs import JOBS, Job
from benchmarks.reliability import store

STORED = "crash"
COMMAND = "python -m benchmarks.crash --kills 1000 --store"


def one_round(job: Job, folder: Path, length: float, rng: np.random.Generator, most_kills: int) -> int:
    """Run a job to completion through at most `most_kills` kills; return the number of kills."""
    n_kills = 0
    while True:
        run = job.start(folder)
        # Later after every kill, or on a machine that has become slower no run would reach its next checkpoint.
        run.join(rng.uniform(0.0, length / 2 * 1.1**n_kills) if n_kills < most_kills else None)
        if run.is_alive():
            run.kill()
            run.join()
            n_kills += 1
        elif run.exitcode == 0:
            return n_kills
        else:
            errors = job.errors(folder)
            raise SystemExit(f"{job.name}: ended with exit code {run.exitcode} after {n_kills} kills: {errors}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--store", action="store_true", help="store the result, and go on from a stored one")
    options = parser.parse_args()
    result = (store.read(STORED) if options.store else None) or {"kills": 0, "rounds": 0, "lost": 0, "by_job": {}}
    with tempfile.TemporaryDirectory() as root:
        lengths, whole = uninterrupted_runs(Path(root), options.rows)
        while result["kills"] < options.kills:
            job = JOBS[result["rounds"] % len(JOBS)]
            folder = Path(root) / job.name
            rng = np.random.default_rng([options.seed, result["rounds"]])
            here = one_round(job, folder, lengths[job.name], rng, options.kills - result["kills"])
            faults = job.differences(whole[job.name], job.collect(folder), options.rows)
            print(f"{job.name:28} {here:3} kills  {'; '.join(faults) or 'identical'}", flush=True)
            result["kills"] += here
            result["rounds"] += 1
            result["lost"] += bool(faults)
            result["by_job"][job.name] = result["by_job"].get(job.name, 0) + here
            if options.store:
                store.write(STORED, {**result, "rows": options.rows, "command": COMMAND, "machine": machine.facts()})
    print(f"{result['kills']} kills in {result['rounds']} runs: {result['lost']} differ from the uninterrupted runs")
    return int(result["lost"] > 0)


def uninterrupted_runs(root: Path, n_rows: int) -> tuple[dict[str, float], dict[str, dict[str, bytes]]]:
    """Make the sources and run every job once; return the time each took, and its outputs."""
    lengths, whole = {}, {}
    for job in JOBS:
        folder = root / job.name
        folder.mkdir()
        job.make_source(folder, n_rows)
        began = time.monotonic()
        run = job.start(folder)
        run.join()
        if run.exitcode != 0:
            raise SystemExit(f"{job.name}: the uninterrupted run failed: {job.errors(folder)}")
        lengths[job.name], whole[job.name] = time.monotonic() - began, job.collect(folder)
    return lengths, whole


if __name__ == "__main__":
    sys.exit(main())

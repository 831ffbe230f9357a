"""Resident memory of the default models along a stream of two million rows.

    python -m benchmarks.memory.flat                 2,000,000 rows, regression and classification
    python -m benchmarks.memory.flat --rows 200000   a shorter run

The stream drifts throughout, so that trees grow, shrink and grow again. For each model, the resident memory after a
tenth of the stream and at its end is printed, with their ratio. The target is growth of at most 2 %; the exit code is 0
if it is met. Each model runs in its own process, so that memory left over from one does not distort the next.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from sapwood import DynamicTreeClassifier, DynamicTreeRegressor

BATCH = 1000
ALLOWED_GROWTH = 0.02
MODELS = {"regression": DynamicTreeRegressor, "classification": DynamicTreeClassifier}


def resident_megabytes() -> float:
    """Resident memory of this process (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def watch(task: str, n_rows: int) -> float:
    """Learn the stream, print the memory, and return its ratio between the end and the first tenth."""
    model, rng = MODELS[task](random_state=0), np.random.default_rng(0)
    early, started = 0.0, time.perf_counter()
    for first in range(0, n_rows, BATCH):
        X = rng.uniform(size=(BATCH, 10))
        phase = 2 * np.pi * (first + np.arange(BATCH)) / 50_000
        y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1] + phase) + 5 * X[:, 2] + rng.normal(size=BATCH)
        model.partial_fit(X, y if task == "regression" else (y > 2.5).astype(int))
        if early == 0.0 and first + BATCH >= n_rows // 10:
            early = resident_megabytes()
    late, seconds = resident_megabytes(), time.perf_counter() - started
    print(
        f"{task:15} {n_rows:>10,} rows  {n_rows / seconds:8,.0f} rows/s  "
        f"{early:7.1f} MB at a tenth  {late:7.1f} MB at the end  ratio {late / early:.4f}"
    )
    return late / early


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--task", choices=MODELS, help="only this model, in this process")
    options = parser.parse_args()
    if options.task:
        return int(watch(options.task, options.rows) > 1 + ALLOWED_GROWTH)
    command = [sys.executable, "-m", "benchmarks.memory.flat", "--rows", str(options.rows), "--task"]
    return max(subprocess.run([*command, task], check=False).returncode for task in MODELS)


if __name__ == "__main__":
    sys.exit(main())

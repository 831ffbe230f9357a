"""How long a feed waits for an answer: rows written one at a time to a pipe, each after the forecast of the last.

    python -m benchmarks.speed.feed              learn and predict, 300 rows each, with all defaults
    python -m benchmarks.speed.feed --rows 50

Prints the median and the 99th percentile of the time from writing a row to reading its line, in milliseconds. The start
of the process and the decision on the types of columns come before the first answer, and are printed apart.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sapwood.datasets import drifting_friedman

_PER_MILLISECOND = 1e3


def answer_times(arguments: Sequence[str], rows: Sequence[str], folder: Path) -> list[float]:
    """Return the time that each row had to wait for its line, in seconds."""
    command = [sys.executable, "-m", "sapwood", *arguments]
    with subprocess.Popen(
        command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as run:
        assert run.stdin is not None
        assert run.stdout is not None
        waited = []
        for i, row in enumerate(rows):
            began = time.perf_counter()
            run.stdin.write(row + "\n")
            run.stdin.flush()
            if i == 0:
                continue  # the header
            if i == 1:
                run.stdout.readline()  # that of the answers
            if not run.stdout.readline():
                raise RuntimeError(f"{' '.join(command)} ended after {i - 1} answers")
            waited.append(time.perf_counter() - began)
        run.stdin.close()
    return waited


def main(arguments: list[str] | None = None) -> int:
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.speed.feed", description=__doc__, formatter_class=layout
    )
    parser.add_argument("--rows", type=int, default=300, help="rows of each feed (default: 300)")
    options = parser.parse_args(arguments)
    stream = drifting_friedman(n=options.rows, seed=0)
    header = ",".join([*stream.feature_names, "y"])
    rows = [header, *(",".join(map(repr, [*x, y])) for x, y in zip(stream.X.tolist(), stream.y.tolist(), strict=True))]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        jobs = {
            "learn": ["learn", "-", "--target", "y", "--predictions", "-", "--save", "feed.sap"],
            "predict": ["predict", "feed.sap", "-"],
        }
        print(f"{'':8} {'first':>8} {'median':>8} {'99 %':>8}  ms")
        for job, command in jobs.items():
            first, *others = np.array(answer_times(command, rows, folder)) * _PER_MILLISECOND
            print(f"{job:8} {first:8.0f} {np.median(others):8.1f} {np.quantile(others, 0.99):8.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

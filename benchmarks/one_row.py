"""How long a loaded model takes to answer a single raw row, given as a dictionary.

    python -m benchmarks.one_row [--rows 3000] [--calls 2000]

The model is the default one, learned from raw rows of six text columns, a timestamp and five numbers, saved and loaded.
The bound is 200 microseconds for the median call.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import sapwood

BOUND = 200e-6


def raw_rows(n_rows: int) -> tuple[list[dict[str, Any]], list[float]]:
    """Rows like those of taxi trips, and a target that depends on them."""
    rng = np.random.default_rng(0)
    rows, target = [], []
    for i in range(n_rows):
        numbers = rng.normal(size=5).round(3).tolist()
        levels = rng.integers(0, [2, 3, 4, 6, 60, 200]).tolist()
        row: dict[str, Any] = {"when": f"2024-{1 + i // 250 % 12:02d}-{1 + i % 28:02d} {i % 24:02d}:15:00"}
        row |= {f"number {k}": value for k, value in enumerate(numbers)}
        row |= {f"text {k}": f"level {level}" for k, level in enumerate(levels)}
        rows.append(row)
        target.append(numbers[0] + 0.1 * levels[4] + float(rng.normal()))
    return rows, target


def seconds_per_row(n_rows: int, n_calls: int) -> float:
    """Return the median time of a call of `predict` with one dictionary."""
    rows, target = raw_rows(n_rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.sap"
        sapwood.DynamicTreeRegressor(random_state=0).fit(rows, target).save(path)
        model = sapwood.load(path)
    times = []
    for call in range(n_calls):
        began = time.perf_counter()
        model.predict(rows[call % n_rows])
        times.append(time.perf_counter() - began)
    return float(np.median(times))


def main() -> None:
    """Measure, print, and exit with 1 if the bound is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--calls", type=int, default=2000)
    given = parser.parse_args()
    seconds = seconds_per_row(given.rows, given.calls)
    print(f"one raw row: {seconds * 1e6:.0f} microseconds (bound {BOUND * 1e6:.0f})")
    raise SystemExit(seconds > BOUND)


if __name__ == "__main__":
    main()

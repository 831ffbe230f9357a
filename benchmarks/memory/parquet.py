"""Peak memory of ``sapwood learn`` on a Parquet file of five million rows, compared with half a million.

    python -m benchmarks.memory.parquet                              5,000,000 and 500,000 rows
    python -m benchmarks.memory.parquet --rows 300000 --small 50000  a shorter run

The files have ten columns and are generated here; predictions are written to Parquet as well. The model is small and
fast (10 particles, a pool of 20, constant leaves), because the memory of the surrounding loop is being measured. The
target is a peak within 10 % of that for the smaller file; the exit code is 0 if it is met.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ALLOWED_GROWTH = 0.1
MODEL = ("--particles", "10", "--max-active", "20", "--leaf", "constant", "--metrics", "rmse,mae,coverage90")

# The peak from /proc, not from getrusage, which a new process inherits from its parent.
PROGRAM = """
import re, sys
from sapwood.cli import main
try:
    main()
except SystemExit as end:
    if end.code:
        raise
print(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
"""


def make(path: Path, n_rows: int) -> None:
    """Nine inputs and a target that drifts, in row groups of a hundred thousand rows."""
    rng, names = np.random.default_rng(0), [*(f"x{i}" for i in range(9)), "y"]
    with pq.ParquetWriter(path, pa.schema([(name, pa.float64()) for name in names])) as writer:
        for first in range(0, n_rows, 100_000):
            n = min(100_000, n_rows - first)
            x = rng.uniform(size=(n, 9))
            y = 10 * np.sin(x[:, 0] + (first + np.arange(n)) / 5000) + x[:, 1] + rng.normal(size=n)
            writer.write_table(pa.table([*(x[:, i] for i in range(9)), y], names=names))


def peak_megabytes(folder: Path, n_rows: int) -> float:
    """Learn a file of ``n_rows`` rows in a separate process and return its peak memory."""
    source = folder / f"rows{n_rows}.parquet"
    make(source, n_rows)
    command = [sys.executable, "-c", PROGRAM, "learn", str(source), "-t", "y", "--json", "--quiet", *MODEL]
    command += ["--predictions", str(folder / "out.parquet"), "--checkpoint-every", "100000"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    summary, peak = ran.stdout.splitlines()
    result = json.loads(summary)
    if result["rows"] != n_rows or pq.read_metadata(folder / "out.parquet").num_rows != n_rows:
        raise SystemExit(f"{result['rows']} of {n_rows} rows were learned")
    print(f"{n_rows:>10,} rows  {result['rows_per_second']:8,.0f} rows/s  peak {int(peak) / 1024:7.1f} MB", flush=True)
    return int(peak) / 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--small", type=int, default=500_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        small, large = (peak_megabytes(Path(folder), n_rows) for n_rows in (options.small, options.rows))
    print(f"ratio {large / small:.3f}")
    return int(large > (1 + ALLOWED_GROWTH) * small)


if __name__ == "__main__":
    sys.exit(main())

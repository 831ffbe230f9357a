"""Memory does not grow with the file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
def test_peak_memory_is_that_of_a_fifth_of_the_file() -> None:
    """A short run of ``python -m benchmarks.memory.parquet``: the peak must stay within 10 % (its exit code is 1).

    Faults it catches: predictions, scores or labels that are kept, and a predictions file that is finished in memory
    (130 bytes per row: 21 MB of the 250 MB that a run needs).
    """
    command = [sys.executable, "-m", "benchmarks.memory.parquet", "--small", "70000", "--rows", "350000"]
    ran = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr

"""Killed without warning, resumed, and compared with an uninterrupted run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")


@pytest.mark.slow
def test_kills_leave_no_trace() -> None:
    """A short run of ``python -m benchmarks.crash``, which says more; its exit code is 1 after any difference."""
    command = [sys.executable, "-m", "benchmarks.crash", "--kills", "8", "--rows", "2000"]
    ran = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "8 kills" in ran.stdout

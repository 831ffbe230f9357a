"""Running the command line as users do: in an empty folder, as a process of its own."""

from __future__ import annotations

import csv
import gzip
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

collect_ignore_glob = [] if find_spec("typer") and find_spec("rich") else ["test_*.py"]

COMMAND = [sys.executable, "-m", "sapwood.cli"]
SMALL = ["--particles", "10", "--max-active", "20"]
NUMBERS = [*SMALL, "--metrics", "rmse,log_score,coverage90"]  # not CRPS, which takes most of the time


class Ran(NamedTuple):
    """How a command ended, and what it said."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def sapwood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """``sapwood("learn", ...)`` in the test's own folder and in this process, which spares the start of another."""
    from typer.testing import CliRunner

    from sapwood.cli.app import app

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str, stdin: bytes | None = None) -> Ran:
        ran = CliRunner().invoke(app, list(arguments), input=stdin, prog_name="sapwood")
        if ran.exception is not None and not isinstance(ran.exception, SystemExit):
            raise ran.exception
        return Ran(ran.exit_code, ran.stdout, ran.stderr)

    return run


@pytest.fixture
def process(tmp_path: Path) -> Callable[..., Ran]:
    """The same as a process of its own."""

    def run(*arguments: str, **given: Any) -> Ran:
        ran = subprocess.run([*COMMAND, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False, **given)
        return Ran(ran.returncode, ran.stdout, ran.stderr)

    return run


@pytest.fixture
def rows(tmp_path: Path, rng: np.random.Generator) -> Path:
    """rows.csv: 300 rows, two numbers, a colour and a target."""
    x = rng.uniform(size=(300, 2))
    y = 3 * x[:, 0] + np.sin(5 * x[:, 1]) + rng.normal(scale=0.1, size=300)
    path = tmp_path / "rows.csv"
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["a", "b", "colour", "y"])
        out.writerows([*x[i], "red" if i % 3 else "blue", y[i]] for i in range(300))
    return path


@pytest.fixture
def gzipped(rows: Path) -> Path:
    """The same rows, compressed."""
    path = rows.with_name("rows.csv.gz")
    path.write_bytes(gzip.compress(rows.read_bytes()))
    return path

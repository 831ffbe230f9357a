"""The jobs that are killed: their input, their command line and their output."""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any

import numpy as np

from sapwood.cli.app import app

ERRORS = "errors.txt"
SMALL = ("--particles", "20", "--max-active", "30,60", "--window", "200", "--checkpoint-every", "250", "--quiet")


@dataclass(frozen=True)
class Job:
    """A call of ``sapwood learn`` and the files it writes."""

    name: str
    make_source: Callable[[Path, int], None]
    arguments: tuple[str, ...]
    outputs: tuple[str, ...]
    n_bad: Callable[[int], int]

    def start(self, folder: Path) -> ForkProcess:
        """Start the job; every start uses --resume, including the first.

        In a fork of this process, which has loaded everything already: a kill then falls into the run, and not into the
        seconds that Python takes to start.
        """
        arguments = ["learn", *self.arguments, *SMALL, "--resume"]
        process = get_context("fork").Process(target=_work, args=(arguments, folder))
        process.start()
        return process

    def errors(self, folder: Path) -> str:
        """What the job said on standard error."""
        return (folder / ERRORS).read_text(errors="replace")

    def collect(self, folder: Path) -> dict[str, bytes]:
        """Read and remove the output of a run, so that the next one starts from scratch."""
        left = {name: (folder / name).read_bytes() for name in self.outputs}
        for path in folder.iterdir():
            if not path.name.startswith("source"):
                path.unlink()
        return left

    def differences(self, whole: dict[str, bytes], killed: dict[str, bytes], n_rows: int) -> list[str]:
        """The differences from the uninterrupted run."""
        faults = [f"{name} differs" for name in self.outputs if whole[name] != killed[name]]
        rows = rows_of(killed[self.outputs[1]], self.outputs[1])
        if len(rows) != n_rows - self.n_bad(n_rows):
            faults.append(f"{len(rows)} predictions")
        if len(set(rows)) != len(rows) or sorted(rows) != rows:
            faults.append("rows are duplicated or out of order")
        return faults


def _work(arguments: list[str], folder: Path) -> None:
    """Run the command line in this process, its output going to a file."""
    os.chdir(folder)
    with open(ERRORS, "wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    app(arguments, prog_name="sapwood")


def rows_of(data: bytes, name: str) -> list[int]:
    """The column "row" of a predictions file."""
    if name.endswith(".parquet"):
        import pyarrow as pa
        import pyarrow.parquet as pq

        # Without threads, of which a fork would have none.
        column: list[int] = pq.read_table(pa.BufferReader(data), use_threads=False).column("row").to_pylist()
        return column
    return [int(row["row"]) for row in csv.DictReader(data.decode().splitlines())]


def _inputs(n_rows: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    x = rng.uniform(size=(n_rows, 3))
    return x, 10 * np.sin(np.pi * x[:, 0] + np.arange(n_rows) / 500) + 5 * x[:, 1] + rng.normal(size=n_rows)


def make_numbers(folder: Path, n_rows: int) -> None:
    """A gzipped CSV file for regression."""
    x, y = _inputs(n_rows)
    with gzip.open(folder / "source.csv.gz", "wt", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["a", "b", "c", "y"])
        rows.writerows(
            [*map(repr, inputs), repr(target)] for inputs, target in zip(x.tolist(), y.tolist(), strict=True)
        )


def make_classes(folder: Path, n_rows: int) -> None:
    """A CSV file for classification: categories, bad rows, and a class that appears late."""
    x, y = _inputs(n_rows)
    labels = np.where(y > 5, "high", "low").astype(object)
    labels[n_rows // 2 :: 7] = "late, and with a comma"
    with open(folder / "source.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["a", "b", "c", "colour", "y"])
        for i, (inputs, label) in enumerate(zip(x.tolist(), labels.tolist(), strict=True)):
            rows.writerow([*inputs, f"colour {i * i % 11}", "" if i % 100 == 50 else label])


def make_parquet(folder: Path, n_rows: int) -> None:
    """A Parquet file for classification."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    x, y = _inputs(n_rows)
    label = (y > 5).astype(int) + (np.arange(n_rows) > n_rows // 2) * (y > 12)
    table = pa.table({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": label})
    pq.write_table(table, folder / "source.parquet", row_group_size=1000)


JOBS = (
    Job(
        "regression, gzip to Parquet",
        make_numbers,
        (
            *("source.csv.gz", "-t", "y", "--save", "model.sap", "--predictions", "out.parquet"),
            *("--metrics", "rmse,log_score,coverage90"),  # not CRPS, which takes most of the time
        ),
        ("model.sap", "out.parquet"),
        lambda n_rows: 0,
    ),
    Job(
        "classes, CSV to CSV",
        make_classes,
        (
            *("source.csv", "-t", "y", "--save", "model.sap", "--predictions", "out.csv", "--label-delay", "7"),
            *("--on-bad-row", "quarantine", "--quarantine", "bad.csv"),
        ),
        ("model.sap", "out.csv", "bad.csv"),
        lambda n_rows: len(range(50, n_rows, 100)),
    ),
    Job(
        "classes, Parquet to Parquet",
        make_parquet,
        (
            "source.parquet",
            "-t",
            "y",
            "--save",
            "model.sap",
            "--predictions",
            "out.parquet",
            "--task",
            "classification",
        ),
        ("model.sap", "out.parquet"),
        lambda n_rows: 0,
    ),
)

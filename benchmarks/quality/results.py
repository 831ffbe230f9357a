"""Results as data: one JSON file per stream, with one entry per method and form of the inputs."""

from __future__ import annotations

import fcntl
import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks import machine
from benchmarks.quality.methods import Method, Run
from benchmarks.quality.methods.method import SEED
from benchmarks.quality.problems import SCORED_FROM, Problem
from benchmarks.quality.scores import ln_predictive_by_block, scores
from sapwood._files import write_atomically

Result: TypeAlias = dict[str, Any]

FOLDER = Path(__file__).parent / "results"
STREAMS = FOLDER / "streams"


@dataclass(frozen=True)
class Key:
    """Identifies a result: the stream, the method and the form of the inputs."""

    stream: str
    method: str
    form: str

    @property
    def path(self) -> Path:
        """The file with all results of the stream."""
        return STREAMS / f"{self.stream}.json"

    def matches(self, result: Result) -> bool:
        """Whether this key identifies a result of its stream."""
        return (result["method"], result["inputs"]) == (self.method, self.form)

    def is_stored(self) -> bool:
        """Whether there is a result for this key."""
        return any(self.matches(result) for result in _read(self.path))


def record(problem: Problem, method: Method, name: str, form: str, run: Run) -> Result:
    """A run in the form in which it is stored."""
    n = len(problem)
    return {
        "stream": problem.name,
        "method": name,
        "library": method.library,
        "inputs": form,
        "task": "regression" if problem.is_regression else "classification",
        "rows": n,
        "scored_from": SCORED_FROM,
        "seed": SEED,
        "settings": run.settings,
        "scores": {name: _rounded(value) for name, value in scores(run.forecast).items()},
        "replaced_forecasts": run.n_replaced,
        "seconds": round(run.seconds, 2),
        "cpu_seconds": round(run.cpu_seconds, 2),
        "rows_per_cpu_second": round(n / max(run.cpu_seconds, 1e-9)),
        "model_bytes": run.model_bytes,
        "ln_predictive_by_1000_rows": [_rounded(value) for value in ln_predictive_by_block(run.forecast)],
        "machine": machine.facts(),
    }


def failure(problem: Problem, method: Method, form: str, error: Exception) -> Result:
    """What is stored for a peer that failed, with the error."""
    return {
        "stream": problem.name,
        "method": method.name,
        "library": method.library,
        "inputs": form,
        "task": "regression" if problem.is_regression else "classification",
        "rows": len(problem),
        "failed": f"{type(error).__name__}: {error}"[:300],
        "machine": machine.facts(),
    }


def store(key: Key, result: Result) -> None:
    """Add a result to the file of its stream, in place of the one stored for the same key."""
    key.path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(key.path.parent):
        others = [other for other in _read(key.path) if not key.matches(other)]
        # Sorted and indented, so that a new result changes only its own lines.
        results = sorted([*others, result], key=lambda one: (one["method"], one["inputs"]))
        text = json.dumps(results, indent=1, allow_nan=False) + "\n"
        write_atomically(key.path, text.encode("utf-8"))


def stored() -> list[Result]:
    """Every result so far, sorted by stream, method and form of the inputs."""
    return [result for path in sorted(STREAMS.glob("*.json")) for result in _read(path)]


def _read(path: Path) -> list[Result]:
    if not path.exists():
        return []
    results: list[Result] = json.loads(path.read_text(encoding="utf-8"))
    return results


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock out other processes: benchmarks that run side by side must not overwrite each other's results."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _rounded(value: float) -> float | None:
    """JSON has no infinite or undefined numbers: such scores become null."""
    return round(value, 5) if math.isfinite(value) else None

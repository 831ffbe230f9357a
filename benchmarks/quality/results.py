"""Results as data: one JSON file for each stream, method and form of the inputs."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.quality.methods import Method, Run
from benchmarks.quality.methods.method import SEED
from benchmarks.quality.problems import SCORED_FROM, Problem
from benchmarks.quality.scores import course, scores

FOLDER = Path(__file__).parent / "results"
STREAMS = FOLDER / "streams"


@dataclass(frozen=True)
class Key:
    """What a result is of."""

    stream: str
    method: str
    form: str

    @property
    def path(self) -> Path:
        return STREAMS / self.stream / f"{_slug(self.method)}--{self.form}.json"


def record(problem: Problem, method: Method, name: str, form: str, run: Run) -> dict[str, Any]:
    """A run as it is stored."""
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
        "ln_predictive_by_1000_rows": [_rounded(value) for value in course(run.forecast)],
        "machine": machine.facts(),
    }


def failure(problem: Problem, method: Method, form: str, error: Exception) -> dict[str, Any]:
    """What is stored of a peer that broke down: that it did, and how."""
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


def store(key: Key, content: dict[str, Any]) -> None:
    """Write a result, in a form whose differences can be read."""
    key.path.parent.mkdir(parents=True, exist_ok=True)
    key.path.write_text(json.dumps(content, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def stored() -> list[dict[str, Any]]:
    """Every result so far, sorted by stream and method."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(STREAMS.glob("*/*.json"))]


def _rounded(value: float) -> float | None:
    """Infinite and undefined scores have no place in JSON."""
    return round(value, 5) if math.isfinite(value) else None


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")

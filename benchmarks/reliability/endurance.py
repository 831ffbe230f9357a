"""Long runs: memory and cost per row along a stream without end, with the slopes of both.

The stream drifts throughout, so that trees grow, shrink and grow again. Progress is stored every few minutes together
with the model, and a stopped run goes on from there; the model ends with the same bytes. Memory is the resident set of
the process, and cost its processor time, which other work on the machine disturbs less than elapsed time.
"""

from __future__ import annotations

import argparse
import hashlib
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sapwood
from benchmarks import machine
from benchmarks.memory.flat import resident_megabytes
from benchmarks.reliability import store
from sapwood import DynamicTreeRegressor
from sapwood._files import to_bytes

BATCH = 1000
N_INPUTS = 5
MODELS: dict[str, dict[str, Any]] = {
    "light": {"leaf": "constant", "n_particles": 10, "max_active": 50, "forgetting": 0.99},
    "default": {},
}
WHAT = {
    "light": "a light model: constant leaves, 10 particles, a pool of 50",
    "default": "the default bank",
}
SAMPLES = 200
STORE_SECONDS = 120.0


def batch(number: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rows number * BATCH and after, whatever came before them."""
    rng = np.random.default_rng([17, number])
    x = rng.uniform(size=(BATCH, N_INPUTS))
    phase = 2 * np.pi * (number * BATCH + np.arange(BATCH)) / 50_000
    return x, 10 * np.sin(np.pi * x[:, 0] * x[:, 1] + phase) + 5 * x[:, 2] + rng.normal(size=BATCH)


def run(name: str, n_rows: int, scratch: Path) -> None:
    """Learn until the model has seen `n_rows`, from where the last run of this command stopped."""
    result_name = f"endurance-{name}"
    saved = scratch / f"{result_name}.sap"
    result = store.read(result_name) or {"samples": [], "rows": 0, "sessions": 0}
    model = DynamicTreeRegressor(random_state=0, **MODELS[name])
    if result["rows"] and saved.exists():
        model = sapwood.load(saved)
        result["samples"] = [sample for sample in result["samples"] if sample["rows"] <= model.n_seen_]
    else:
        result.update(samples=[], rows=0, sessions=0)
    session = result["sessions"]
    every = max(1, n_rows // (SAMPLES * BATCH)) * BATCH
    rows = model.n_seen_ if result["rows"] else 0
    at_sample, cpu, stored = rows, time.process_time(), time.monotonic()
    while rows < n_rows:
        model.partial_fit(*batch(rows // BATCH))
        rows += BATCH
        if rows % every == 0:
            spent = (time.process_time() - cpu) / (rows - at_sample)
            sample = {
                "session": session,
                "rows": rows,
                "megabytes": round(resident_megabytes(), 3),
                "microseconds_per_row": round(1e6 * spent, 3),
                "model_bytes": len(to_bytes(model)),
            }
            result["samples"].append(sample)
            at_sample, cpu = rows, time.process_time()
        if time.monotonic() - stored > STORE_SECONDS or rows >= n_rows:
            model.save(saved)
            finite = bool(np.isfinite(model.predict(batch(0)[0])).all())
            result.update(
                what=f"{WHAT[name]}; {N_INPUTS} inputs, a drifting stream",
                command=f"python -m benchmarks.reliability endurance --model {name}",
                wanted_rows=n_rows,
                rows=rows,
                sessions=session + 1,
                finite=finite,
                model_sha256=hashlib.sha256(saved.read_bytes()).hexdigest(),
                machine=machine.facts(),
            )
            store.write(result_name, result)
            stored = time.monotonic()


def slope(samples: list[dict[str, Any]], quantity: str, after_rows: int) -> tuple[float, float]:
    """Change per million rows and its standard error: least squares with a level of its own for each session.

    Sessions are separate processes, whose memory starts anew. Neighbouring samples are averaged into at most ten
    blocks first, so that slow disturbances do not pass for many independent observations.
    """
    kept = [s for s in samples if s["rows"] > after_rows]
    x, y = [], []
    for session in sorted({s["session"] for s in kept}):
        own = [s for s in kept if s["session"] == session]
        n_blocks = min(10, len(own))
        for part in np.array_split(np.arange(len(own)), n_blocks):
            x.append((session, np.mean([own[i]["rows"] for i in part]) / 1e6))
            y.append(np.mean([own[i][quantity] for i in part]))
    sessions = sorted({session for session, _ in x})
    design = np.array([[rows, *(float(s == session) for s in sessions)] for session, rows in x])
    solution, _, rank, _ = np.linalg.lstsq(design, np.array(y), rcond=None)
    free = len(y) - design.shape[1]
    if free < 1 or rank < design.shape[1]:
        return float("nan"), float("nan")
    residual = np.array(y) - design @ solution
    variance = residual @ residual / free * np.linalg.inv(design.T @ design)[0, 0]
    return float(solution[0]), float(np.sqrt(variance))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    parser.add_argument("--model", choices=MODELS, default="light")
    parser.add_argument("--rows", type=int, default=None, help="default: 10^8 for light, 10^7 for default")
    parser.add_argument("--scratch", type=Path, default=Path("endurance"), help="folder for the model in between")


def main(options: argparse.Namespace) -> int:
    """Run, and print the slopes."""
    options.scratch.mkdir(exist_ok=True)
    n_rows = options.rows or (10**8 if options.model == "light" else 10**7)
    run(options.model, n_rows, options.scratch)
    result = store.read(f"endurance-{options.model}")
    assert result is not None
    for quantity in ("megabytes", "microseconds_per_row"):
        by, error = slope(result["samples"], quantity, result["rows"] // 10)
        print(f"{quantity}: {by:+.4f} per million rows, standard error {error:.4f}")
    return 0

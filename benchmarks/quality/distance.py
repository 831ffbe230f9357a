"""Forecasts of rows at any distance: a model is saved, and predicts the 500 rows that follow without a single target.

    python -m benchmarks.quality.distance             run and store the results
    python -m benchmarks.quality.distance bike_hour   one stream only
    python -m benchmarks.quality page                 write them into docs/benchmarks.md

The command line does the work, with its defaults: ``sapwood learn --save`` on 5,000 rows, then ``sapwood predict``.
Beside it stand the same with ``--lags 0``, and what the saved model says if the last target learned is taken for the
target before each of the 500 rows.
"""

from __future__ import annotations

import csv
import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import machine
from benchmarks.quality.problems import data_folder
from benchmarks.quality.results import FOLDER
from sapwood import load
from sapwood._disk import write_atomically
from sapwood._fitted import fitted
from sapwood.stream import open_source

RESULTS = FOLDER / "distance.json"
ORIGINS = {"bike_hour": (5000, 8000, 11000, 14000, 16800), "metro_traffic": (8000, 16000, 24000, 32000, 40000)}
N_LEARNED, N_AHEAD = 5000, 500
LEVELS = (0.05, 0.95)

Floats = NDArray[np.float64]
Result = dict[str, Any]


def run(stream: str, origin: int) -> list[Result]:
    """The scores of the rows after an origin, one entry for each way of asking."""
    with gzip.open(data_folder() / f"{stream}.csv.gz", "rt", newline="") as file:
        header, *rows = csv.reader(file)
    learned, ahead = rows[origin - N_LEARNED : origin], rows[origin : origin + N_AHEAD]
    y = np.array([float(row[-1]) for row in ahead])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder / "learned.csv", header, learned)
        # Without the target: nothing of it can be used.
        _write(folder / "ahead.csv", header[:-1], [row[:-1] for row in ahead])
        results = []
        for lags in ("auto", "0"):
            _sapwood(
                folder, "learn", "learned.csv", "--target", header[-1], "--save", "m.sap", "--lags", lags, "--quiet"
            )
            _sapwood(folder, "predict", "m.sap", "ahead.csv", "--predictions", "p.csv", "--quantiles", "0.05,0.95")
            with open(folder / "p.csv", newline="") as file:
                said = [[float(row[name]) for name in ("mean", "q0.05", "q0.95")] for row in csv.DictReader(file)]
            what = "predict" if lags == "auto" else "predict, lags=0"
            results.append(_scores(stream, origin, what, y, np.array(said)))
            if lags == "auto":
                results.append(_scores(stream, origin, "stale target", y, _with_stale_target(folder)))
    return results


def _write(path: Path, header: list[str], rows: list[list[str]]) -> None:
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def _sapwood(folder: Path, *arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "sapwood.cli", *arguments], cwd=folder, check=True, stderr=subprocess.DEVNULL)


def _with_stale_target(folder: Path) -> Floats:
    """Mean and interval of every row, each taken for the next row: what `predict` is not."""
    model = load(folder / "m.sap")
    schema = {"features": fitted(model).encoder.state(), "target": None}
    x = np.vstack([batch.X for batch in open_source(folder / "ahead.csv", schema=schema)])
    predictive = fitted(model).model.predictive(x, horizon="next_row")
    return np.column_stack([predictive.mean(), predictive.quantile(np.array(LEVELS))])


def _scores(stream: str, origin: int, what: str, y: Floats, said: Floats) -> Result:
    mean, low, high = said.T
    return {
        "stream": stream,
        "origin": origin,
        "forecast": what,
        "coverage90": round(float(np.mean((low <= y) & (y <= high))), 3),
        "rmse": float(f"{np.sqrt(np.mean((y - mean) ** 2)):.4g}"),
        "width90": float(f"{np.mean(high - low):.4g}"),
    }


def table() -> list[str]:
    """The stored results as lines of Markdown; none if there are none."""
    if not RESULTS.exists():
        return []
    results = json.loads(RESULTS.read_text(encoding="utf-8"))["results"]
    by_origin = {(r["stream"], r["origin"], r["forecast"]): r for r in results}
    lines = [
        "| stream | rows learned | cover, `predict` | `lags=0` | stale target | RMSE, `predict` | `lags=0` | stale |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for stream, origin in dict.fromkeys((r["stream"], r["origin"]) for r in results):
        ways = [by_origin[stream, origin, what] for what in ("predict", "predict, lags=0", "stale target")]
        cover = " | ".join(f"{way['coverage90']:.3f}" for way in ways)
        rmse = " | ".join(f"{way['rmse']:,.1f}" for way in ways)
        lines.append(f"| {stream} | {origin - N_LEARNED:,} to {origin:,} | {cover} | {rmse} |")
    return lines


def main(streams: list[str]) -> None:
    """Run, and replace the stored results of these streams."""
    kept = []
    if RESULTS.exists():
        kept = [r for r in json.loads(RESULTS.read_text(encoding="utf-8"))["results"] if r["stream"] not in streams]
    for stream in streams:
        for origin in ORIGINS[stream]:
            for result in run(stream, origin):
                print(result, flush=True)
                kept.append(result)
    text = json.dumps({"results": kept, "machine": machine.facts()}, indent=1) + "\n"
    write_atomically(RESULTS, text.encode())


if __name__ == "__main__":
    main(sys.argv[1:] or list(ORIGINS))

"""Compare the default models on raw rows, whose levels have a score, with the same models on codes alone.

    python -m benchmarks.levels            run, print the table and store the results

The first 10,000 rows of three streams from the folder in the environment variable SAPWOOD_DATA, and a made stream of
8,000 rows with 2,000 levels, whose effects have a standard deviation of 3 and the noise of 1. Without lags, one seed;
scores are means over all rows: log score and RMSE, or log loss and accuracy.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sapwood import DynamicTreeClassifier, DynamicTreeRegressor
from sapwood.stream import evaluate, open_source

STREAMS = ("taxi_minutes", "diamonds", "adult_income", "2,000 levels")
ROWS = 10_000
RESULTS = Path(__file__).parent / "results.json"


def table_of(name: str) -> pd.DataFrame:
    """Return the raw rows of a stream, the target in column y."""
    if name != "2,000 levels":
        return pd.read_csv(Path(os.environ["SAPWOOD_DATA"]) / f"{name}.csv.gz", nrows=ROWS)
    rng = np.random.default_rng(0)
    effect, level, x = rng.normal(0, 3, 2000), rng.integers(0, 2000, 8000), rng.normal(size=8000)
    y = effect[level] + rng.normal(size=8000)
    return pd.DataFrame({"x": x, "level": [f"level {k}" for k in level], "y": y})


def scores(table: pd.DataFrame, *, codes_alone: bool) -> dict[str, float]:
    """Learn a stream with the default model of its task and return the scores."""
    is_text = table["y"].dtype.kind not in "iuf"
    source: Any = table
    if codes_alone:
        batch = next(open_source(table, target="y", batch_rows=len(table)))
        source = (batch.X, batch.y)
    model = (DynamicTreeClassifier if is_text else DynamicTreeRegressor)(random_state=0)
    metrics = ["log_loss", "accuracy"] if is_text else ["log_score", "rmse"]
    target = None if codes_alone else "y"
    return dict(evaluate(model, source, metrics, target=target, lags=None).overall()["model"])


def main() -> None:
    """Run everything, print a table and store the results."""
    results = {}
    print("| stream | codes alone | with the score |\n|---|---|---|")
    for name in STREAMS:
        table = table_of(name)
        found = {way: scores(table, codes_alone=way == "codes alone") for way in ("codes alone", "with the score")}
        results[name] = found
        cells = [" / ".join(f"{value:.4g}" for value in found[way].values()) for way in found]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()

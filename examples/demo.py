"""Learn a stream that drifts, beside two baselines, and draw what happened.

Run it with ``make demo``. Every row is predicted before it is learned. The world changes fast, then slowly, then jumps
once and stays: watch the bank move its trust between small and large pools, and the trees forget when they must.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from itertools import accumulate
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from demo_picture import draw
from sapwood import DynamicTreeRegressor
from sapwood.datasets import drifting_friedman
from sapwood.stream import Progress, evaluate

# (rows, name, cycles of the drift in 1000 rows). Every stretch begins at the same phase of the drift, so the first
# change of speed is smooth and the second, in mid-cycle, is a jump.
STRETCHES = ((4_000, "fast drift", 1.0), (3_000, "slow drift", 0.1), (3_000, "a jump, then rest", 0.0))
METRICS = ("rmse", "log_score", "coverage90")
WINDOW = 500  # rows in a rolling score, and between two printed lines

_BLOCK = f"{'Sapwood':>8} {'no chg.':>7} {'mean':>7}"
_HEADINGS = (
    f"{'':26}{'RMSE':>8}{'':18}{'log score':>8}{'':17}{'90 % interval covers'}\n"
    f"{'rows':>7} {'the world':18}{_BLOCK}  {_BLOCK}  {_BLOCK}  {'rows/s':>7}"
)


def stream(seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Inputs and targets of the stretches, one after the other."""
    parts = [drifting_friedman(n, k=k, seed=seed + i) for i, (n, _, k) in enumerate(STRETCHES)]
    return np.concatenate([part.X for part in parts]), np.concatenate([part.y for part in parts])


class Reporter:
    """Prints a line of scores now and then while the stream is learned."""

    def __init__(self, changes: list[tuple[int, str]]) -> None:
        self._changes = changes
        self._next = WINDOW

    def __call__(self, progress: Progress) -> None:
        if progress.n_rows >= self._next:
            self._next = progress.n_rows + WINDOW
            stretch = [name for first, name in self._changes if first < progress.n_rows][-1]
            rate = progress.n_now / progress.seconds
            print(line(f"{progress.n_rows:,}", stretch, progress.scores(), f"{rate:,.0f}"), flush=True)


def line(rows: str, stretch: str, scores: Mapping[str, Mapping[str, float]], rate: str = "") -> str:
    """One line of the table: each score of the model and of the baselines."""
    blocks = (f"{model:8.2f} {last:7.2f} {mean:7.2f}" for model, last, mean in _by_metric(scores))
    return f"{rows:>7} {stretch:18}{'  '.join(blocks)}  {rate:>7}".rstrip()


def _by_metric(scores: Mapping[str, Mapping[str, float]]) -> list[tuple[float, float, float]]:
    return [(scores["model"][m], scores["no_change"][m], scores["running_mean"][m]) for m in METRICS]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("demo"), help="folder for the picture (default: %(default)s)")
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of the stream and of the model (default: %(default)s)"
    )
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    ends = accumulate(n for n, _, _ in STRETCHES)
    changes = [(end - n, name) for end, (n, name, _) in zip(ends, STRETCHES, strict=True)]

    x, y = stream(options.seed)
    print(f"{len(y):,} rows, each predicted before it is learned; scores of the last {WINDOW} rows.\n")
    print(_HEADINGS)
    result = evaluate(
        DynamicTreeRegressor(random_state=options.seed, n_jobs=-1),
        (x, y),
        METRICS,
        warm_up=100,
        window=WINDOW,
        lags=None,
        progress=Reporter(changes),
    )
    print(line("all", "", result.overall(), f"{result.timings.rows_per_second:,.0f}"))
    print("\nNobody can do better than the noise: RMSE 1.00, log score -1.42.")

    picture = options.out / "drift.png"
    draw(picture, result, changes)
    print(f"The picture is in {picture}.")


if __name__ == "__main__":
    main()

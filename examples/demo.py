"""Learn a stream that drifts, beside two baselines, and draw what happened.

Run it with ``make demo``. Every row is predicted before it is learned. The world changes fast, then slowly, then jumps
once and stays: watch the bank move its trust between small and large pools, and the trees forget when they must.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TypeAlias

import numpy as np

from demo_forecasts import WARM_UP, Beliefs, Floats, Forecasts, Scores, clairvoyant, of_baseline, scores
from demo_picture import draw
from sapwood import DynamicTreeRegressor
from sapwood.datasets import drifting_friedman
from sapwood.metrics.baselines import NoChange, RunningMean

# (rows, name, cycles of the drift in 1000 rows). Every stretch begins at the same phase of the drift, so the first
# change of speed is smooth and the second, in mid-cycle, is a jump.
STRETCHES = ((4_000, "fast drift", 1.0), (3_000, "slow drift", 0.1), (3_000, "a jump, then rest", 0.0))
LOOK = 100  # rows between two looks at what the model believes
REPORT = 1_000  # rows between two printed lines

Report: TypeAlias = Callable[[int, Forecasts], None]


def stream(seed: int) -> tuple[Floats, Floats, Floats]:
    """Inputs, targets and the noise-free truth of the stretches, one after the other."""
    parts = [drifting_friedman(n, k=k, seed=seed + i) for i, (n, _, k) in enumerate(STRETCHES)]
    return (
        np.concatenate([part.X for part in parts]),
        np.concatenate([part.y for part in parts]),
        np.concatenate([part.truth for part in parts if part.truth is not None]),
    )


def learn(x: Floats, y: Floats, model: DynamicTreeRegressor, report: Report) -> tuple[Forecasts, Beliefs]:
    """Predict each row, then learn it; ``report`` is called now and then with the forecasts so far."""
    ahead = Forecasts("Sapwood", *np.full((4, len(y)), np.nan))
    rows, weights, forgetting = [], [], []
    for t in range(len(y)):
        row = slice(t, t + 1)
        if t > 0:
            predictive = model.predict_dist(x[row])
            ahead.mean[row] = predictive.mean()
            ahead.lower[row], ahead.upper[row] = predictive.interval(0.9)
            ahead.ln_density[row] = predictive.logpdf(y[row])
        model.partial_fit(x[row], y[row])
        if (t + 1) % LOOK == 0:
            rows.append(t + 1)
            weights.append(model.bank_weights_)
            forgetting.append(np.dot(model.forgetting_.values, model.forgetting_.weights))
        if (t + 1) % REPORT == 0:
            report(t + 1, ahead)
    pools = tuple(str(size) for size in model.active_.held.sum(axis=0))
    return ahead, Beliefs(np.array(rows), pools, np.array(weights), np.array(forgetting))


_BLOCK = f"{'Sapwood':>8} {'no chg.':>7} {'mean':>7}"
_HEADINGS = (
    f"{'':26}{'RMSE':>8}{'':18}{'log score':>8}{'':17}{'90 % interval covers'}\n"
    f"{'rows':>7} {'the world':18}{_BLOCK}  {_BLOCK}  {_BLOCK}  {'rows/s':>7}"
)


def _line(rows: str, stretch: str, cells: Sequence[Scores], rate: str) -> str:
    by_score = zip(*cells, strict=True)
    blocks = "  ".join(f"{model:8.2f} {last:7.2f} {mean:7.2f}" for model, last, mean in by_score)
    return f"{rows:>7} {stretch:18}{blocks}  {rate:>7}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("demo"), help="folder for the picture (default: %(default)s)")
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of the stream and of the model (default: %(default)s)"
    )
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    x, y, truth = stream(options.seed)
    baselines = [of_baseline("no change", NoChange(), y), of_baseline("running mean", RunningMean(), y)]
    best = clairvoyant(y, truth)
    ends = accumulate(n for n, _, _ in STRETCHES)
    changes = [(end - n, name) for end, (n, name, _) in zip(ends, STRETCHES, strict=True)]
    began = time.perf_counter()

    def report(done: int, ahead: Forecasts) -> None:
        stretch = [name for first, name in changes if first < done][-1]
        cells = [scores(f, y, slice(max(done - REPORT, WARM_UP), done)) for f in (ahead, *baselines)]
        print(_line(f"{done:,}", stretch, cells, f"{done / (time.perf_counter() - began):,.0f}"), flush=True)

    print(f"{len(y):,} rows, each predicted before it is learned; scores of the last {REPORT:,} rows.\n")
    print(_HEADINGS)
    ahead, beliefs = learn(x, y, DynamicTreeRegressor(random_state=options.seed), report)
    whole = slice(WARM_UP, len(y))
    print(_line("all", "", [scores(f, y, whole) for f in (ahead, *baselines)], ""))
    floor = scores(best, y, whole)
    print(f"\nBest possible (knowing truth and noise): RMSE {floor.rmse:.2f}, log score {floor.log_score:.2f}.")

    picture = options.out / "drift.png"
    draw(picture, y, [ahead, *baselines], best, beliefs, changes)
    print(f"The picture is in {picture}.")


if __name__ == "__main__":
    main()

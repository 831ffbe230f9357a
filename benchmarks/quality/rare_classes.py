"""Does it help to keep the points of a rare class in the pool? Measured on the fraud stream.

    python -m benchmarks.quality.rare_classes

One cloud with multinomial leaves, whose points this script retires itself: when the pool exceeds its size, the oldest
point, or the oldest of the frequent class while the rare class holds less than half of the pool.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.quality.problems import SCORED_FROM, Problem, problem
from sapwood import DynamicTreeClassifier
from sapwood._fitted import new_model

_RARE, _FREQUENT = 1.0, 0.0
_NEVER_FULL = 1_000_000  # this script limits the pool, not the engine


def run(stream: Problem, pool_size: int, *, keep_rare: bool, seed: int) -> tuple[float, float]:
    """(AUC, log loss) of one cloud along the stream."""
    settings = {"leaf": "multinomial", "n_particles": 20, "discard": "oldest", "max_active": _NEVER_FULL}
    model = new_model(DynamicTreeClassifier(random_state=seed, **settings), stream.X.shape[1], 2, 2)
    pool: list[float] = []
    proba, ln_density = np.empty(len(stream)), np.empty(len(stream))
    for t in range(len(stream)):
        x, y = stream.X[t : t + 1], stream.y[t : t + 1]
        ahead = model.forecast_then_learn(x, y, x, y)
        proba[t], ln_density[t] = ahead.proba[0, 1], ahead.ln_density[0]
        pool.append(float(y[0]))
        if len(pool) > pool_size:
            position = pool.index(_FREQUENT) if keep_rare and 2 * pool.count(_RARE) < pool_size else 0
            model.retire(0, [position])
            pool.pop(position)
    scored = slice(SCORED_FROM, None)
    return float(roc_auc_score(stream.y[scored], proba[scored])), float(-ln_density[scored].mean())


if __name__ == "__main__":
    fraud = problem("fraud_handbook_sim")
    for pool_size, keep_rare in product((100, 500, 3000), (False, True)):
        auc, log_loss = np.mean([run(fraud, pool_size, keep_rare=keep_rare, seed=seed) for seed in range(3)], axis=0)
        kept = "rare class kept" if keep_rare else "oldest retires"
        print(f"pool {pool_size:5,}  {kept:15}  AUC {auc:.3f}  log loss {log_loss:.4f}  (mean of 3 seeds)", flush=True)

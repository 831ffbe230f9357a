"""Write the frozen model files of this format version: run once for a version, then never again.

    python tests/files/make_fixtures.py tests/files/fixtures/v3

Each model comes with the inputs it is asked about and the answers it gave when it was saved.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sapwood import DynamicTreeClassifier, DynamicTreeRegressor


def models() -> dict[str, Any]:
    """Small models that between them use every leaf, pool rule and kind of label that a file can hold."""
    rng = np.random.default_rng(2011)
    X = rng.uniform(size=(80, 3))
    X[::9, 2] = np.nan
    y = np.abs(X[:, 0] - 0.5) + X[:, 1] + rng.normal(scale=0.05, size=80)
    text = np.array(["left", "middle", "right"])[np.digitize(X[:, 0], [1 / 3, 2 / 3])]
    named = pd.DataFrame(X, columns=["height", "width", "größe"])

    def regressor(**params: Any) -> DynamicTreeRegressor:
        return DynamicTreeRegressor(n_particles=8, random_state=2011, **params)

    def classifier(**params: Any) -> DynamicTreeClassifier:
        return DynamicTreeClassifier(n_particles=8, random_state=2011, **params)

    late = classifier(max_active=30).partial_fit(X[:40], np.where(text == "left", "middle", text)[:40])
    return {
        "linear-bank": regressor(max_active=[10, 30]).fit(X, y),
        "constant-alc": regressor(leaf="constant", max_active=25, discard="alc", forgetting=1.0).fit(X, y),
        "linear-everything": regressor(max_active=None).fit(X, y),
        "reference-prior": regressor(leaf="constant", max_active=25, prior="reference", forgetting=0.9).fit(X, y),
        "conditional-random": regressor(max_active=30, evidence="conditional", discard="random").fit(X, y),
        "lagged": regressor(max_active=[10, 30], lags=2).fit(X, y),
        "named-weighted": regressor(max_active=20).fit(named, y, sample_weight=np.arange(80) % 4),
        "classes-text": classifier(max_active=[10, 30]).fit(X, text),
        "classes-numbers": classifier(max_active=30, discard="entropy", forgetting=1.0).fit(X, X[:, 0] > 0.5),
        "classes-late": late.partial_fit(X[40:], text[40:]),
        "discriminant": classifier(leaf="discriminant", max_active=30).fit(X, text),
        "quadratic-fading": classifier(leaf="quadratic", max_active=[10, 30], forgetting=0.9).fit(X, X[:, 0] > 0.5),
        "recommended-numbers": regressor(lags=1).fit(X, y),
        "recommended-classes": classifier(lags=1).fit(X, text),
    }


def answers(model: Any, X: np.ndarray) -> list[Any]:
    """What a model says of each row of `X` as the next one: numbers that every later version must still give."""
    rows = [X[ix : ix + 1] for ix in range(len(X))]
    if isinstance(model, DynamicTreeClassifier):
        return [model.predict_next_proba(row)[0].tolist() for row in rows]
    return [model.predict_next_dist(row).ppf([0.05, 0.5, 0.95])[0].tolist() for row in rows]


def main(folder: Path) -> None:
    folder.mkdir(parents=True)
    X = np.random.default_rng(1).uniform(size=(5, 3))
    for name, model in models().items():
        asked = pd.DataFrame(X, columns=model.feature_names_in_) if hasattr(model, "feature_names_in_") else X
        model.save(folder / f"{name}.sapwood")
        record = {
            "X": X.tolist(),
            "answers": answers(model, asked),
            "n_seen": model.n_seen_,
            "evidence": model.log_evidence_,
        }
        (folder / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

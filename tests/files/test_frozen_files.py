"""Model files of earlier format versions load for ever and give the answers they gave when they were saved."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sapwood import DynamicTreeClassifier, load
from sapwood._fitted import native

FROZEN = sorted((Path(__file__).parent / "fixtures").glob("*/*.sapwood"))


def test_there_are_frozen_files():
    assert len(FROZEN) >= 10
    versions = {path.parent.name for path in FROZEN}
    assert versions == {"v1", "v2", "v3"}, (
        "write them once: python tests/files/make_fixtures.py tests/files/fixtures/v3"
    )


@pytest.mark.parametrize("path", FROZEN, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_frozen_file_gives_the_answers_it_gave(path):
    model, record = load(path), json.loads(path.with_suffix(".json").read_text())
    X = np.array(record["X"])
    asked = pd.DataFrame(X, columns=model.feature_names_in_) if hasattr(model, "feature_names_in_") else X
    # Every row is asked about as the next one: these versions took the last target as known.
    rows = [asked[ix : ix + 1] for ix in range(len(X))]
    if isinstance(model, DynamicTreeClassifier):
        given = np.vstack([model.predict_next_proba(row) for row in rows])
    else:
        given = np.vstack([model.predict_next_dist(row).ppf([0.05, 0.5, 0.95]) for row in rows])
    # Quantiles come from root-finding, whose last digits a later version may improve.
    np.testing.assert_allclose(given, record["answers"], rtol=1e-9)
    assert model.n_seen_ == record["n_seen"]
    assert model.log_evidence_ == pytest.approx(record["evidence"], rel=1e-12)


LAGGED = [path for path in FROZEN if path.stem in ("lagged", "recommended-numbers", "recommended-classes")]


@pytest.mark.parametrize("path", LAGGED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_an_older_file_starts_its_account_of_any_row_from_the_weights_it_has(path):
    """Versions 1 and 2 know no such account: the members without lags keep their proportions within every rate, and
    their average is not calibrated yet. Catches an account that starts from nothing, or with the wrong members."""
    model = load(path)
    core = native(model)
    free = [member for member in range(core.n_members) if core.member_config(member).lags == 0]
    weights = core.weights(horizon="any_row")
    assert np.flatnonzero(weights).tolist() == free
    assert weights.sum() == pytest.approx(1.0)
    assert not np.allclose(weights[free], 1 / len(free))
    record = json.loads(path.with_suffix(".json").read_text())
    X = np.array(record["X"])
    before = model.predict(X)
    assert before.tolist() == [model.predict(X[ix : ix + 1])[0] for ix in range(len(X))]


@pytest.mark.parametrize("path", FROZEN, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_frozen_model_goes_on_learning(path):
    model = load(path)
    n_seen = model.n_seen_
    X = np.random.default_rng(0).uniform(size=(20, 3))
    table = pd.DataFrame(X, columns=model.feature_names_in_) if hasattr(model, "feature_names_in_") else X
    y = model.classes_[:1].repeat(20) if isinstance(model, DynamicTreeClassifier) else X[:, 0]
    assert model.partial_fit(table, y).n_seen_ == n_seen + 20
    assert np.all(np.isfinite(model.tree_stats().active_per_leaf))

"""QDA-AF: batch QDA where nothing changes, and fast forgetting where something does."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from sapwood.baselines import QDAAF
from sapwood.datasets import load
from sapwood.metrics import accuracy, auc

DATA = Path(os.environ.get("SAPWOOD_DATA") or Path(__file__).parents[3] / "shared" / "data")


def two_classes(n, seed):
    r = np.random.default_rng(seed)
    y = (r.random(n) < 0.4).astype(int)
    turn = np.array([[1.0, 0.8], [0.0, 0.6]])
    z = r.standard_normal((n, 2))
    return np.where(y[:, None] == 1, z @ turn + [1.0, -1.0], 2.0 * z), y


def test_without_forgetting_it_is_batch_qda():
    x, y = two_classes(4000, seed=51)
    ours = QDAAF(step=0.0).fit(x, y)
    batch = QuadraticDiscriminantAnalysis().fit(x, y)
    assert ours.forgetting_.tolist() == [1.0, 1.0]
    # One row in 1600 of variances up to four times the class's own: .0025 in a covariance, so up to .02 in the log odds
    # of a row four standard deviations out, and a quarter of that in its probability.
    np.testing.assert_allclose(ours.predict_proba(x[:500]), batch.predict_proba(x[:500]), atol=6e-3)


def test_on_a_stationary_stream_it_stays_close_to_batch_qda():
    """Catches a gradient with the wrong sign: the factors would then sit at their floor."""
    x, y = two_classes(6000, seed=52)
    model = QDAAF()
    proba = model.forecast_then_learn(x, y)
    batch = QuadraticDiscriminantAnalysis().fit(x, y)
    late = slice(2000, None)
    assert accuracy(y[late], proba[late]) > batch.score(x[late], y[late]) - 0.015
    assert model.forgetting_.min() > 0.97
    assert model.share_forgetting_ > 0.97


def test_forgetting_drops_at_an_abrupt_change_and_recovers():
    r = np.random.default_rng(53)
    n = 6000
    y = r.integers(0, 2, n)
    centre = np.where(y == 1, 1.0, -1.0)[:, None] * np.array([1.0, 1.0])
    centre[n // 2 :] *= -1  # the classes change places
    x = centre + r.standard_normal((n, 2))
    model, trace, proba = QDAAF(), [], []
    for low in range(0, n, 50):
        proba.append(model.forecast_then_learn(x[low : low + 50], y[low : low + 50], classes=[0, 1]))
        trace.append(model.forgetting_.mean())
    before, after, later = np.mean(trace[40:60]), np.min(trace[60:66]), np.mean(trace[90:])
    assert after < before - 0.02
    assert later > after + 0.02
    fixed = QDAAF(step=0.0).forecast_then_learn(x, y)
    adapted = slice(n // 2 + 200, n // 2 + 1500)
    assert accuracy(y[adapted], np.vstack(proba)[adapted]) > 0.88
    assert accuracy(y[adapted], fixed[adapted]) < 0.3


def test_shares_follow_runs_of_a_class():
    r = np.random.default_rng(54)
    y = np.cumsum(r.random(4000) < 0.03) % 2
    model = QDAAF()
    proba = model.forecast_then_learn(r.standard_normal((4000, 1)), y)
    assert model.share_forgetting_ < 0.9
    assert accuracy(y[1000:], proba[1000:]) > 0.85


def test_elec2_is_near_the_paper():
    """The paper reports accuracy .873 and AUC .924, its step and floors unknown; .85 and .917 came out with ours."""
    if not (DATA / "elec2_paper.csv.gz").is_file():
        pytest.skip(f"elec2_paper.csv.gz is not in {DATA}")
    stream = load("elec2_paper", DATA)
    proba = QDAAF().forecast_then_learn(stream.X, stream.y)
    y = stream.y - 1
    assert accuracy(y, proba) == pytest.approx(0.873, abs=0.03)
    assert auc(y, proba) == pytest.approx(0.924, abs=0.015)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"step": -1.0}, r"step is -1.0; it must lie between 0 and inf"),
        ({"forgetting_min": 1.2}, r"forgetting_min is 1.2; it must lie between 0 and 1"),
        ({"share_forgetting_min": -0.1}, r"share_forgetting_min is -0.1"),
    ],
)
def test_parameters_are_checked(parameters, message):
    with pytest.raises(ValueError, match=message):
        QDAAF(**parameters).fit([[0.0], [1.0]], [0, 1])

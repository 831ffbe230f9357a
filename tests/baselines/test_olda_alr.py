"""OLDA-ALR: batch LDA at rate zero, and a rate that follows the errors."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from sapwood.baselines import OLDAALR
from sapwood.metrics import accuracy


def two_classes(n, seed):
    r = np.random.default_rng(seed)
    y = (r.random(n) < 0.35).astype(int)
    mixing = np.array([[1.0, 0.7, 0.0], [0.0, 1.0, -0.5], [0.0, 0.0, 2.0]])
    return r.standard_normal((n, 3)) @ mixing + np.outer(y, [1.5, 0.0, -1.0]), y


def test_at_rate_zero_it_is_batch_lda():
    x, y = two_classes(4000, seed=61)
    ours = OLDAALR(rate=0.0, rate_min=0.0, rate_max=0.0).fit(x, y)
    batch = LinearDiscriminantAnalysis(solver="lsqr").fit(x, y)
    # One row's worth of regularisation: differences of order 1/4000 in the covariance and the shares.
    np.testing.assert_allclose(ours.predict_proba(x[:500]), batch.predict_proba(x[:500]), atol=2e-3)


def test_on_a_stationary_stream_it_stays_close_to_batch_lda():
    x, y = two_classes(6000, seed=62)
    proba = OLDAALR().forecast_then_learn(x, y)
    batch = LinearDiscriminantAnalysis().fit(x, y)
    late = slice(2000, None)
    # A memory of about 100 rows against 6000.
    assert accuracy(y[late], proba[late]) > batch.score(x[late], y[late]) - 0.025


def test_the_rate_rises_with_the_errors_and_falls_with_them():
    """Catches the exponent's sign: the rate would fall when the classes change places, and stay low."""
    x, y = two_classes(4000, seed=63)
    y[2000:] = 1 - y[2000:]
    model, trace, proba = OLDAALR(), [], []
    for low in range(0, 4000, 20):
        proba.append(model.forecast_then_learn(x[low : low + 20], y[low : low + 20], classes=[0, 1]))
        trace.append(model.rate_)
    before, after, later = np.mean(trace[90:100]), np.max(trace[100:108]), np.mean(trace[180:])
    assert after > 1.5 * before
    assert later < after / 1.4
    assert accuracy(y[2600:], np.vstack(proba)[2600:]) > 0.75


def test_the_rate_moves_as_the_rule_says():
    model = OLDAALR(rate=0.01, window=2, rate_min=0.0, rate_max=1.0).fit([[0.0], [1.0]], [0, 0])
    # The only class known is never mistaken: the window is full of hits, and a new class must be a mistake.
    model.partial_fit([[5.0]], [1])
    assert model.rate_ == pytest.approx(0.01**0.5, rel=1e-12)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rate": 0.9}, r"rate is 0.9; it must lie between 0.0001 and 0.5"),
        ({"rate_max": 2.0}, r"rate_max is 2.0"),
        ({"rate_min": -0.1}, r"rate_min is -0.1"),
        ({"window": 0}, r"window is 0; it must lie between 1 and inf"),
    ],
)
def test_parameters_are_checked(parameters, message):
    with pytest.raises(ValueError, match=message):
        OLDAALR(**parameters).fit([[0.0], [1.0]], [0, 1])

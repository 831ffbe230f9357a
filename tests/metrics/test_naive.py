"""The naive forecasts that every model is compared with."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import integrate, stats

from sapwood.metrics import Coverage90, LogScore, accuracy, log_loss
from sapwood.metrics.naive import Majority, NoChange, NoChangeClass, RunningMean


def walk(n=5000, seed=31):
    return np.cumsum(np.random.default_rng(seed).standard_normal(n)) * 7.0


def test_no_change_says_the_last_value_and_running_mean_the_mean():
    y = walk(100)
    np.testing.assert_array_equal(NoChange().forecast_then_learn(y).mean[1:], y[:-1])
    means = np.cumsum(y)[:-1] / np.arange(1, 100)
    np.testing.assert_allclose(RunningMean().forecast_then_learn(y).mean[1:], means, rtol=1e-12)


def test_the_forecast_is_one_coherent_distribution():
    y = walk(300)
    f = NoChange().forecast_then_learn(y)
    scale = (f.upper - f.mean) / stats.t.ppf(0.95, 3)
    np.testing.assert_allclose(f.lower, stats.t.ppf(0.05, 3, f.mean, scale), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(f.ln_density, stats.t.logpdf(y, 3, f.mean, scale), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(f.pit, stats.t.cdf(y, 3, f.mean, scale), rtol=1e-9, atol=1e-12)
    row = 200
    below = integrate.quad(lambda x: stats.t.cdf(x, 3, f.mean[row], scale[row]) ** 2, -np.inf, y[row])[0]
    above = integrate.quad(lambda x: stats.t.sf(x, 3, f.mean[row], scale[row]) ** 2, y[row], np.inf)[0]
    assert f.crps[row] == pytest.approx(below + above, rel=1e-6)


def test_scale_is_the_maximum_likelihood_one_of_heavy_tailed_errors():
    """Fails if the scale is the root mean square, which for t(3) errors is sqrt(3) times too wide."""
    y = np.cumsum(stats.t.rvs(3, size=20_000, random_state=5)) * 2.5
    forecast = NoChange().forecast_then_learn(y)
    scale = (forecast.upper - forecast.mean) / stats.t.ppf(0.95, 3)
    # A memory of 100 errors leaves a relative standard deviation of about .1 each; the mean of 200 such is steady.
    assert np.mean(scale[1000:]) == pytest.approx(2.5, rel=0.05)


def test_log_score_of_a_random_walk_is_near_the_best_possible():
    score, covered = LogScore(), Coverage90()
    forecast = NoChange().forecast_then_learn(walk())
    score.update(forecast)
    covered.update(forecast)
    best = -0.5 * np.log(2 * np.pi * np.e * 49)
    # The best t(3) is .07 nats short of a Gaussian; .05 more is allowed for the tracked scale and the first rows.
    assert best - 0.12 < score.value() < best
    assert 0.88 < covered.value() < 0.95


def test_units_scale_through():
    y = walk(200)
    small, large = NoChange().forecast_then_learn(y), NoChange().forecast_then_learn(1000 * y)
    np.testing.assert_allclose(large.crps[1:], 1000 * small.crps[1:], rtol=1e-10)


def test_a_constant_stream_keeps_finite_densities():
    for value in (0.0, 5.0):
        forecast = NoChange().forecast_then_learn(np.full(50, value))
        assert np.isfinite(forecast.ln_density).all()
        assert np.isfinite(forecast.crps).all()


def test_majority_and_no_change_of_classes():
    y = np.array([0, 1, 1, 2, 1, 1])
    majority, last = Majority(3).forecast_then_learn(y), NoChangeClass(3).forecast_then_learn(y)
    assert majority.label.tolist() == [0, 0, 0, 1, 1, 1]
    np.testing.assert_allclose(majority.proba[3], [2 / 6, 3 / 6, 1 / 6])
    assert last.label.tolist() == [0, 0, 1, 1, 2, 1]
    # Before the last row one of four pairs repeated: (1 + 1) / (4 + 2); the others are smoothed counts 2 : 2.
    np.testing.assert_allclose(last.proba[5], [1 / 3, 1 / 3, 1 / 3])
    for forecast in (majority, last):
        np.testing.assert_allclose(forecast.proba.sum(axis=1), 1.0, rtol=1e-12)
        assert (forecast.proba > 0).all()


def test_no_change_is_good_exactly_where_labels_persist():
    r = np.random.default_rng(32)
    sticky = np.cumsum(r.random(5000) < 0.1) % 2
    forecast = NoChangeClass(2).forecast_then_learn(sticky)
    assert np.mean(forecast.label == sticky) == pytest.approx(0.9, abs=0.02)
    entropy = -0.1 * np.log(0.1) - 0.9 * np.log(0.9)
    assert log_loss(sticky, forecast.proba) == pytest.approx(entropy, abs=0.02)
    assert accuracy(sticky, Majority(2).forecast_then_learn(sticky).proba) < 0.65


@pytest.mark.parametrize("make", [NoChange, RunningMean, lambda: Majority(2), lambda: NoChangeClass(2)])
def test_chunks_pickles_and_late_labels(make):
    y = (walk(120) > 0).astype(float)
    whole, parts = make().forecast_then_learn(y), make()
    first = parts.forecast_then_learn(y[:50])
    second = pickle.loads(pickle.dumps(parts)).forecast_then_learn(y[50:])
    np.testing.assert_array_equal(np.concatenate([first.ln_density, second.ln_density]), whole.ln_density)
    late = make()
    head = late.forecast_then_learn(y[:30], y[:10])
    tail = late.forecast_then_learn(y[30:], y[10:100])
    assert len(head) + len(tail) == 120
    by_hand = make()
    by_hand.forecast_then_learn(y[:100])
    assert late.forecast_then_learn(y[:1]).ln_density == by_hand.forecast_then_learn(y[:1]).ln_density


def test_unknown_targets_are_not_learned():
    y = np.array([1.0, np.nan, np.nan, 2.0])
    assert NoChange().forecast_then_learn(y).mean.tolist() == [0.0, 1.0, 1.0, 1.0]
    forecast = NoChangeClass(3).forecast_then_learn(y)
    assert forecast.label.tolist() == [0.0, 1.0, 1.0, 1.0]
    assert np.isnan(forecast.ln_density).tolist() == [False, True, True, False]


def test_classes_grow():
    baseline = Majority(1)
    assert baseline.forecast_then_learn([0, 0]).proba.shape == (2, 1)
    assert baseline.forecast_then_learn([3]).proba.shape == (1, 4)


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="n_classes is 0"):
        Majority(0)
    with pytest.raises(ValueError, match="y no longer than y_test"):
        NoChange().forecast_then_learn([1.0], [1.0, 2.0])

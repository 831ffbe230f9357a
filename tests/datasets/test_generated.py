"""The generated streams: their exact draws, their distributions, and the registry."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score

from sapwood.datasets import STREAMS, Stream, drifting_friedman, friedman, height, hyperplane, moving_target, parabola


def friedman_mean(x, amplitude=1.0):
    first = amplitude * 10 * np.sin(np.pi * x[:, 0] * x[:, 1])
    return first + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]


def test_friedman_follows_the_published_draw_order():
    r = np.random.default_rng(7)
    x = r.random((50, 5))
    y = friedman_mean(x) + r.standard_normal(50)
    stream = friedman(n=50, seed=7)
    np.testing.assert_array_equal(stream.X, x)
    # The sum of the terms may be rounded in another order: a few units in the last place.
    np.testing.assert_allclose(stream.y, y, rtol=1e-13)
    np.testing.assert_allclose(stream.truth, friedman_mean(x), rtol=1e-13)


@pytest.mark.parametrize(("k", "per_step"), [(1.0, 1), (0.1, 1), (1.0, 5)])
def test_drifting_friedman_follows_the_published_draw_order(k, per_step):
    r = np.random.default_rng(3)
    x = r.random((2000, 5))
    t = np.repeat(np.arange(2000), per_step)[:2000]
    a = 2 * np.sin(2 * np.pi * k * t / 1000) + 1
    y = friedman_mean(x, a) + r.standard_normal(2000)
    stream = drifting_friedman(n=2000, k=k, per_step=per_step, seed=3)
    np.testing.assert_array_equal(stream.X, x)
    np.testing.assert_allclose(stream.y, y, rtol=1e-12, atol=1e-12)


def test_moving_target_follows_the_published_draw_order():
    n = 10_000
    r = np.random.default_rng(3000)
    th = 2 * np.pi * np.arange(n) / 4000
    y = r.random(n) < 0.4
    side = r.integers(0, 2, n)
    angle = th + np.pi / 4 + y * np.pi / 2 + side * np.pi
    x = np.stack([np.cos(angle), np.sin(angle)], axis=1) * np.sqrt(2) / 2 + 0.35 * r.standard_normal((n, 2))
    stream = moving_target(seed=3000)
    np.testing.assert_allclose(stream.X, x, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(stream.y, y.astype(int))


def test_moving_target_truth_has_the_published_bayes_scores():
    """Catches a wrong posterior (prior left out, angle off by a quarter) and wrong draws: each moves these digits."""
    stream = moving_target(seed=3000)
    assert round(accuracy_score(stream.y, stream.truth > 0.5), 4) == 0.8625
    assert round(roc_auc_score(stream.y, stream.truth), 3) == 0.935
    assert round(log_loss(stream.y, stream.truth), 3) == 0.317


def test_height_is_complex_only_in_the_middle():
    stream = height(n=300, rise=100, fall=200, noise=0.0, seed=1)
    amplitude = np.repeat([0.0, 10.0, 0.0], 100)
    np.testing.assert_allclose(stream.y, friedman_mean(stream.X, amplitude), rtol=1e-13)


def test_parabola_is_the_paper_s():
    stream = parabola(n=2000, seed=2)
    assert -3 < stream.X.min() < -2.98
    assert 1.98 < stream.X.max() < 2
    np.testing.assert_allclose(stream.truth, stream.X[:, 0] + stream.X[:, 0] ** 2)
    # sd of a standard normal sample of 2000: standard error 1/sqrt(4000) = .016, four of them allowed.
    assert abs(np.std(stream.y - stream.truth) - 1) < 0.064


def test_hyperplane_boundary_is_linear_and_wanders():
    """Catches weights that do not drift (the late rows would fit the early plane) and noise applied twice."""
    clean = hyperplane(n=10_000, noise=0.0, mag_change=0.002, seed=5)
    centred = clean.X - 0.5
    early, late = slice(0, 500), slice(9500, None)
    w, *_ = np.linalg.lstsq(centred[early], 2.0 * clean.y[early] - 1, rcond=None)
    hits = [np.mean((centred[part] @ w > 0) == clean.y[part]) for part in (early, late)]
    assert hits[0] > 0.94
    assert hits[1] < hits[0] - 0.05
    noisy = hyperplane(n=10_000, noise=0.05, mag_change=0.002, seed=5)
    flips = np.mean(noisy.y != (noisy.truth > 0.5))
    # A binomial share with standard error sqrt(.05 * .95 / 10000) = .0022, four of them allowed.
    assert abs(flips - 0.05) < 0.0088


def test_hyperplane_is_its_description_row_by_row():
    n, p, wandering = 400, 4, 3
    r = np.random.default_rng(9)
    w, x = r.random(p), r.random((n, p))
    flipped, turns = r.random(n) < 0.05, r.random((n, wandering)) < 0.2
    direction = np.ones(wandering)
    y = np.empty(n, dtype=int)
    for t in range(n):
        y[t] = (w @ x[t] >= w.sum() / 2) ^ flipped[t]
        w[:wandering] += 0.01 * direction
        direction[turns[t]] *= -1
    stream = hyperplane(n, p, wandering, mag_change=0.01, reversal=0.2, seed=9)
    np.testing.assert_array_equal(stream.y, y)


@pytest.mark.parametrize("name", sorted(STREAMS))
def test_registry_streams_are_well_formed_and_reproducible(name):
    stream, again, other = (STREAMS[name](n=400, seed=seed) for seed in (1, 1, 2))
    assert isinstance(stream, Stream)
    assert stream.X.shape == (len(stream), len(stream.feature_names)) == (400, stream.X.shape[1])
    assert stream.X.dtype == np.float64
    assert stream.X.flags.c_contiguous
    assert stream.truth.shape == stream.y.shape == (400,)
    assert np.isfinite(stream.X).all()
    assert name in STREAMS
    assert stream.task in repr(stream)
    np.testing.assert_array_equal(stream.X, again.X)
    np.testing.assert_array_equal(stream.y, again.y)
    assert not np.array_equal(stream.X, other.X)


def test_names_on_the_command_line():
    assert set(STREAMS) == {"friedman", "drifting-friedman", "moving-target", "parabola", "height", "hyperplane"}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: friedman(n=0), "n is 0; it must be at least 1"),
        (lambda: friedman(noise=-1.0), r"noise is -1\.0; it must be at least 0\.0"),
        (lambda: drifting_friedman(per_step=0), "per_step is 0"),
        (lambda: height(rise=10, fall=5), "fall is 5; it must be at least 10"),
        (lambda: moving_target(spread=0.0), r"spread is 0\.0; it must be larger than 0"),
        (lambda: hyperplane(n_features=3), "n_features is 3; it must be at least 5"),
        (lambda: hyperplane(noise=1.5), r"noise is 1\.5; it is a probability"),
    ],
)
def test_arguments_are_checked(call, message):
    with pytest.raises(ValueError, match=message):
        call()

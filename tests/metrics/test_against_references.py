"""Functions of whole arrays compared with scikit-learn or with a formula written out here."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.metrics as sk

from sapwood import metrics


@pytest.fixture
def binary():
    r = np.random.default_rng(11)
    p = r.beta(0.5, 0.8, 3000)
    return (r.random(3000) < 0.8 * p + 0.1).astype(int), np.round(p, 3).clip(1e-3, 1 - 1e-3)


@pytest.fixture
def multi():
    r = np.random.default_rng(12)
    proba = r.dirichlet([1.0, 2.0, 0.5, 1.5], 2000)
    y = np.array([r.choice(4, p=0.5 * p + 0.125) for p in proba])
    return y, proba


def test_binary_scores(binary):
    y, p = binary
    assert metrics.accuracy(y, p) == sk.accuracy_score(y, p > 0.5)
    assert metrics.auc(y, p) == pytest.approx(sk.roc_auc_score(y, p), abs=1e-14)
    assert metrics.log_loss(y, p) == pytest.approx(sk.log_loss(y, p), rel=1e-13)
    assert metrics.brier(y, p) == pytest.approx(sk.brier_score_loss(y, p), rel=1e-13)


def test_multiclass_scores(multi):
    y, proba = multi
    assert metrics.accuracy(y, proba) == sk.accuracy_score(y, proba.argmax(axis=1))
    assert metrics.auc(y, proba) == pytest.approx(sk.roc_auc_score(y, proba, multi_class="ovr"), abs=1e-14)
    assert metrics.log_loss(y, proba) == pytest.approx(sk.log_loss(y, proba), rel=1e-13)
    assert metrics.brier(y, proba) == pytest.approx(np.mean(np.sum((np.eye(4)[y] - proba) ** 2, axis=1)), rel=1e-13)
    rest = [metrics.h_measure(y == k, proba[:, k]) for k in range(4)]
    assert metrics.h_measure(y, proba) == pytest.approx(np.mean(rest), rel=1e-13)


def test_ece_is_its_formula(multi):
    y, proba = multi
    confidence, hit = proba.max(axis=1), proba.argmax(axis=1) == y
    expected = 0.0
    for low in range(15):
        inside = (confidence > low / 15) & (confidence <= (low + 1) / 15)
        if inside.any():
            expected += inside.mean() * abs(hit[inside].mean() - confidence[inside].mean())
    assert metrics.ece(y, proba) == pytest.approx(expected, rel=1e-12)


def test_regression_scores():
    r = np.random.default_rng(13)
    y, mean = r.standard_normal((2, 500))
    assert metrics.rmse(y, mean) == pytest.approx(sk.root_mean_squared_error(y, mean), rel=1e-14)
    assert metrics.mae(y, mean) == pytest.approx(sk.mean_absolute_error(y, mean), rel=1e-14)
    inside = [low <= value <= high for value, low, high in zip(y, mean - 1, mean + 0.5, strict=True)]
    assert metrics.coverage90(y, mean - 1, mean + 0.5) == np.mean(inside)
    assert metrics.width90(mean - 1, mean + 0.5) == pytest.approx(1.5, rel=1e-14)
    assert metrics.log_score(-(y**2)) == pytest.approx(-np.mean(y**2), rel=1e-14)
    assert metrics.crps(y**2) == pytest.approx(np.mean(y**2), rel=1e-14)


def test_coverage_counts_the_ends_of_the_interval():
    assert metrics.coverage90([0.0, 1.0], [0.0, 0.0], [1.0, 1.0]) == 1.0


def test_pit_histogram_is_a_density_and_keeps_the_ends():
    heights = metrics.pit_histogram([0.0, 1.0, 0.5, 0.51], n_bins=4)
    np.testing.assert_array_equal(heights, [1.0, 0.0, 2.0, 1.0])


def test_a_certain_mistake_has_infinite_log_loss():
    assert metrics.log_loss([0, 1], [[1.0, 0.0], [1.0, 0.0]]) == np.inf


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.accuracy([0, 2], [0.1, 0.2]), "row 1 of y is 2; with 2 columns of proba it must be a class"),
        (lambda: metrics.accuracy([0, 1], [0.1]), r"proba has shape \(1, 2\); y has 2 rows"),
        (lambda: metrics.rmse([0.0], [0.1, 0.2]), r"shapes \(1,\) and \(2,\)"),
        (lambda: metrics.ece([0], [0.1], n_bins=0), "n_bins is 0"),
        (lambda: metrics.pit_histogram([0.1], n_bins=0), "n_bins is 0"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()

"""The recursions with forgetting: equal to the weighted sums they stand for, derivatives to finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from sapwood.baselines._tracking import Forgetting, RunningSpread, TrackedGaussian, TrackedShares


def fixed(factor):
    forgetting = Forgetting(step=0.0, least=0.0)
    forgetting.value = factor
    return forgetting


def gaussian_after(x, factor):
    spread = RunningSpread(x.shape[1])
    gaussian = TrackedGaussian(fixed(factor), spread)
    for row in x:
        spread.observe(row)
        gaussian.observe(row)
    return gaussian


def shares_after(labels, factor, n_classes=3):
    shares = TrackedShares(n_classes, fixed(factor))
    for label in labels:
        shares.observe(label)
    return shares


@pytest.fixture
def x():
    r = np.random.default_rng(41)
    return r.standard_normal((60, 3)) @ r.standard_normal((3, 3)) + [5.0, 0.0, -2.0]


@pytest.mark.parametrize("factor", [1.0, 0.97, 0.7])
def test_gaussian_is_the_weighted_mean_and_covariance(x, factor):
    weight = factor ** np.arange(len(x))[::-1]
    mean = weight @ x / weight.sum()
    raw = (weight[:, None] * (x - mean)).T @ (x - mean) / weight.sum()
    blended = (weight.sum() * raw + np.diag(x.var(axis=0))) / (weight.sum() + 1)
    gaussian = gaussian_after(x, factor)
    assert gaussian.effective_n == pytest.approx(weight.sum(), rel=1e-12)
    np.testing.assert_allclose(gaussian.mean, mean, rtol=1e-10)
    np.testing.assert_allclose(gaussian.covariance, blended, rtol=1e-9)


def test_ln_density_is_the_gaussian_s(x):
    from scipy import stats

    gaussian = gaussian_after(x, 0.9)
    expected = stats.multivariate_normal.logpdf(x, gaussian.mean, gaussian.covariance)
    np.testing.assert_allclose(gaussian.ln_density(x), expected, rtol=1e-10)


@pytest.mark.parametrize("factor", [0.99, 0.95, 0.8])
@pytest.mark.parametrize("n_rows", [3, 10, 60])
def test_gaussian_gradient_is_the_slope_of_the_log_density(x, factor, n_rows):
    """Catches a lost term of S', the missing derivative of the blend, and a sign; each changes the first digits."""
    ahead, step = np.array([4.0, 1.0, -1.0]), 1e-6
    up, down = (gaussian_after(x[:n_rows], factor + h).ln_density(ahead[None])[0] for h in (step, -step))
    # Central differences: truncation of order step^2, rounding of order 1e-16 / step relative to densities of order 10.
    assert gaussian_after(x[:n_rows], factor).gradient(ahead) == pytest.approx((up - down) / (2 * step), rel=1e-5)


@pytest.mark.parametrize("factor", [0.99, 0.6])
@pytest.mark.parametrize("ahead", [0, 1, 2])
def test_share_gradient_is_the_slope_of_the_log_share(factor, ahead):
    labels, step = [0, 0, 1, 0, 1, 1, 0, 0, 1], 1e-6
    up, down = (shares_after(labels, factor + h).ln_share()[ahead] for h in (step, -step))
    assert shares_after(labels, factor).gradient(ahead) == pytest.approx((up - down) / (2 * step), rel=1e-6)


def test_shares_sum_to_one_and_are_the_smoothed_frequencies():
    shares = np.exp(shares_after([0, 1, 1, 1], 1.0).ln_share())
    np.testing.assert_allclose(shares, np.array([4 / 3, 10 / 3, 1 / 3]) / 5)


def test_forgetting_climbs_and_is_truncated():
    forgetting = Forgetting(step=0.1, least=0.8)
    forgetting.climb(3.0)
    assert forgetting.value == 1.0
    forgetting.climb(-0.5)
    assert forgetting.value == pytest.approx(0.95)
    forgetting.climb(-100.0)
    assert forgetting.value == 0.8


def test_columns_of_very_different_size_lose_no_digits():
    r = np.random.default_rng(42)
    x = r.standard_normal((200, 3))
    units = np.array([1e-9, 1.0, 1e9])
    small, large = gaussian_after(x, 0.95), gaussian_after(x * units, 0.95)
    np.testing.assert_allclose(large.ln_density(x * units), small.ln_density(x) - np.log(units).sum(), rtol=1e-10)

"""Predictive distributions: shapes, and identities between their methods."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate

from sapwood import InputError
from sapwood.distribution import ClassDistribution, PredictiveDistribution

LEVELS = np.array([0.01, 0.1, 0.5, 0.9, 0.99])


@pytest.fixture
def dist(regressor, rng) -> PredictiveDistribution:
    return regressor.predict_dist(rng.uniform(size=(6, 3)))


@pytest.fixture
def class_dist(classifier, rng) -> ClassDistribution:
    return classifier.predict_dist(rng.uniform(size=(6, 2)))


def grid(dist: PredictiveDistribution, n: int = 4001) -> np.ndarray:
    """A common grid of y that covers all but a millionth of every row's probability."""
    return np.linspace(dist.ppf(1e-6).min(), dist.ppf(1 - 1e-6).max(), n)


def test_quantiles_invert_the_cdf(dist):
    for level, quantile in zip(LEVELS, dist.ppf(LEVELS).T, strict=True):
        np.testing.assert_allclose(dist.cdf(quantile), level, rtol=0, atol=1e-9)  # tolerance of the root-finding


def test_the_density_integrates_to_the_cdf(dist):
    points = grid(dist)
    density = np.stack([dist.pdf(y) for y in points])
    between = integrate.trapezoid(density, points, axis=0)
    expected = dist.cdf(points[-1]) - dist.cdf(points[0])
    np.testing.assert_allclose(between, expected, atol=1e-4)  # error of the trapezoidal rule on 4001 points


def test_pdf_is_the_exponential_of_logpdf(dist):
    np.testing.assert_array_equal(dist.pdf(1.0), np.exp(dist.logpdf(1.0)))


def test_crps_is_the_integral_of_squared_cdf_errors(dist):
    """The definition of the score; fails if the cross term in the closed form of the mixture is wrong."""
    points, y = grid(dist), dist.ppf(0.8)
    cdf = np.stack([dist.cdf(point) for point in points])
    error = (cdf - (points[:, np.newaxis] >= y)) ** 2
    step = points[1] - points[0]
    np.testing.assert_allclose(dist.crps(y), error.sum(axis=0) * step, rtol=0.01, atol=step)  # one step at the jump


def test_moments_agree_with_samples(dist):
    """Null: samples follow the distribution. At 4 sigma of 20,000 draws a false alarm has probability 4e-4."""
    draws = dist.sample(20_000, random_state=0)
    np.testing.assert_array_less(np.abs(draws.mean(axis=1) - dist.mean()), 4 * dist.std() / np.sqrt(20_000))
    share_below = (draws < dist.ppf(0.3)[:, np.newaxis]).mean(axis=1)
    np.testing.assert_allclose(share_below, 0.3, atol=4 * np.sqrt(0.3 * 0.7 / 20_000))


def test_epistemic_is_part_of_the_variance(dist):
    assert np.all(dist.epistemic() >= 0)
    assert np.all(dist.epistemic() < dist.var())
    np.testing.assert_array_equal(dist.std(), np.sqrt(dist.var()))


def test_intervals_are_quantiles(dist):
    lower, upper = dist.interval(0.8)
    np.testing.assert_allclose(np.stack([lower, upper], axis=1), dist.ppf([0.1, 0.9]), rtol=1e-9)  # (1 - .8)/2 rounds


def test_shapes(dist):
    assert len(dist) == 6
    assert dist.mean().shape == dist.var().shape == dist.logpdf(0.0).shape == dist.cdf(np.zeros(6)).shape == (6,)
    assert dist.ppf(0.5).shape == (6,)
    assert dist.ppf([0.5]).shape == (6, 1)
    assert dist.ppf([]).shape == (6, 0)
    assert dist.sample(3).shape == (6, 3)
    assert dist.sample(0).shape == (6, 0)


def test_the_ends_of_the_line(dist):
    assert np.all(dist.ppf(0.0) == -np.inf)
    assert np.all(dist.ppf(1.0) == np.inf)
    assert np.all(dist.logpdf(np.inf) == -np.inf)
    assert np.all(dist.cdf(-np.inf) == 0)
    assert np.all(dist.cdf(np.inf) == 1)
    assert np.all(np.isnan(dist.logpdf(np.nan)))
    assert np.all(np.isnan(dist.cdf(np.nan)))
    assert dist.cdf([0.0, np.nan, -np.inf, np.inf, 1.0, 2.0])[2:4].tolist() == [0.0, 1.0]


def test_the_past_stays_as_it_was(regressor, regression_data):
    """Fails if a lazy distribution is evaluated with the current model instead of the model at its creation."""
    X, y = regression_data
    asked_now, asked_later = regressor.predict_dist(X[:5]), regressor.predict_dist(X[:5])
    before = asked_now.mean()
    regressor.partial_fit(X, 100 - y)
    np.testing.assert_array_equal(asked_later.mean(), before)
    assert not np.allclose(regressor.predict(X[:5]), before)


def test_answers_are_the_callers_to_change(dist, class_dist):
    dist.var()[:] = -1
    assert np.all(dist.var() > 0)
    class_dist.proba()[:] = -1
    assert np.all(class_dist.proba() > 0)


@pytest.mark.parametrize("y", [np.zeros(5), np.zeros((6, 1)), np.zeros((1, 6))])
def test_y_of_another_shape(dist, y):
    with pytest.raises(InputError, match="6 rows"):
        dist.logpdf(y)


@pytest.mark.parametrize("q", [-0.1, 1.1, [0.5, np.nan], [[0.5]]])
def test_levels_outside_what_is_allowed(dist, q):
    with pytest.raises(InputError, match="between 0 and 1"):
        dist.ppf(q)


def test_no_rows(regressor, classifier):
    assert regressor.predict(np.empty((0, 3))).shape == (0,)
    assert regressor.predict_dist(np.empty((0, 3))).ppf([0.1, 0.9]).shape == (0, 2)
    assert classifier.predict_proba(np.empty((0, 2))).shape == (0, 3)
    assert classifier.predict(np.empty((0, 2))).shape == (0,)


def test_class_probabilities_sum_to_one(class_dist):
    np.testing.assert_allclose(class_dist.proba().sum(axis=1), 1.0, rtol=1e-12)  # rounding


def test_entropy_by_its_definition(class_dist):
    expected = [-sum(p * np.log(p) for p in row) for row in class_dist.proba()]
    np.testing.assert_allclose(class_dist.entropy(), expected, rtol=1e-12)  # rounding
    assert np.all(class_dist.entropy() <= np.log(3) + 1e-12)


def test_the_mode_is_the_most_probable_label(class_dist):
    np.testing.assert_array_equal(class_dist.mode(), class_dist.classes[class_dist.proba().argmax(axis=1)])


def test_logpmf_is_the_logarithm_of_proba(class_dist):
    for ix, label in enumerate(class_dist.classes):
        np.testing.assert_allclose(class_dist.logpmf(label), np.log(class_dist.proba()[:, ix]), rtol=1e-9)  # rounding
    each = class_dist.logpmf(class_dist.mode())
    np.testing.assert_allclose(each, np.log(class_dist.proba().max(axis=1)), rtol=1e-9)


def test_sampled_labels_have_the_right_shares(class_dist):
    """Null: labels follow proba. At 4 sigma of 20,000 draws a false alarm is below 2e-3 (fixed seed)."""
    draws = class_dist.sample(20_000, random_state=0)
    for ix, label in enumerate(class_dist.classes):
        p = class_dist.proba()[:, ix]
        assert np.all(np.abs((draws == label).mean(axis=1) - p) <= 4 * np.sqrt(p * (1 - p) / 20_000))


def test_samples_repeat_with_a_seed(dist, class_dist):
    for distribution in (dist, class_dist):
        np.testing.assert_array_equal(distribution.sample(5, random_state=3), distribution.sample(5, random_state=3))
        assert not np.array_equal(distribution.sample(40, random_state=3), distribution.sample(40, random_state=4))

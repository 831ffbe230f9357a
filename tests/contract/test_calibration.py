"""A bank calibrates the average of its members: see section 7 of docs/model.md. Each test names the fault it is for."""

from __future__ import annotations

import numpy as np
import pytest

from sapwood import DynamicTreeClassifier, DynamicTreeRegressor, load
from sapwood._fitted import native
from sapwood.datasets import friedman


def forecast(model, x, y):
    """Forecast each row before it is learned: `model` goes on from where it is."""
    return native(model).forecast_then_learn(x, y, x, y, levels=np.array([0.05, 0.95]))


def copy(model, folder):
    """The model as a file gives it back."""
    model.save(folder / "bank.sapwood")
    return load(folder / "bank.sapwood")


@pytest.fixture(scope="module")
def bank():
    stream = friedman(n=1500, seed=3)
    return DynamicTreeRegressor(random_state=0).fit(stream.X, stream.y)


def test_a_single_cloud_is_left_as_it_is():
    """Fault: the paper's model no longer predicts from its posterior."""
    stream = friedman(n=300, seed=0)
    model = DynamicTreeRegressor(max_active=100, n_particles=50, random_state=0).fit(stream.X, stream.y)
    assert model.bank_sharpness_ == 1.0


def test_a_bank_that_has_learned_nothing_is_not_sharpened():
    """Fault: targets that have not varied, for which no member claims a density, are taken for sharp forecasts."""
    model = DynamicTreeRegressor(random_state=0).fit([[0.0], [1.0]], [1.0, 1.0])
    assert model.bank_sharpness_ == 1.0


def test_the_intervals_of_a_bank_cover_what_they_promise():
    """Fault: the plain average of the members, whose 90 % intervals cover .95 and more of a stream like this one.

    4000 rows leave a standard error of .005.
    """
    rng = np.random.default_rng(5)
    x = rng.random((5000, 3))
    y = 10.0 * np.sin(np.pi * x[:, 0] * x[:, 1]) + np.where(x[:, 2] > 0.5, 0.2, 1.0) * rng.standard_normal(5000)
    model = DynamicTreeRegressor(random_state=0).fit(x[:1000], y[:1000])
    ahead = forecast(model, x[1000:], y[1000:])
    covered = np.mean((y[1000:] >= ahead.quantiles[:, 0]) & (y[1000:] <= ahead.quantiles[:, 1]))
    assert 0.88 <= covered <= 0.93
    assert model.bank_sharpness_ > 1.02


def test_the_mean_follows_a_trend_of_everything():
    """Fault: every member lags behind a steady trend in the same direction, and so does their average (by .63 here)."""
    rng = np.random.default_rng(7)
    x = rng.random((3000, 2))
    y = 3.0 * x[:, 0] + 0.3 * rng.standard_normal(3000) + 0.02 * np.arange(3000)
    ahead = forecast(DynamicTreeRegressor(random_state=0).fit(x[:1000], y[:1000]), x[1000:], y[1000:])
    errors = (y[1000:] - ahead.mean)[200:]
    assert abs(np.mean(errors)) < 0.06
    assert np.sqrt(np.mean(errors**2)) < 0.33


def test_probabilities_are_sharpened_and_still_add_up():
    """Fault: averaged probabilities that are too close to each other, or powers of them that do not sum to 1."""
    rng = np.random.default_rng(11)
    x = rng.random((4000, 2))
    label = (x[:, 0] + x[:, 1] > 1.0).astype(int)
    model = DynamicTreeClassifier(random_state=0).fit(x[:1000], label[:1000])
    ahead = native(model).forecast_then_learn(x[1000:], label[1000:] * 1.0, x[1000:], label[1000:] * 1.0)
    assert model.bank_sharpness_ > 1.05
    np.testing.assert_allclose(ahead.proba.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(np.exp(ahead.ln_density), ahead.proba[np.arange(3000), label[1000:]], rtol=1e-9)


def test_what_is_predicted_is_what_is_scored(bank, tmp_path):
    """Fault: forecasts are calibrated in one path and not in another."""
    stream = friedman(n=40, seed=9)
    model = copy(bank, tmp_path)
    for t in range(40):
        row, target = stream.X[t : t + 1], stream.y[t : t + 1]
        before = model.predict_dist(row)
        said = before.mean()[0], before.logpdf(target)[0]
        ahead = native(model).forecast_then_learn(row, target, row, target)
        np.testing.assert_allclose([ahead.mean[0], ahead.ln_density[0]], said, rtol=1e-9)


def test_calibration_survives_a_file(bank, tmp_path):
    """Fault: a loaded bank starts its calibration afresh."""
    again = copy(bank, tmp_path)
    assert again.bank_sharpness_ == bank.bank_sharpness_ != 1.0
    stream = friedman(n=20, seed=1)
    np.testing.assert_array_equal(again.predict(stream.X), bank.predict(stream.X))

"""Input that is accepted, however extreme, gives finite answers and a model that can be saved and loaded."""

from __future__ import annotations

import numpy as np
import pytest

from sapwood import DynamicTreeClassifier, DynamicTreeRegressor, errors
from sapwood._files import from_bytes, to_bytes

CLASSES = {"regression": DynamicTreeRegressor, "classification": DynamicTreeClassifier}


def restored(model):
    again = from_bytes(to_bytes(model), CLASSES)
    assert to_bytes(again) == to_bytes(model)
    return again


@pytest.mark.parametrize("lags", [0, 1, 2, 5])
@pytest.mark.parametrize("y", [[1e90, 1.0], [-2.6e97], [1e100, -1e100, 0.0], [5e-324, 1e100]])
def test_huge_targets_with_lags(lags, y):
    X = np.linspace(0, 1, len(y)).reshape(-1, 1)
    model = DynamicTreeRegressor(n_particles=8, max_active=10, lags=lags, random_state=0).fit(X, y)
    distribution = restored(model).predict_dist([[0.5], [2.0]])
    assert np.isfinite(distribution.mean()).all()
    assert not np.isnan(distribution.var()).any()
    quantiles = distribution.ppf([0.01, 0.5, 0.99])
    assert np.isfinite(quantiles).all()
    assert (np.diff(quantiles, axis=1) >= 0).all()


@pytest.mark.parametrize("prior", ["default", "reference"])
def test_one_huge_target_and_two_particles(prior):
    X = [[0.1], [0.4], [0.6], [0.9]]
    model = DynamicTreeRegressor(n_particles=2, max_active=4, prior=prior, random_state=0).fit(X, [1e30, 0.0, 0.0, 0.0])
    assert np.isfinite(restored(model).predict(X)).all()


def test_inputs_at_the_bound():
    rng = np.random.default_rng(0)
    X = rng.choice([-1e100, 0.0, 1.0, 1e100, 1e-300], size=(60, 2))
    regressor = DynamicTreeRegressor(n_particles=5, max_active=12, discard="alc", random_state=0)
    classifier = DynamicTreeClassifier(n_particles=5, max_active=12, leaf="quadratic", random_state=0)
    for model, y in [(regressor, rng.normal(size=60)), (classifier, rng.integers(3, size=60))]:
        for first in range(0, 60, 6):
            model.partial_fit(X[first : first + 6], y[first : first + 6])
            restored(model)


def test_huge_weights_and_quadratic_leaves():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(80, 3)), rng.integers(3, size=80)
    model = DynamicTreeClassifier(n_particles=8, max_active=12, leaf="quadratic", random_state=0)
    for first in range(0, 80, 8):
        weight = rng.choice([1e-12, 1.0, 1e9, 1e12], size=8)
        model.partial_fit(X[first : first + 8], y[first : first + 8], sample_weight=weight)
        assert np.allclose(restored(model).predict_proba(X).sum(axis=1), 1.0, atol=1e-9)


@pytest.mark.parametrize("leaf", ["linear", "constant"])
def test_a_reference_prior_and_a_pool_of_one(leaf):
    """A root without support has an infinite evidence, and no sibling to prune."""
    rng = np.random.default_rng(2)
    model = DynamicTreeRegressor(leaf=leaf, prior="reference", max_active=1, min_leaf=1, n_particles=20, random_state=0)
    for _ in range(40):
        model.partial_fit(rng.normal(size=(1, 2)), rng.normal(size=1))
        assert np.isfinite(model.predict([[0.0, 0.0]])).all()
    restored(model)


def test_more_labels_than_a_model_can_tell_apart_are_refused():
    model = DynamicTreeClassifier(n_particles=5, max_active=10, random_state=0).fit([[0.0], [1.0]], ["a", "b"])
    before = to_bytes(model)
    X = np.zeros((100_000, 1))
    with pytest.raises(errors.InputError, match="can tell 1000 apart"):
        model.partial_fit(X, [str(label) for label in range(100_000)])
    assert to_bytes(model) == before
    with pytest.raises(errors.InputError, match="100000 classes"):
        DynamicTreeClassifier().fit(X, np.arange(100_000))

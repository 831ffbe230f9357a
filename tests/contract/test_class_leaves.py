"""The leaves of a classifier that model the inputs of each class."""

from __future__ import annotations

import numpy as np
import pytest

from sapwood import DynamicTreeClassifier, load

LEAVES = ["multinomial", "discriminant", "quadratic"]


def oblique(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two classes on either side of a diagonal, one label in twenty wrong."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = (X.sum(axis=1) > 0) ^ (rng.random(n) < 0.05)
    return X, np.where(y, "above", "below")


def fitted(leaf: str) -> DynamicTreeClassifier:
    return DynamicTreeClassifier(leaf=leaf, n_particles=30, max_active=100, random_state=0).fit(*oblique(400, 1))


def test_gaussian_classes_follow_a_boundary_at_an_angle():
    """Fails if leaves ignore the inputs: splits alone approximate the diagonal by steps."""
    X, y = oblique(400, 2)
    log_loss = {}
    for leaf in LEAVES:
        model = fitted(leaf)
        own = model.predict_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)]
        log_loss[leaf] = -np.log(own).mean()
    assert log_loss["discriminant"] < 0.8 * log_loss["multinomial"]
    assert log_loss["quadratic"] < 0.8 * log_loss["multinomial"]


@pytest.mark.parametrize("leaf", LEAVES)
def test_late_classes_missing_inputs_and_files(leaf, tmp_path):
    model = fitted(leaf)
    X, y = oblique(60, 3)
    X[::7, 0] = np.nan
    y[50:] = "other"
    model.partial_fit(X, y)
    assert model.classes_.tolist() == ["above", "below", "other"]
    proba = model.predict_proba(X)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-12)
    model.save(tmp_path / "model")
    assert np.array_equal(load(tmp_path / "model").predict_proba(X), proba)

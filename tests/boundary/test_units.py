"""The units of a stream do not matter: affine maps of y and of the columns of x."""

from __future__ import annotations

import numpy as np
import pytest

from sapwood import DynamicTreeClassifier, DynamicTreeRegressor

MAPS = {"fahrenheit": (32.0, 1.8), "micro": (0.0, 1e-6), "kilo, shifted": (-1e4, 1e3), "exact": (0.0, 2.0**20)}
MODELS = {
    "linear bank": {},
    "constant": {"leaf": "constant", "max_active": 60},
    "alc": {"max_active": 60, "forgetting": 1.0},
    "everything": {"max_active": None},
    "conditional": {"max_active": 60, "evidence": "conditional"},
}


def _stream() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(250, 3))
    return X, np.abs(X[:, 0] - 0.5) + X[:, 1] + rng.normal(scale=0.05, size=250)


def _fit(params: dict[str, object], X: np.ndarray, y: np.ndarray) -> DynamicTreeRegressor:
    return DynamicTreeRegressor(n_particles=50, random_state=0, **params).fit(X, y)


def _close(given: np.ndarray, expected: np.ndarray, unit: float) -> None:
    # 1e-6 of the spread of y: what the default prior promises; rounding of shifted data alone gives about 1e-9.
    np.testing.assert_allclose(given, expected, rtol=0, atol=1e-6 * unit)


@pytest.mark.parametrize("change", MAPS)
@pytest.mark.parametrize("name", MODELS)
def test_units_of_y(name, change):
    """Would catch a prior with a scale of its own, such as the reference prior, whose evidence has units."""
    X, y = _stream()
    shift, scale = MAPS[change]
    plain, mapped = _fit(MODELS[name], X, y), _fit(MODELS[name], X, shift + scale * y)
    unit = scale * np.std(y)
    _close(mapped.predict(X), shift + scale * plain.predict(X), unit)
    _close(mapped.predict_dist(X).ppf([0.05, 0.95]), shift + scale * plain.predict_dist(X).ppf([0.05, 0.95]), unit)
    # Densities have a unit from the third row on: it takes two different targets to have one.
    gained = mapped.log_evidence_trace_[2:] - plain.log_evidence_trace_[2:]
    np.testing.assert_allclose(gained, -np.log(scale), rtol=0, atol=1e-6)


@pytest.mark.parametrize("change", MAPS)
@pytest.mark.parametrize("name", MODELS)
def test_units_of_x(name, change):
    X, y = _stream()
    shift, scale = MAPS[change]
    Z = X.copy()
    Z[:, 1] = shift + scale * Z[:, 1]
    plain, mapped = _fit(MODELS[name], X, y), _fit(MODELS[name], Z, y)
    _close(mapped.predict(Z), plain.predict(X), np.std(y))
    _close(mapped.predict_dist(Z).ppf([0.05, 0.95]), plain.predict_dist(X).ppf([0.05, 0.95]), np.std(y))


@pytest.mark.parametrize("change", MAPS)
@pytest.mark.parametrize("discard", ["oldest", "entropy"])
def test_units_of_x_in_classification(change, discard):
    X, y = _stream()
    shift, scale = MAPS[change]
    models = [
        DynamicTreeClassifier(n_particles=50, max_active=60, discard=discard, random_state=0).fit(Z, y > np.median(y))
        for Z in (X, shift + scale * X)
    ]
    np.testing.assert_array_equal(models[1].predict(shift + scale * X), models[0].predict(X))
    np.testing.assert_allclose(models[1].predict_proba(shift + scale * X), models[0].predict_proba(X), rtol=1e-6)

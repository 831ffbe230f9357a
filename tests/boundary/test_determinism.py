"""The same seed and data give the same bytes, whatever the threads, the batches, or the pauses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from sapwood import DynamicTreeClassifier, DynamicTreeRegressor, load
from sapwood._files import to_bytes

N_ROWS = 150


def _make(kind: str, **params: Any) -> Any:
    return {
        "bank": lambda: DynamicTreeRegressor(n_particles=40, random_state=5, **params),
        "alc": lambda: DynamicTreeRegressor(n_particles=40, max_active=40, forgetting=1.0, random_state=5, **params),
        "random": lambda: DynamicTreeRegressor(
            leaf="constant", n_particles=40, max_active=40, discard="random", random_state=5, **params
        ),
        "everything": lambda: DynamicTreeRegressor(n_particles=40, max_active=None, random_state=5, **params),
        "lags": lambda: DynamicTreeRegressor(n_particles=40, max_active=[20, 50], lags=2, random_state=5, **params),
        "classes": lambda: DynamicTreeClassifier(n_particles=40, random_state=5, **params),
        "entropy": lambda: DynamicTreeClassifier(
            n_particles=40, max_active=40, discard="entropy", copies=2, random_state=5, **params
        ),
    }[kind]()


KINDS = ["bank", "alc", "random", "everything", "lags", "classes", "entropy"]


def _data(kind: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(17)
    X = rng.uniform(size=(N_ROWS, 3))
    X[rng.uniform(size=X.shape) < 0.05] = np.nan
    y = np.nan_to_num(X[:, 0]) + rng.normal(scale=0.1, size=N_ROWS)
    return X, (y > 0.5).astype(int) if kind in ("classes", "entropy") else y


def _batches(sizes: list[int]) -> Iterator[slice]:
    first = 0
    for size in sizes:
        yield slice(first, first + size)
        first += size


@pytest.fixture(scope="module")
def reference() -> dict[str, bytes]:
    return {kind: to_bytes(_make(kind).partial_fit(*_data(kind))) for kind in KINDS}


@pytest.mark.parametrize("n_jobs", [1, 2, 7])
@pytest.mark.parametrize("kind", KINDS)
def test_threads(kind, n_jobs, reference):
    model = _make(kind, n_jobs=n_jobs).partial_fit(*_data(kind))
    assert to_bytes(model) == reference[kind]
    X = _data(kind)[0]
    np.testing.assert_array_equal(model.predict(X), _make(kind).partial_fit(*_data(kind)).predict(X))


@pytest.mark.parametrize("sizes", [[1] * N_ROWS, [149, 1], [2, 0, 64, 65, 19]], ids=["rows", "all but one", "odd"])
@pytest.mark.parametrize("kind", KINDS)
def test_batches(kind, sizes, reference):
    X, y = _data(kind)
    model = _make(kind)
    for rows in _batches(sizes):
        model.partial_fit(X[rows], y[rows])
    assert to_bytes(model) == reference[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_saved_and_loaded_at_every_step(kind, reference, tmp_path):
    """Would catch a file that forgets the position of the random numbers or a cached quantity that matters."""
    X, y = _data(kind)
    model = _make(kind).partial_fit(X[:1], y[:1])
    for row in range(1, N_ROWS):
        model.save(tmp_path / "model")
        model = load(tmp_path / "model").partial_fit(X[row : row + 1], y[row : row + 1])
    assert to_bytes(model) == reference[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_looking_changes_nothing(kind, reference):
    """Would catch a prediction or an inspection that draws from the model's own random numbers."""
    X, y = _data(kind)
    model = _make(kind)
    for rows in _batches([100, 50]):
        model.partial_fit(X[rows], y[rows])
        model.predict_dist(X).sample(3, random_state=0)
        assert len(model.active_) > 0
        assert len(model.tree_stats().height) > 0
        assert len(model.forgetting_.values) > 0
    assert to_bytes(model) == reference[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_another_seed_is_another_model(kind, reference):
    model = _make(kind).set_params(random_state=6).partial_fit(*_data(kind))
    X = _data(kind)[0]
    assert not np.array_equal(
        model.predict_dist(X).sample(2, 0), _make(kind).fit(*_data(kind)).predict_dist(X).sample(2, 0)
    )


def test_copies_of_a_cloud_differ():
    """Would catch replicas that share one stream of random numbers and so add nothing."""
    X, y = _data("alc")
    model = _make("alc", copies=2).fit(X, y)
    stats = model.tree_stats()
    first, second = (np.sort(stats.n_leaves[stats.member == member]) for member in (0, 1))
    assert not np.array_equal(first, second)

"""The default banks, saved and restored after every row: whatever the next row depends on is in the file."""

from __future__ import annotations

import numpy as np
import pytest

from sapwood import DynamicTreeClassifier, DynamicTreeRegressor
from sapwood._files import from_bytes, to_bytes

N_ROWS = 110  # the smallest pools are full for most of them


def _untidy(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Inputs with missing values, and weights of which some are 0."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(N_ROWS, 3))
    X[rng.uniform(size=X.shape) < 0.1] = np.nan
    weight = rng.uniform(0.3, 2.0, size=N_ROWS)
    weight[rng.uniform(size=N_ROWS) < 0.1] = 0.0
    return X, weight


def _restored(model):
    tasks = {"regression": DynamicTreeRegressor, "classification": DynamicTreeClassifier}
    return from_bytes(to_bytes(model), tasks)


def _learned_with_and_without_files(model, X, y, weight):
    """The model after all rows, and the same restored from its file after every row but the last."""
    straight = model.partial_fit(X[:1], y[:1], sample_weight=weight[:1])
    restored = _restored(straight)
    for row in range(1, len(y)):
        own = slice(row, row + 1)
        straight.partial_fit(X[own], y[own], sample_weight=weight[own])
        restored.partial_fit(X[own], y[own], sample_weight=weight[own])
        assert to_bytes(restored) == to_bytes(straight), f"row {row}"
        restored = _restored(restored)
    return straight, restored


@pytest.mark.parametrize("lags", [0, 2])
def test_numbers(lags):
    X, weight = _untidy(1)
    y = np.nan_to_num(X[:, 0]) + 0.1 * np.sin(np.arange(N_ROWS))
    straight, restored = _learned_with_and_without_files(DynamicTreeRegressor(lags=lags, random_state=3), X, y, weight)
    np.testing.assert_array_equal(restored.predict(X), straight.predict(X))


@pytest.mark.parametrize("lags", [0, 2])
def test_classes_of_which_some_come_late(lags):
    X, weight = _untidy(2)
    weight[0] = 1.0
    known = np.minimum(2 + np.arange(N_ROWS) // 40, 4)
    y = np.array(["oak", "ash", "elm", "yew"])[np.random.default_rng(4).integers(0, known)]
    straight, restored = _learned_with_and_without_files(DynamicTreeClassifier(lags=lags, random_state=3), X, y, weight)
    assert set(restored.classes_) == {"oak", "ash", "elm", "yew"}
    np.testing.assert_array_equal(restored.predict_proba(X), straight.predict_proba(X))

"""Sample weights."""

from __future__ import annotations

import numpy as np
import pytest

from sapwood import DynamicTreeRegressor
from sapwood._files import to_bytes


def test_weight_zero_is_absence(regression_data):
    """Fails if a row of weight 0 still advances the random numbers or enters a pool."""
    X, y = regression_data
    weight = (np.arange(len(y)) % 3 > 0).astype(float)
    weighted = DynamicTreeRegressor(n_particles=30, max_active=40, random_state=1).fit(X, y, sample_weight=weight)
    absent = DynamicTreeRegressor(n_particles=30, max_active=40, random_state=1).fit(X[weight > 0], y[weight > 0])
    assert to_bytes(weighted) == to_bytes(absent)
    assert weighted.n_seen_ == int(weight.sum())


@pytest.mark.parametrize("weight", [1.0, np.ones(120), [1] * 120])
def test_weight_one_is_no_weight(regression_data, weight):
    X, y = regression_data
    plain = DynamicTreeRegressor(n_particles=30, max_active=40, random_state=1).fit(X, y)
    weighted = DynamicTreeRegressor(n_particles=30, max_active=40, random_state=1).fit(X, y, sample_weight=weight)
    assert to_bytes(weighted) == to_bytes(plain)


def test_heavier_rows_pull_harder():
    """Would catch weights that are accepted and ignored: half the rows say 0, half say 1."""
    X, y = np.zeros((200, 1)), np.arange(200) % 2.0
    model = DynamicTreeRegressor(leaf="constant", max_active=None, n_particles=20, random_state=0)
    mean = model.fit(X, y, sample_weight=np.where(y == 1, 3.0, 1.0)).predict([[0.0]])
    # 3/4 is the weighted mean; the prior, centred on the data, moves it by less than one row in two hundred.
    assert mean[0] == pytest.approx(0.75, abs=0.05)


def test_weights_of_zero_after_the_start_change_nothing(regressor, regression_data, unchanged):
    X, y = regression_data
    with unchanged(regressor):
        regressor.partial_fit(X, y, sample_weight=np.zeros(len(y)))

"""Looking into a model, and retiring observations by hand."""

from __future__ import annotations

import numpy as np
import pytest

from sapwood import DynamicTreeRegressor, InputError
from sapwood._files import to_bytes


def test_the_pool_is_the_last_rows_when_the_oldest_retire(regressor, regression_data):
    X, y = regression_data
    pool = regressor.active_
    assert len(pool) == 60
    np.testing.assert_array_equal(pool.X, X[-60:])
    np.testing.assert_array_equal(pool.y, y[-60:])
    np.testing.assert_array_equal(pool.age, np.arange(60)[::-1])
    np.testing.assert_array_equal(pool.weight, 1.0)
    np.testing.assert_array_equal(pool.held.sum(axis=0), [20, 60])
    assert pool.held[-20:].all()
    assert np.isnan(pool.score).all()


def test_the_pool_of_lagged_clouds_shows_the_users_columns(regression_data):
    X, y = regression_data
    model = DynamicTreeRegressor(n_particles=10, max_active=[15], lags=2, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.active_.X, X[-15:])


def test_scores_where_discarding_is_active(regression_data):
    X, y = regression_data
    model = DynamicTreeRegressor(n_particles=20, max_active=[30, 50], forgetting=1.0, random_state=0).fit(X, y)
    pool = model.active_
    np.testing.assert_array_equal(np.isfinite(pool.score), pool.held)
    np.testing.assert_array_equal(pool.held.sum(axis=0), [30, 50])


@pytest.mark.parametrize("ix", [[0, 1, 59], np.array([59, 0, 1, 1]), np.isin(np.arange(60), [0, 1, 59])])
def test_retire(ix, regressor):
    before = regressor.active_
    after = regressor.retire(ix).active_
    np.testing.assert_array_equal(after.age, np.delete(before.age, [0, 1, 59]))
    np.testing.assert_array_equal(after.held.sum(axis=0), [19, 57])
    assert regressor.n_seen_ == 120


def test_retire_nothing_and_everything(regressor, unchanged):
    with unchanged(regressor):
        regressor.retire([])
    assert len(regressor.retire(np.ones(60, dtype=bool)).active_) == 0
    assert np.all(np.isfinite(regressor.predict(np.zeros((2, 3)))))


@pytest.mark.parametrize("ix", [[60], [-1], 0.5, ["first"], [True, False], [[0, 1]]])
def test_retire_what_is_not_there(ix, regressor, unchanged):
    with unchanged(regressor), pytest.raises(InputError, match="0 to 59"):
        regressor.retire(ix)


def test_retirement_without_forgetting_leaves_predictions_alone(regression_data):
    """The paper's claim for lambda = 1: what a point taught stays when the point goes."""
    X, y = regression_data
    model = DynamicTreeRegressor(n_particles=20, max_active=None, forgetting=1.0, random_state=0).fit(X, y)
    before = model.predict(X)
    np.testing.assert_allclose(model.retire(np.arange(40)).predict(X), before, rtol=1e-6)  # rounding of moved moments


def test_rejuvenate(regressor, regression_data):
    X, _ = regression_data
    before = to_bytes(regressor)
    regressor.rejuvenate()
    assert to_bytes(regressor) != before
    assert regressor.n_seen_ == 120
    assert len(regressor.active_) == 60
    assert np.all(np.isfinite(regressor.predict(X)))


def test_forgetting_is_a_distribution(regressor):
    values, weights = regressor.forgetting_
    assert np.all(np.diff(values) > 0)
    assert values.min() >= 0
    assert values.max() <= 1
    assert weights.sum() == pytest.approx(1.0)


def test_fixed_forgetting_is_one_value(regression_data):
    model = DynamicTreeRegressor(n_particles=10, max_active=[20, 30], forgetting=0.9, random_state=0)
    posterior = model.fit(*regression_data).forgetting_
    assert posterior.values.tolist() == [0.9]
    assert posterior.weights.sum() == pytest.approx(1.0)


def test_tree_stats_have_an_entry_a_particle(regressor):
    stats = regressor.tree_stats()
    np.testing.assert_array_equal(np.bincount(stats.member), [40, 40])
    for each in (stats.height, stats.n_leaves, stats.active_per_leaf, stats.retired_per_leaf, stats.forgetting):
        assert each.shape == (80,)
    assert np.all(stats.n_leaves >= 1 + stats.height)
    assert np.all((stats.n_distinct >= 1) & (stats.n_distinct <= 40))
    np.testing.assert_allclose(stats.active_per_leaf * stats.n_leaves, np.repeat([20, 60], 40))


def test_evidence_is_the_sum_of_its_trace(regressor, regression_data):
    X, y = regression_data
    assert len(regressor.log_evidence_trace_) == 120
    assert regressor.log_evidence_ == pytest.approx(regressor.log_evidence_trace_.sum(), rel=1e-12)  # rounding
    ahead = regressor.predict_dist(X[:1]).logpdf(y[:1])[0]
    before = regressor.log_evidence_
    regressor.partial_fit(X[:1], y[:1])
    assert regressor.log_evidence_ - before == pytest.approx(ahead, rel=1e-9)  # a difference of two large sums

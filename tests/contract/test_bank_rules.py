"""What "auto" means: each rule by itself, and the bank they make together."""

from __future__ import annotations

import numpy as np
import pytest

from sapwood import ConfigError, DynamicTreeClassifier, DynamicTreeRegressor, _bank


@pytest.mark.parametrize(
    ("n_classes", "largest"),
    [(2, 200), (4, 200), (5, 250), (24, 1200)],
)
def test_classification_pools_hold_fifty_points_a_class(n_classes, largest):
    pools = _bank.pool_sizes("auto", "classification", n_classes)
    assert len(pools) == 5
    assert pools[-1] == largest
    assert pools == sorted(pools)


@pytest.mark.parametrize(
    ("max_active", "pools"),
    [("auto", [25, 50, 100, 200]), (300, [300]), (None, [None]), ([10, None], [10, None]), (np.array([5, 6]), [5, 6])],
)
def test_pool_sizes(max_active, pools):
    assert _bank.pool_sizes(max_active, "regression", 0) == pools


@pytest.mark.parametrize(
    ("forgetting", "task", "rule"),
    [
        (None, "regression", "oldest"),
        (0.9, "classification", "oldest"),
        (1.0, "regression", "alc"),
        (1.0, "classification", "entropy"),
    ],
)
def test_discard_is_active_only_where_nothing_drifts(forgetting, task, rule):
    assert _bank.discard_rule("auto", forgetting, task) == rule


@pytest.mark.parametrize(
    ("lags", "is_bank", "counts"),
    [(0, True, [0]), (0, False, [0]), (2, True, [0, 2]), (2, False, [2]), ("auto", True, [0, 1]), ("auto", False, [1])],
)
def test_lags(lags, is_bank, counts):
    assert _bank.lag_counts(lags, is_bank=is_bank) == counts


@pytest.mark.parametrize(
    ("params", "n_members"),
    [
        ({}, 4),
        ({"copies": 3}, 12),
        ({"lags": 1}, 8),
        ({"max_active": 50}, 1),
        ({"max_active": 50, "lags": 1}, 1),
        ({"max_active": None}, 1),
        ({"max_active": [10, 20, 30]}, 3),
    ],
)
def test_size_of_the_regression_bank(params, n_members):
    model = DynamicTreeRegressor(random_state=0, **params).fit([[0.0], [1.0]], [0.0, 1.0])
    assert len(model.bank_weights_) == n_members
    assert model.bank_weights_.sum() == pytest.approx(1.0)


def test_size_of_the_classification_bank():
    assert len(DynamicTreeClassifier(random_state=0).fit([[0.0], [1.0]], [0, 1]).bank_weights_) == 5


@pytest.mark.parametrize(
    ("params", "n_particles"),
    [({}, 250), ({"max_active": 50}, 1000), ({"max_active": None}, 1000), ({"n_particles": 30}, 30)],
)
def test_particles_of_a_cloud(params, n_particles):
    stats = DynamicTreeRegressor(random_state=0, **params).fit([[0.0], [1.0]], [0.0, 1.0]).tree_stats()
    assert np.all(np.bincount(stats.member) == n_particles)


@pytest.mark.parametrize(
    ("estimator", "params"),
    [
        (DynamicTreeRegressor, {"leaf": "multinomial"}),
        (DynamicTreeClassifier, {"leaf": "linear"}),
        (DynamicTreeRegressor, {"discard": "entropy"}),
        (DynamicTreeClassifier, {"discard": "alc"}),
        (DynamicTreeRegressor, {"leaf": None}),
        (DynamicTreeRegressor, {"prior": "flat"}),
        (DynamicTreeRegressor, {"evidence": 3}),
        (DynamicTreeRegressor, {"division": "half"}),
        (DynamicTreeRegressor, {"n_particles": 0}),
        (DynamicTreeRegressor, {"n_particles": 2.5}),
        (DynamicTreeRegressor, {"n_particles": True}),
        (DynamicTreeRegressor, {"max_active": 0}),
        (DynamicTreeRegressor, {"max_active": []}),
        (DynamicTreeRegressor, {"max_active": [10, -1]}),
        (DynamicTreeRegressor, {"max_active": "many"}),
        (DynamicTreeRegressor, {"forgetting": 1.5}),
        (DynamicTreeRegressor, {"forgetting": -0.1}),
        (DynamicTreeRegressor, {"forgetting": float("nan")}),
        (DynamicTreeRegressor, {"forgetting": "slow"}),
        (DynamicTreeRegressor, {"split_alpha": 1.5}),
        (DynamicTreeRegressor, {"split_alpha": float("nan")}),
        (DynamicTreeRegressor, {"split_beta": -1.0}),
        (DynamicTreeRegressor, {"min_leaf": 0}),
        (DynamicTreeRegressor, {"n_candidates": 0}),
        (DynamicTreeClassifier, {"dirichlet": 0.0}),
        (DynamicTreeClassifier, {"dirichlet": "some"}),
        (DynamicTreeRegressor, {"copies": 0}),
        (DynamicTreeRegressor, {"lags": -1}),
        (DynamicTreeRegressor, {"random_state": -1}),
        (DynamicTreeRegressor, {"random_state": 2**64}),
        (DynamicTreeRegressor, {"random_state": "seed"}),
        (DynamicTreeRegressor, {"n_jobs": 0}),
        (DynamicTreeRegressor, {"n_jobs": 1.5}),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else value.__name__,
)
def test_parameters_outside_what_is_allowed(estimator, params):
    """The message names the parameter, and nothing has started."""
    model = estimator(**params)
    with pytest.raises(ConfigError, match=next(iter(params))):
        model.fit([[0.0], [1.0]], [0, 1])
    assert not hasattr(model, "n_seen_")


@pytest.mark.parametrize("n_jobs", [None, 1, 3, -1, -2, -1000])
def test_n_jobs_of_every_kind(n_jobs):
    DynamicTreeRegressor(n_particles=5, random_state=0, n_jobs=n_jobs).fit([[0.0], [1.0]], [0.0, 1.0])

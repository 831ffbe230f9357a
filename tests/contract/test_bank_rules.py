"""What "auto" means: each rule separately, and the resulting bank."""

from __future__ import annotations

import numpy as np
import pytest

from sapwood import ConfigError, DynamicTreeClassifier, DynamicTreeRegressor, _bank, _recommended
from sapwood._fitted import native


@pytest.mark.parametrize(("n_classes", "grown"), [(2, 500), (10, 500), (11, 550), (24, 1200), (1000, 10_000)])
def test_a_pool_of_500_grows_to_hold_fifty_points_a_class(n_classes, grown):
    pools = {c.pool for c in _recommended.classification(4, n_classes, lagged=False) if c.leaf == "discriminant"}
    assert max(pools) == grown
    assert max(cloud.pool for cloud in _recommended.classification(11, n_classes, lagged=False)) == min(
        6 * grown, 10_000
    )


def test_no_pool_outgrows_ten_thousand():
    pools = [cloud.pool for cloud in _recommended.classification(4, 5000, lagged=True)]
    assert max(pools) == 10_000


@pytest.mark.parametrize(
    ("n_inputs", "n_classes", "one", "each"),
    [(2, 2, 20, 20), (4, 2, 15, 10), (5, 2, 12, 8), (10, 2, 10, 5), (2, 24, 10, 5)],
)
def test_gaussian_classes_have_as_many_particles_as_can_be_afforded(n_inputs, n_classes, one, each):
    clouds = _recommended.classification(n_inputs, n_classes, lagged=True)
    particles = {leaf: [20 * c.particles for c in clouds if c.leaf == leaf] for leaf in ("discriminant", "quadratic")}
    assert particles == {"discriminant": [one, one, one / 2], "quadratic": [each, each]}


def test_members_without_trees():
    assert _bank.trivial_members("regression", 0) == ("last_value", "least_squares")
    assert _bank.trivial_members("classification", 2) == ()
    assert _bank.trivial_members("classification", 3) == ("last_label",)


def test_full_covariances_are_for_few_columns():
    """Fault: a covariance per class with 57 columns, which is a thousand times as expensive as class counts."""
    leaves = {p: {cloud.leaf for cloud in _recommended.classification(p, 2, lagged=True)} for p in (10, 11, 20, 21)}
    assert leaves[10] == {"multinomial", "discriminant", "quadratic"}
    assert leaves[11] == leaves[20] == {"multinomial"}
    assert leaves[21] == {"multinomial", "discriminant"}


def members(**params):
    """The members of a regression bank as (leaf, pool, lags, particles), or their kind."""
    model = DynamicTreeRegressor(random_state=0, **params).fit([[0.0], [1.0]], [0.0, 1.0])
    configs = [native(model).member_config(ix) for ix in range(native(model).n_members)]
    return [(c.leaf, c.max_active, c.lags, c.n_particles) if c.kind == "cloud" else c.kind for c in configs]


def test_one_leaf_at_every_pool_size():
    sizes = [25, 50, 200, 1000, 3000]
    assert members(leaf="constant") == [("constant", size, 0, 30) for size in sizes]
    assert members(leaf="constant", lags=2) == [("constant", size, lags, 30) for lags in (0, 2) for size in sizes]


def test_members_that_see_the_last_target_come_with_the_lags():
    plain, lagged = members(), members(lags="auto")
    lines = [member for member in plain if member[0] == "linear"]
    assert lagged[: len(lines)] == lines
    assert {lags for _, _, lags, _ in plain} == {0}
    assert {lags for _, _, lags, _ in lagged[len(lines) : -3]} == {1}
    assert lagged[-3:-1] == ["last_value", "least_squares"]
    # The constant leaves all see the last target, but for one cloud that forecasts any row only.
    assert lagged[-1] == plain[-1] == ("constant", 3000, 0, 30)


def test_a_steady_cloud_leaves_what_the_user_decided():
    settings = {
        "leaf": "auto", "n_particles": None, "lags": 0, "copies": 1, "max_active": "auto", "discard": "auto",
        "forgetting": "auto", "prior": "default", "evidence": "joint", "split_alpha": 0.95, "split_beta": 2.0,
        "min_leaf": None, "n_candidates": None,
    }  # fmt: skip
    own = _bank.stationary(_bank.Settings(**settings), 40)
    assert own == {"split_beta": 1.0, "forgetting": 1.0, "n_candidates": 10, "dirichlet": 1.0}
    decided = _bank.Settings(**settings | {"forgetting": 0.9, "n_candidates": 3, "dirichlet": 0.2})
    assert _bank.stationary(decided, 40) == {"split_beta": 1.0}


@pytest.mark.parametrize(
    ("max_active", "pools"),
    [(300, [300]), (None, [None]), ([10, None], [10, None]), (np.array([5, 6]), [5, 6])],
)
def test_pool_sizes(max_active, pools):
    assert _bank.pool_sizes(max_active) == pools


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


@pytest.mark.parametrize(("lags", "count"), [(0, 0), (2, 2), ("auto", 1)])
def test_lags(lags, count):
    assert _bank.lag_count(lags) == count


@pytest.mark.parametrize(
    ("params", "n_members"),
    [
        ({}, 6),
        ({"copies": 3}, 18),
        ({"lags": 1}, 11),
        ({"max_active": 50}, 1),
        ({"max_active": 50, "lags": 1}, 2),
        ({"max_active": None}, 1),
        ({"max_active": [10, 20, 30]}, 3),
        ({"max_active": [10, 20, 30], "lags": 1}, 6),
    ],
)
def test_size_of_the_regression_bank(params, n_members):
    model = DynamicTreeRegressor(random_state=0, **params).fit([[0.0], [1.0]], [0.0, 1.0])
    assert len(model.bank_weights_) == n_members
    assert model.bank_weights_.sum() == pytest.approx(1.0)


def test_size_of_the_classification_bank():
    assert len(DynamicTreeClassifier(random_state=0).fit([[0.0], [1.0]], [0, 1]).bank_weights_) == 9


@pytest.mark.parametrize(
    ("params", "n_particles"),
    [({"leaf": "constant"}, 30), ({"max_active": 50}, 1000), ({"max_active": None}, 1000), ({"n_particles": 30}, 30)],
)
def test_particles_of_a_cloud(params, n_particles):
    stats = DynamicTreeRegressor(random_state=0, **params).fit([[0.0], [1.0]], [0.0, 1.0]).tree_stats()
    assert np.all(np.bincount(stats.member) == n_particles)


def test_lines_in_small_pools_have_more_particles():
    stats = DynamicTreeRegressor(random_state=0).fit([[0.0], [1.0]], [0.0, 1.0]).tree_stats()
    assert np.bincount(stats.member).tolist() == [60, 60, 30, 30, 30, 30]


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
    """Any number of threads learns the same bank and gives the same predictions."""
    x = np.linspace(0.0, 1.0, 40)[:, None]
    y = np.sin(9.0 * x[:, 0])
    alone, model = (
        DynamicTreeRegressor(n_particles=5, max_active="auto", random_state=0, n_jobs=jobs).fit(x, y)
        for jobs in (1, n_jobs)
    )
    np.testing.assert_array_equal(model.predict(x), alone.predict(x))
    np.testing.assert_array_equal(model.predict_dist(x).interval(0.9), alone.predict_dist(x).interval(0.9))
    assert model.n_seen_ == 40

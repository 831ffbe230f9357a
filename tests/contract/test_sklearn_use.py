"""The estimators used with scikit-learn's tools."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sapwood import DynamicTreeClassifier, DynamicTreeRegressor
from sapwood._files import to_bytes


def test_kinds():
    assert is_regressor(DynamicTreeRegressor())
    assert is_classifier(DynamicTreeClassifier())


def test_clone_forgets_the_data_and_keeps_the_parameters(regressor):
    fresh = clone(regressor)
    assert fresh.get_params() == regressor.get_params()
    with pytest.raises(NotFittedError):
        fresh.predict([[0.0, 0.0, 0.0]])


def test_pipeline(regression_data):
    X, y = regression_data
    X[::7, 0] = np.nan
    pipeline = make_pipeline(SimpleImputer(), StandardScaler(), DynamicTreeRegressor(random_state=0))
    assert pipeline.fit(X, y).score(X, y) > 0.5  # the noise leaves .99; .5 only says that something was learned


def test_transformed_target(regression_data):
    X, y = regression_data
    model = TransformedTargetRegressor(DynamicTreeRegressor(random_state=0), func=np.log1p, inverse_func=np.expm1)
    assert model.fit(X, y).score(X, y) > 0.5


def test_grid_search(class_data):
    X, y = class_data
    grid = {"max_active": [20, [10, 50], "auto"], "forgetting": ["auto", 1.0]}
    search = GridSearchCV(DynamicTreeClassifier(n_particles=20, random_state=0), grid, cv=TimeSeriesSplit(2))
    search.fit(X, y)
    assert search.best_score_ > 0.5  # three classes: guessing gives a third
    assert search.best_estimator_.classes_.tolist() == ["left", "middle", "right"]


def test_cross_validation_in_processes(regression_data):
    X, y = regression_data
    model = DynamicTreeRegressor(n_particles=20, random_state=0)
    in_one = cross_val_score(model, X, y, cv=3)
    assert np.array_equal(cross_val_score(model, X, y, cv=3, n_jobs=2), in_one)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
@pytest.mark.parametrize("name", ["regressor", "classifier"])
def test_copies_are_equal_and_independent(name, duplicate, request):
    """Would catch a copy that shares the native model, or that restarts its random numbers."""
    model = request.getfixturevalue(name)
    X, y = request.getfixturevalue("regression_data" if name == "regressor" else "class_data")
    twin, before = duplicate(model), to_bytes(model)
    assert to_bytes(twin) == before
    twin.partial_fit(X, y)
    assert to_bytes(model) == before
    assert to_bytes(model.partial_fit(X, y)) == to_bytes(twin)


def test_pickle_before_the_start():
    assert pickle.loads(pickle.dumps(DynamicTreeRegressor(max_active=7))).max_active == 7


def test_parameters_changed_after_the_start_wait_for_fit(regressor, regression_data):
    """Parameters are read when a model starts, so a running model cannot be broken by them."""
    X, y = regression_data
    regressor.set_params(max_active="nonsense").partial_fit(X, y)
    with pytest.raises(ValueError, match="max_active"):
        regressor.fit(X, y)
    assert regressor.n_seen_ == 2 * len(y)


def test_fit_starts_afresh(regressor, regression_data):
    X, y = regression_data
    once = to_bytes(clone(regressor).fit(X, y))
    assert to_bytes(regressor.fit(X, y)) == once


@pytest.mark.parametrize("method", ["predict", "predict_dist"])
def test_asking_too_early(method):
    for model in (DynamicTreeRegressor(), DynamicTreeClassifier()):
        with pytest.raises(NotFittedError):
            getattr(model, method)([[0.0]])
        for attribute in ("n_seen_", "log_evidence_", "active_", "forgetting_", "bank_weights_", "classes_"):
            assert not hasattr(model, attribute)


def test_predict_with_std(regressor, regression_data):
    X, _ = regression_data
    mean, std = regressor.predict(X, return_std=True)
    assert np.array_equal(mean, regressor.predict(X))
    assert np.array_equal(std, regressor.predict_dist(X).std())


def test_log_proba(classifier, class_data):
    X, _ = class_data
    assert np.array_equal(classifier.predict_log_proba(X), np.log(classifier.predict_proba(X)))


@pytest.mark.parametrize(
    "make",
    [
        lambda: 7,
        lambda: np.int64(7),
        lambda: np.random.default_rng(7),
        lambda: np.random.RandomState(7),
    ],
)
def test_random_state_of_every_kind_repeats(make, regression_data):
    X, y = regression_data
    models = [DynamicTreeRegressor(n_particles=20, max_active=30, random_state=make()).fit(X, y) for _ in range(2)]
    assert np.array_equal(models[0].predict(X), models[1].predict(X))


def test_no_random_state_follows_numpys_global_state(regression_data):
    X, y = regression_data
    predictions = []
    for seed in (1, 1, 2):
        np.random.seed(seed)  # noqa: NPY002
        predictions.append(DynamicTreeRegressor(n_particles=20, max_active=30).fit(X, y).predict(X))
    assert np.array_equal(predictions[0], predictions[1])
    assert not np.array_equal(predictions[0], predictions[2])

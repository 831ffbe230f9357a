"""Data that streams really bring. Each is a clear error that leaves the model as it was, or a sane result."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from sapwood import DynamicTreeClassifier, DynamicTreeRegressor, InputError
from sapwood._files import to_bytes


def sane(model: DynamicTreeRegressor, X: np.ndarray) -> bool:
    mean, std = model.predict(X, return_std=True)
    return bool(np.all(np.isfinite(mean)) and np.all(std > 0) and np.isfinite(model.log_evidence_))


# ---- refused, with the place named ----


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_y_not_finite(value, regressor, regression_data, unchanged):
    X, y = regression_data
    y[17] = value
    with unchanged(regressor), pytest.raises(InputError, match=f"row 17 of y is {value}"):
        regressor.partial_fit(X, y)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("estimator", ["regressor", "classifier"])
def test_x_infinite(value, estimator, request, unchanged):
    model = request.getfixturevalue(estimator)
    X, y = request.getfixturevalue("regression_data" if estimator == "regressor" else "class_data")
    X[5, 1] = value
    with unchanged(model), pytest.raises(InputError, match=r"row 5 of X .* column 1"):
        model.partial_fit(X, y)
    with unchanged(model), pytest.raises(InputError, match=r"row 5 of X .* column 1"):
        model.predict(X)


def test_nan_beside_infinity_does_not_hide_it(regressor, regression_data, unchanged):
    X, y = regression_data
    X[2, 0], X[5, 1] = np.nan, np.inf
    with unchanged(regressor), pytest.raises(InputError, match=r"row 5 of X .* column 1"):
        regressor.partial_fit(X, y)


def test_y_of_1e300(regressor, regression_data, unchanged):
    X, y = regression_data
    y[3] = 1e300
    with unchanged(regressor), pytest.raises(InputError, match=r"row 3 of y is 1e\+300.*Rescale"):
        regressor.partial_fit(X, y)


def test_x_of_1e300(regressor, regression_data, unchanged):
    X, y = regression_data
    X[3, 2] = -1e300
    with unchanged(regressor), pytest.raises(InputError, match=r"row 3 of X has -1e\+300 in column 2.*Rescale"):
        regressor.partial_fit(X, y)


@pytest.mark.parametrize("n_columns", [1, 2, 4])
def test_wrong_number_of_columns(n_columns, regressor, unchanged):
    X = np.zeros((2, n_columns))
    with unchanged(regressor), pytest.raises(InputError, match=f"row 0 of X has {n_columns} columns; .* with 3"):
        regressor.partial_fit(X, [0.0, 0.0])
    with pytest.raises(InputError, match=f"X has {n_columns} features, but DynamicTreeRegressor is expecting 3"):
        regressor.predict(X)


def test_ragged_rows(regressor, unchanged):
    with unchanged(regressor), pytest.raises(InputError, match="row 2 of X has 2 columns; row 0 has 3"):
        regressor.partial_fit([[1, 2, 3], [1, 2, 3], [1, 2]], [0, 0, 0])


@pytest.mark.parametrize(
    "X",
    [
        np.array([[1.0, 2.0, 3.0], [1.0, "red", 3.0]], dtype=object),
        [[1.0, 2.0, 3.0], [1.0, "red", 3.0]],
        np.array([[b"1", b"2", b"3"], [b"1", b"red", b"3"]]),
    ],
)
def test_text_in_x(X, regressor, unchanged):
    with (
        unchanged(regressor),
        pytest.raises(InputError, match=r"column [01] of X holds .*read from tables"),
    ):
        regressor.partial_fit(X, [0.0, 0.0])


def test_objects_that_are_no_numbers(regressor, unchanged):
    X = np.array([[1.0, {}, 3.0]], dtype=object)
    with unchanged(regressor), pytest.raises(TypeError):
        regressor.partial_fit(X, [0.0])


def test_complex_numbers(regressor, unchanged):
    with unchanged(regressor), pytest.raises(InputError, match=r"[Cc]omplex"):
        regressor.partial_fit(np.full((1, 3), 1j), [0.0])


def test_sparse_matrices(regressor, unchanged):
    with unchanged(regressor), pytest.raises(TypeError, match=r"[Ss]parse"):
        regressor.partial_fit(sparse.csr_array(np.eye(3)), [0.0, 0.0, 0.0])


def test_text_in_y(regressor, unchanged):
    with unchanged(regressor), pytest.raises(InputError, match="row 1 of y is 'high'"):
        regressor.partial_fit(np.zeros((2, 3)), np.array([1.0, "high"], dtype=object))


def test_rows_and_targets_that_do_not_match(regressor, classifier, unchanged):
    with unchanged(regressor), pytest.raises(InputError, match="X has 2 rows and y has 3"):
        regressor.partial_fit(np.zeros((2, 3)), [0.0, 0.0, 0.0])
    with unchanged(classifier), pytest.raises(InputError, match="X has 2 rows and y has 1"):
        classifier.partial_fit(np.zeros((2, 2)), ["left"])


def test_targets_of_two_columns(regressor, unchanged):
    with unchanged(regressor), pytest.raises(InputError, match="1d array"):
        regressor.partial_fit(np.zeros((2, 3)), np.zeros((2, 2)))


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_weights_that_are_none(weight, regressor, unchanged):
    with unchanged(regressor), pytest.raises(InputError, match=f"row 1 of sample_weight is {weight}"):
        regressor.partial_fit(np.zeros((2, 3)), [0.0, 0.0], sample_weight=[1.0, weight])


@pytest.mark.parametrize("weight", [np.ones(3), np.ones((2, 2)), ["heavy", "light"]])
def test_weights_of_another_shape(weight, regressor, unchanged):
    with unchanged(regressor), pytest.raises(InputError, match="sample_weight"):
        regressor.partial_fit(np.zeros((2, 3)), [0.0, 0.0], sample_weight=weight)


@pytest.mark.parametrize("X", [[1.0, 2.0, 3.0], 5.0, np.zeros((1, 1, 3)), None, "rows"])
def test_what_is_not_a_table(X, regressor, unchanged):
    with unchanged(regressor), pytest.raises((InputError, TypeError)):
        regressor.partial_fit(X, [0.0])


def test_an_empty_start():
    for model in (DynamicTreeRegressor(), DynamicTreeClassifier()):
        for start in (model.fit, model.partial_fit):
            with pytest.raises(InputError, match="no rows"):
                start(np.empty((0, 3)), [])
        assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize("bad", [{"y": np.nan}, {"weight": -1.0}, {"n_jobs": 0}])
def test_a_fit_that_fails_keeps_the_old_model(bad, regressor, regression_data, unchanged):
    """Would catch a fit that throws the old model away before it knows that the new one can start."""
    X, y = regression_data
    if "n_jobs" in bad:
        regressor.set_params(**bad)
    with unchanged(regressor), pytest.raises(ValueError, match=r"y|weight|n_jobs"):
        regressor.fit(X[:, :2], np.where(y > 1, bad.get("y", 0.0), 0.0), sample_weight=bad.get("weight"))
    assert regressor.n_features_in_ == 3


def test_a_refused_batch_adds_no_class(classifier, unchanged):
    with unchanged(classifier), pytest.raises(InputError):
        classifier.partial_fit([[0.0, 0.0]], ["new"], sample_weight=[-1.0])
    assert classifier.classes_.tolist() == ["left", "middle", "right"]


# ---- learned, with a sane result ----


def test_an_empty_batch_changes_nothing(regressor, classifier, unchanged):
    with unchanged(regressor):
        regressor.partial_fit(np.empty((0, 3)), np.empty(0))
        regressor.partial_fit(np.empty((0, 3)), [])
    with unchanged(classifier):
        classifier.partial_fit(np.empty((0, 2)), [])
    assert classifier.partial_fit(np.empty((0, 2)), [], classes=["above"]).classes_.tolist()[0] == "above"


def test_one_row():
    model = DynamicTreeRegressor(random_state=0).fit([[1.0, 2.0]], [3.0])
    assert model.n_seen_ == 1
    assert np.all(np.isfinite(model.predict([[1.0, 2.0], [5.0, 5.0]])))


def test_one_column(rng):
    X = rng.uniform(size=(200, 1))
    model = DynamicTreeRegressor(n_particles=50, random_state=0).fit(X, 3 * X[:, 0])
    assert model.score(X, 3 * X[:, 0]) > 0.9  # a noiseless line


def test_missing_inputs(rng):
    """NaN is a value like any other: the column that is missing where y is high tells as much as a number would."""
    X = rng.uniform(size=(400, 2))
    y = (X[:, 0] > 0.5).astype(float) + rng.normal(scale=0.1, size=400)
    X[X[:, 0] > 0.5, 0] = np.nan
    model = DynamicTreeRegressor(leaf="constant", n_particles=100, max_active=200, random_state=0).fit(X, y)
    assert sane(model, X)
    assert model.score(X, y) > 0.5  # signal .25 against noise .01


def test_nothing_but_missing_inputs():
    model = DynamicTreeRegressor(random_state=0).fit(np.full((50, 2), np.nan), np.arange(50.0))
    assert sane(model, np.full((2, 2), np.nan))
    assert sane(model, np.zeros((2, 2)))


def test_constant_column(rng):
    X = np.column_stack([np.full(200, 7.0), rng.uniform(size=200)])
    model = DynamicTreeRegressor(n_particles=50, random_state=0).fit(X, X[:, 1])
    assert sane(model, X)
    assert model.score(X, X[:, 1]) > 0.9  # a noiseless line


def test_constant_y(rng):
    X = rng.uniform(size=(200, 2))
    model = DynamicTreeRegressor(n_particles=50, random_state=0).fit(X, np.full(200, 5.0))
    np.testing.assert_allclose(model.predict(X), 5.0, rtol=1e-6)  # every leaf says 5; the rest is rounding
    assert np.all(np.isfinite(model.predict_dist(X).interval(0.9)))


def test_duplicate_rows():
    X, y = np.tile([[1.0, 2.0], [3.0, 4.0]], (100, 1)), np.tile([0.0, 1.0], 100)
    model = DynamicTreeRegressor(n_particles=50, random_state=0).fit(X, y)
    assert sane(model, X)
    np.testing.assert_allclose(model.predict([[1.0, 2.0], [3.0, 4.0]]), [0, 1], atol=0.2)  # both values, told apart


def test_200_columns(rng):
    X = rng.normal(size=(300, 200))
    y = X[:, 0]
    model = DynamicTreeRegressor(n_particles=10, max_active=100, random_state=0).fit(X, y)
    assert sane(model, X[:20])
    labels = DynamicTreeClassifier(n_particles=10, max_active=100, random_state=0).fit(X, y > 0)
    np.testing.assert_allclose(labels.predict_proba(X[:20]).sum(axis=1), 1.0, rtol=1e-12)  # rounding


def test_y_of_1e_minus_300(rng):
    X = rng.uniform(size=(100, 2))
    model = DynamicTreeRegressor(n_particles=20, random_state=0).fit(X, 1e-300 * X[:, 0])
    mean = model.predict(X)
    assert np.all(np.isfinite(mean))
    assert np.all(np.abs(mean) <= 1e-290)
    assert np.isfinite(model.log_evidence_)


@pytest.mark.parametrize("scale", [1e-90, 1e-9, 1e9, 1e90])
def test_huge_and_tiny_units(scale, rng):
    X = rng.uniform(size=(200, 2)) * scale
    y = X[:, 0] * 3
    model = DynamicTreeRegressor(n_particles=50, random_state=0).fit(X, y)
    assert sane(model, X)
    assert np.mean(np.abs(model.predict(X) - y)) < 0.3 * np.std(y)  # a noiseless line


def test_a_gross_outlier_mid_stream(regression_data):
    """All weights underflow at once. Would catch a division by their sum."""
    X, y = regression_data
    model = DynamicTreeRegressor(n_particles=50, max_active=[20, 60], random_state=0).fit(X, y)
    model.partial_fit(X[:1], [1e60])
    assert sane(model, X)
    for _ in range(3):
        model.partial_fit(X, y)
    assert sane(model, X)


def test_a_gross_outlier_in_x(regression_data):
    X, y = regression_data
    model = DynamicTreeRegressor(n_particles=50, max_active=[20, 60], random_state=0).fit(X, y)
    model.partial_fit([[1e60, 0.0, 0.0]], [0.0])
    for _ in range(3):
        model.partial_fit(X, y)
    assert sane(model, X)


def test_an_unseen_class(classifier, class_data):
    X, y = class_data
    classifier.partial_fit(X, np.where(y == "left", "far left", y))
    assert classifier.classes_.tolist() == ["far left", "left", "middle", "right"]
    proba = classifier.predict_proba(X)
    assert proba.shape == (120, 4)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-12)  # rounding
    assert np.mean(classifier.predict(X[y == "left"]) == "far left") > 0.5


def test_object_dtype_that_holds_numbers(regression_data):
    X, y = regression_data
    model = DynamicTreeRegressor(n_particles=20, random_state=0).fit(X.astype(object), y.astype(object))
    plain = DynamicTreeRegressor(n_particles=20, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))


def test_a_column_vector_warns_as_scikit_learn_does(regressor, regression_data):
    X, y = regression_data
    with pytest.warns(DataConversionWarning, match="column-vector"):
        regressor.partial_fit(X, y[:, np.newaxis])
    assert regressor.n_seen_ == 240


def test_a_refused_call_adds_no_class_and_learns_no_row() -> None:
    """A class is added at its first row. Fails if that happens before all rows have been checked."""
    model = DynamicTreeClassifier(n_particles=3, max_active=6, random_state=0).partial_fit([[0.0]], ["b"])
    before = to_bytes(model)
    for x in ([[1e101]], [[0.0], [np.inf]]):
        with pytest.raises(InputError, match=f"row {len(x) - 1} of X"):
            model.partial_fit(np.array(x), np.array(["b", "a"][-len(x) :]))
        assert model.classes_.tolist() == ["b"]
        assert to_bytes(model) == before

"""Behaviour common to both classifiers."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from sapwood.baselines import OLDAALR, QDAAF


@parametrize_with_checks([QDAAF(), OLDAALR()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(params=[QDAAF, OLDAALR])
def make(request):
    return request.param


@pytest.fixture
def rows():
    r = np.random.default_rng(71)
    y = r.integers(0, 3, 300)
    return r.standard_normal((300, 4)) + y[:, None], y


def test_prequential_is_predict_then_partial_fit(make, rows):
    x, y = rows
    stepwise, proba = make().partial_fit(x[:1], y[:1], classes=[0, 1, 2]), []
    for i in range(1, 300):
        proba.append(stepwise.predict_proba(x[i : i + 1])[0])
        stepwise.partial_fit(x[i : i + 1], y[i : i + 1])
    whole = make().forecast_then_learn(x, y)
    np.testing.assert_array_equal(np.array(proba), whole[1:])


def test_chunks_and_pickles_change_nothing(make, rows):
    x, y = rows
    whole = make().fit(x, y)
    parts = make().partial_fit(x[:100], y[:100])
    parts = pickle.loads(pickle.dumps(parts)).partial_fit(x[100:], y[100:])
    np.testing.assert_array_equal(whole.predict_proba(x), parts.predict_proba(x))


def test_labels_may_appear_late_and_in_any_order(make, rows):
    x, y = rows
    names = np.array(["pear", "apple", "fig"])[y]
    order = np.argsort(y, kind="stable")
    model = make()
    for row in order:
        model.partial_fit(x[row : row + 1], names[row : row + 1])
    declared = make()
    declared.partial_fit(x[order], names[order])
    assert model.classes_.tolist() == ["apple", "fig", "pear"]
    assert model.predict_proba(x).shape == (300, 3)
    np.testing.assert_allclose(model.predict_proba(x).sum(axis=1), 1.0)
    assert set(model.predict(x)) <= set(names)
    assert declared.classes_.tolist() == model.classes_.tolist()


def test_a_class_known_by_name_only_gets_a_little_probability(make, rows):
    x, y = rows
    proba = make().partial_fit(x[y < 2], y[y < 2], classes=[0, 1, 2]).predict_proba(x)
    assert (proba[:, 2] > 0).all()
    assert proba[:, 2].mean() < 0.1


def test_units_and_origin_of_the_inputs_do_not_matter(make, rows):
    x, y = rows
    moved = x * [1e-3, 1.0, 1e4, 7.0] + [5.0, -3.0, 1e5, 0.0]
    # The origin of the third column is 10 of its standard deviations away, which costs a digit or two of 16.
    np.testing.assert_allclose(make().forecast_then_learn(moved, y), make().forecast_then_learn(x, y), atol=1e-8)


def test_a_constant_column_does_not_matter(make, rows):
    x, y = rows
    model = make(step=0.0) if make is QDAAF else make()  # a class's factor starts to move at a row that depends on p
    padded = np.column_stack([x, np.full(300, 3.7)])
    expected = model.fit(x, y).predict_proba(x)
    np.testing.assert_allclose(model.fit(padded, y).predict_proba(padded), expected, atol=1e-10)


def test_a_column_that_freezes_keeps_forecasts_finite(make):
    r = np.random.default_rng(72)
    x = r.standard_normal((2000, 3))
    x[500:, 1] = 0.0
    y = (x[:, 0] > 0).astype(int)
    proba = make().forecast_then_learn(x, y)
    assert np.isfinite(proba).all()
    assert np.mean(proba.argmax(axis=1)[1000:] == y[1000:]) > 0.9


def test_wrong_width_is_refused(make, rows):
    x, y = rows
    with pytest.raises(ValueError, match=r"X has 3 features, but .* is expecting 4 features"):
        make().fit(x, y).partial_fit(x[:, :3], y)

"""Labels of every type, at any time."""

from __future__ import annotations

import numpy as np
import pytest

from sapwood import DynamicTreeClassifier, InputError, load
from sapwood._files import to_bytes


def small() -> DynamicTreeClassifier:
    return DynamicTreeClassifier(n_particles=20, max_active=60, random_state=0)


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["left", "middle", "right"]),
        np.array(["left", "middle", "right"], dtype=object),
        np.array([-3, 0, 12]),
        np.array([1.0, 2.0, 7.0]),
        np.array([1, 2, 7], dtype=np.uint8),
        np.array([False, True]),
    ],
    ids=lambda labels: str(labels.dtype),
)
def test_labels_of_every_type_come_back_as_they_went_in(labels, class_data, tmp_path):
    X, names = class_data
    y = labels[np.unique(names, return_inverse=True)[1] % len(labels)]
    model = small().fit(X, y)
    assert model.classes_.dtype == labels.dtype
    assert model.classes_.tolist() == labels.tolist()
    assert model.predict(X).dtype == labels.dtype
    assert model.score(X, y) > 0.7  # stripes with noise of .05: nine rows in ten are certain
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.classes_.dtype.kind == labels.dtype.kind
    assert np.array_equal(loaded.predict(X), model.predict(X))


def test_classes_stay_sorted_and_columns_follow_them(rng):
    """Fails if columns stay in the order of arrival: the classes arrive in descending order."""
    X = np.repeat([[2.0], [1.0], [0.0]], 40, axis=0) + rng.normal(scale=0.05, size=(120, 1))
    y = np.repeat(["c", "b", "a"], 40)
    model = small()
    for row in range(120):
        model.partial_fit(X[row : row + 1], y[row : row + 1])
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.predict([[0.0], [1.0], [2.0]]).tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(model.predict_proba([[0.0], [1.0], [2.0]]).argmax(axis=1), [0, 1, 2])
    distribution = model.predict_dist([[2.0]])
    assert distribution.logpmf("c")[0] == pytest.approx(np.log(distribution.proba()[0, 2]), rel=1e-12)  # rounding
    assert set(distribution.sample(50, random_state=0).ravel()) <= {"a", "b", "c"}
    assert model.active_.y.tolist() == y[-60:].tolist()


def test_longer_labels_and_wider_numbers_are_not_cut():
    model = small().partial_fit([[0.0]], np.array(["a"])).partial_fit([[1.0]], np.array(["abcdef"]))
    assert model.classes_.tolist() == ["a", "abcdef"]
    model = small().partial_fit([[0.0]], np.array([1], dtype=np.uint8)).partial_fit([[1.0]], np.array([-(2**40)]))
    assert model.classes_.tolist() == [-(2**40), 1]


def test_expected_classes_have_a_probability_before_they_arrive():
    model = small().partial_fit([[0.0]] * 5, [1] * 5, classes=[2, 1, 0])
    assert model.classes_.tolist() == [0, 1, 2]
    proba = model.predict_proba([[0.0]])[0]
    assert proba[0] == pytest.approx(proba[2], rel=1e-12)  # nothing tells 0 from 2: equal but for rounding
    assert 0 < proba[0] < proba[1]


def test_expected_classes_may_grow_later():
    model = small().partial_fit([[0.0]], [1], classes=[0, 1]).partial_fit([[0.0]], [5], classes=[0, 3])
    assert model.classes_.tolist() == [0, 1, 3, 5]


def test_one_class_is_enough(class_data):
    X, _ = class_data
    model = small().fit(X, ["only"] * len(X))
    assert set(model.predict(X)) == {"only"}
    np.testing.assert_allclose(model.predict_proba(X), 1.0, rtol=1e-12)  # a mean of ones over particles and clouds


@pytest.mark.parametrize(
    ("labels", "row", "why"),
    [
        (["left", None], 1, "needs a label"),
        (np.array([1.0, np.nan]), 1, "needs a label"),
        (np.array([1.0, np.inf]), 1, "needs a label"),
        (np.array(["left", 3], dtype=object), 1, "one type"),
        ([3, 4], 0, "one type"),
    ],
)
def test_labels_that_are_none_are_refused_and_named(labels, row, why, classifier, unchanged):
    with unchanged(classifier), pytest.raises(InputError, match=f"row {row} of y .*{why}"):
        classifier.partial_fit([[0.0, 0.0], [0.0, 0.0]], labels)


def test_measurements_are_not_labels(unchanged):
    model = small().partial_fit([[0.0]], [1])
    with unchanged(model), pytest.raises(InputError, match="continuous"):
        model.partial_fit([[0.0], [0.0]], [0.25, 0.5])


def test_a_label_never_met_has_no_probability(classifier):
    assert classifier.predict_dist([[0.1, 0.1]]).logpmf("elsewhere").tolist() == [-np.inf]


def test_a_class_joins_with_its_first_row(rng):
    """Fails if classes of a batch are known before they arrive, so that forecasts look ahead."""
    X, y = rng.uniform(size=(60, 1)), np.repeat([3, 1, 2], 20)
    whole = small().partial_fit(X, y)
    rows = small()
    for row in range(60):
        rows.partial_fit(X[row : row + 1], y[row : row + 1])
    assert to_bytes(whole) == to_bytes(rows)
    np.testing.assert_array_equal(whole.log_evidence_trace_[:20], 0.0)  # the only class there is, is certain

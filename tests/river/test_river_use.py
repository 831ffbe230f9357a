"""Typical use from river: dictionaries with changing keys, labels of any type, pipelines, evaluation."""

from __future__ import annotations

import copy
import inspect
import math
import pickle
import warnings
from collections.abc import Hashable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("river", reason="river is not installed (pip install 'sapwood[river]')")

import pandas as pd
from river import compose, datasets, evaluate, metrics, preprocessing

import sapwood
from sapwood import ConfigError, InputError
from sapwood._fitted import native
from sapwood.river import DynamicTreeClassifier, DynamicTreeRegressor

Row = tuple[dict[str, float], float]


def stream(rng: np.random.Generator, n_rows: int = 150) -> list[Row]:
    rows = []
    for a, b in rng.uniform(size=(n_rows, 2)).tolist():
        rows.append(({"a": a, "b": b}, abs(a - 0.5) + 2 * b + float(rng.normal(scale=0.05))))
    return rows


def regressor(**params: Any) -> DynamicTreeRegressor:
    return DynamicTreeRegressor(**{"n_particles": 40, "max_active": [20, 60], "seed": 0, **params})


def classifier(**params: Any) -> DynamicTreeClassifier:
    return DynamicTreeClassifier(**{"n_particles": 40, "max_active": [20, 60], "seed": 0, **params})


def learned(model: Any, rows: list[Any]) -> Any:
    for x, y in rows:
        model.learn_one(x, y)
    return model


# ---- it is the same model ----


def test_rows_one_by_one_and_the_estimator_agree_exactly(rng: np.random.Generator) -> None:
    rows = stream(rng)
    model = learned(regressor(), rows)
    X = np.array([[x["a"], x["b"]] for x, _ in rows])
    same = sapwood.DynamicTreeRegressor(n_particles=40, max_active=[20, 60], random_state=0)
    same.partial_fit(X, [y for _, y in rows])
    assert [model.predict_one(x) for x, _ in rows[:20]] == same.predict(X[:20]).tolist()
    assert model.estimator.log_evidence_ == same.log_evidence_


@pytest.mark.parametrize(
    ("adapter", "estimator"),
    [
        (DynamicTreeRegressor, sapwood.DynamicTreeRegressor),
        (DynamicTreeClassifier, sapwood.DynamicTreeClassifier),
    ],
)
def test_parameters_are_those_of_the_estimator(adapter: type, estimator: type) -> None:
    ours = {name: p.default for name, p in inspect.signature(adapter).parameters.items()}
    theirs = {name: p.default for name, p in inspect.signature(estimator).parameters.items()}
    assert ours.pop("new_features") == "grow"
    theirs["seed"] = theirs.pop("random_state")
    assert ours == theirs


# ---- features that come and go ----


def test_absent_none_and_nan_are_the_same_missing_value(rng: np.random.Generator) -> None:
    rows = stream(rng)
    models = [learned(regressor(), rows) for _ in range(3)]
    for model, x in zip(models, ({"b": 0.2}, {"a": None, "b": 0.2}, {"a": math.nan, "b": 0.2}), strict=True):
        model.learn_one(x, 0.7)
    predictions = {model.predict_one({"a": 0.3}) for model in models}
    assert len(predictions) == 1
    assert math.isfinite(predictions.pop())


def test_a_new_feature_restarts_from_the_active_observations(rng: np.random.Generator) -> None:
    rows = stream(rng)
    model = learned(regressor(max_active=50), rows)
    model.learn_one({"a": 0.5, "b": 0.5, "c": 1.0}, 1.0)
    assert model.feature_names == ("a", "b", "c")
    again = learned(regressor(max_active=50), [({**x, "c": math.nan}, y) for x, y in rows[-50:]])
    again.learn_one({"a": 0.5, "b": 0.5, "c": 1.0}, 1.0)
    assert pickle.dumps(model.estimator) == pickle.dumps(again.estimator)


def test_nothing_is_lost_while_every_row_is_active(rng: np.random.Generator) -> None:
    rows = [({key: x[key] for key in (["a"] if i < 10 else ["a", "b"])}, y) for i, (x, y) in enumerate(stream(rng, 40))]
    model = learned(regressor(), rows)
    assert model.estimator.n_seen_ == 40
    wide = learned(regressor(), [({"a": x["a"], "b": x.get("b", math.nan)}, y) for x, y in rows])
    assert pickle.dumps(model.estimator) == pickle.dumps(wide.estimator)


def test_a_new_feature_is_used(rng: np.random.Generator) -> None:
    # Fails if a new column stays NaN for ever.
    rows = stream(rng, 400)
    model = learned(regressor(), [({"a": x["a"]}, y) for x, y in rows[:20]] + rows[20:])
    assert model.predict_one({"a": 0.5, "b": 0.9}) - model.predict_one({"a": 0.5, "b": 0.1}) > 1.0


def test_new_features_can_be_ignored_with_one_warning(rng: np.random.Generator) -> None:
    rows = stream(rng, 30)
    model = learned(regressor(new_features="ignore"), rows)
    with pytest.warns(UserWarning, match="the features 'c', 'd' were not in the first row") as caught:
        model.learn_one({"a": 0.1, "d": 1.0, "c": "text"}, 1.0)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.learn_one({"a": 0.1, "e": 1.0}, 1.0)
    assert model.feature_names == ("a", "b")


def test_prediction_ignores_features_never_learned(rng: np.random.Generator) -> None:
    model = learned(regressor(), stream(rng, 30))
    assert model.predict_one({"a": 0.2, "b": 0.3, "z": 9.0}) == model.predict_one({"a": 0.2, "b": 0.3})
    assert model.feature_names == ("a", "b")


def test_rows_without_features_are_learned() -> None:
    model = learned(regressor(), [({}, 2.0)] * 30)
    assert model.predict_one({}) == pytest.approx(2.0, abs=0.05)  # thirty equal targets
    model.learn_one({"a": 1.0}, 2.0)
    assert model.feature_names == ("a",)
    assert model.estimator.n_seen_ == 31


def test_one_hot_encoded_text_grows_columns(rng: np.random.Generator) -> None:
    # Fails if only the category in the first row gets a column.
    model = preprocessing.OneHotEncoder() | regressor(max_active=100)
    level = {"red": 0.0, "green": 5.0, "blue": 10.0}
    for colour in rng.choice(list(level), size=150).tolist():
        model.learn_one({"colour": colour}, level[colour] + float(rng.normal(scale=0.1)))
    for colour, y in level.items():
        assert model.predict_one({"colour": colour}) == pytest.approx(y, abs=1.0)  # the levels are 5 apart


# ---- refusals leave the model unchanged ----


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ({"a": "warm", "b": 1.0}, 1.0, r"column 'a' of X holds 'warm' \(row 0\), which is not a number"),
        ({"a": 1.0, "c": [1, 2]}, 1.0, "column 'c' of X has type list"),
        ({"a": 1.0, "c": math.inf}, 1.0, r"inf \(infinity\) in column 'c'"),
        ({"a": 1.0, "c": 1e200}, 1.0, "1e.200 in column 'c'"),
        ({"a": 1.0, "c": 1.0}, math.nan, "y is nan"),
        ({"a": 1.0, "c": 1.0}, "high", "regression needs numbers"),
    ],
)
def test_refused_rows_change_nothing(rng: np.random.Generator, x: Any, y: Any, message: str) -> None:
    model = learned(regressor(), stream(rng, 30))
    before = pickle.dumps(model)
    with pytest.raises(InputError, match=message):
        model.learn_one(x, y)
    with pytest.raises(InputError, match=message):
        model.learn_many(pd.DataFrame([x]), pd.Series([y]))
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("label", [None, math.nan, ["a"]])
def test_invalid_labels_are_refused(label: Any) -> None:
    model = learned(classifier(), [({"a": 1.0}, "x")])
    before = pickle.dumps(model)
    with pytest.raises(InputError, match="a label must be hashable and not missing"):
        model.learn_one({"a": 1.0}, label)
    assert pickle.dumps(model) == before


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(ConfigError, match="new_features='drop' is not allowed; choose one of 'grow', 'ignore'"):
        DynamicTreeRegressor(new_features="drop").learn_one({"a": 1.0}, 1.0)  # type: ignore[arg-type]


def test_lengths_must_agree() -> None:
    table = pd.DataFrame({"a": [1.0, 2.0]})
    with pytest.raises(InputError, match="X has 2 rows and y has 1"):
        regressor().learn_many(table, pd.Series([1.0]))
    with pytest.raises(InputError, match="X has 2 rows and y has 1"):
        classifier().learn_many(table, pd.Series(["a"]))


# ---- before anything is learned ----


def test_predictions_before_learning_follow_river() -> None:
    table = pd.DataFrame({"a": [1.0, 2.0]}, index=[7, 8])
    assert regressor().predict_one({"a": 1.0}) == 0.0
    assert regressor().predict_many(table).equals(pd.Series([0.0, 0.0], index=[7, 8]))
    assert classifier().predict_one({"a": 1.0}) is None
    assert classifier().predict_proba_one({"a": 1.0}) == {}
    assert classifier().predict_proba_many(table).shape == (2, 0)
    assert classifier().predict_many(table).tolist() == [None, None]
    assert regressor().estimator is None


# ---- labels ----


@pytest.mark.parametrize(
    "labels",
    [("low", "high"), (True, False), (np.bool_(True), np.bool_(False)), (3, 1), (0.5, 1.5), ("a", 1), ((1, 2), "x")],
    ids=str,
)
def test_labels_of_any_kind(rng: np.random.Generator, labels: tuple[Hashable, Hashable]) -> None:
    rows = [({"a": a}, labels[int(a > 0.5)]) for a in rng.uniform(size=80).tolist()]
    model = learned(classifier(), rows)
    assert model.predict_one({"a": 0.1}) == labels[0]
    assert model.predict_one({"a": 0.9}) == labels[1]
    assert set(model.predict_proba_one({"a": 0.9})) == set(labels)
    if not isinstance(labels[0], tuple):  # pandas would turn a tuple into a MultiIndex
        table = pd.DataFrame({"a": [0.1, 0.9]}, index=["p", "q"])
        assert model.predict_many(table).tolist() == list(labels)
        assert model.predict_proba_many(table).index.tolist() == ["p", "q"]


def test_a_label_survives_when_its_observations_have_retired_and_a_feature_appears() -> None:
    rows = [({"a": 0.0}, "rare")] + [({"a": float(i % 5)}, "common") for i in range(40)]
    model = learned(classifier(max_active=10), rows)
    model.learn_one({"a": 1.0, "b": 1.0}, "new")
    assert model.labels == ["rare", "common", "new"]
    assert set(model.predict_proba_one({"a": 1.0})) == {"rare", "common", "new"}


# ---- weights ----


def test_rows_of_weight_zero_are_not_learned(rng: np.random.Generator) -> None:
    model = classifier()
    model.learn_one({"a": 1.0, "odd": 1.0}, "ghost", w=0.0)
    assert model.labels == []
    assert model.feature_names == ()
    table = pd.DataFrame({"a": rng.uniform(size=3)})
    model.learn_many(table, pd.Series(["ghost", "x", "y"]), w=pd.Series([0.0, 1.0, 2.0]))
    assert model.labels == ["x", "y"]
    assert model.estimator.n_seen_ == 2
    assert set(model.predict_proba_one({"a": 0.5})) == {"x", "y"}


# ---- river's machinery ----


def test_learn_many_is_learn_one_repeated(rng: np.random.Generator) -> None:
    rows = stream(rng, 60)
    table, target = pd.DataFrame([x for x, _ in rows]), pd.Series([y for _, y in rows])
    at_once, in_parts = regressor(), regressor()
    at_once.learn_many(table, target)
    for first in range(0, 60, 7):
        in_parts.learn_many(table[first : first + 7], target[first : first + 7])
    one_by_one = learned(regressor(), rows)
    assert pickle.dumps(at_once) == pickle.dumps(in_parts) == pickle.dumps(one_by_one)


def test_tables_with_missing_values_of_pandas() -> None:
    table = pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64"), "b": [True, False, True], "c": [None] * 3})
    model = regressor()
    model.learn_many(table, pd.Series([1.0, 2.0, 3.0]))
    assert model.estimator.n_seen_ == 3
    assert np.isfinite(model.predict_many(table)).all()


def test_progressive_validation_of_a_pipeline_with_every_kind_of_column() -> None:
    text = compose.SelectType(str) | preprocessing.OneHotEncoder()
    numbers = compose.SelectType(int, float) | preprocessing.StandardScaler()
    model = (text + numbers) | classifier()
    score = evaluate.progressive_val_score(datasets.Phishing().take(250), model, metrics.ROCAUC())
    assert score.get() > 0.8  # random labels would give 0.5


def test_clone_forgets_and_copies_remember(rng: np.random.Generator) -> None:
    rows = stream(rng, 40)
    model = learned(regressor(lags=1, max_active=30), rows)
    clone = model.clone()
    assert clone.estimator is None
    assert clone.clone({"lags": 2}).lags == 2
    assert learned(clone, rows).predict_one(rows[0][0]) == model.predict_one(rows[0][0])
    copied, stored = copy.deepcopy(model), pickle.loads(pickle.dumps(model))
    model.learn_one({"a": 0.0, "b": 0.0}, 100.0)
    for kept in (copied, stored):
        assert kept.predict_one(rows[0][0]) == clone.predict_one(rows[0][0])


def test_mutable_attributes() -> None:
    model = regressor()
    model.mutate({"new_features": "ignore"})
    assert model.new_features == "ignore"
    with pytest.raises(ValueError, match="'leaf' is not a mutable attribute"):
        model.mutate({"leaf": "constant"})


def test_memory_usage_includes_the_engine(rng: np.random.Generator) -> None:
    model = learned(regressor(), stream(rng, 100))
    assert model._raw_memory_usage > len(native(model.estimator).save(b""))

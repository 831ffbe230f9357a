"""Models of other libraries, for comparison."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.neighbors import KNeighborsRegressor

from sapwood.stream import evaluate


def test_a_scikit_learn_regressor_is_scored_by_its_mean(numbers: tuple[Any, Any]) -> None:
    X, y = numbers
    result = evaluate(SGDRegressor(random_state=0), numbers, delay=2)
    plain, mean = SGDRegressor(random_state=0), np.zeros(400)
    for i in range(400):
        if i > 2:
            mean[i] = plain.predict(X[i : i + 1])[0]
        if i >= 2:
            plain.partial_fit(X[i - 2 : i - 1], y[i - 2 : i - 1])
    np.testing.assert_array_equal(result.predictions["mean"], mean)
    assert result.metrics == ("rmse", "mae")
    assert result.overall()["model"]["mae"] == pytest.approx(np.mean(np.abs(mean - y)))
    assert len(result.beliefs) == 0


@pytest.mark.parametrize("model", [SGDClassifier(loss="log_loss", random_state=0), SGDClassifier(random_state=0)])
def test_scikit_learn_classifiers_with_and_without_probabilities(model: Any, labels: tuple[Any, Any]) -> None:
    X, y = labels
    result = evaluate(model, (X, y), metrics=["accuracy", "brier"])
    np.testing.assert_allclose(result.predictions["proba"].sum(axis=1), 1.0)
    share = np.mean(result.predictions["prediction"] == y)
    assert result.overall()["model"]["accuracy"] == pytest.approx(share)


def test_river_models_see_missing_values_as_absent_keys(numbers: tuple[Any, Any], labels: tuple[Any, Any]) -> None:
    river = pytest.importorskip("river")
    from river import linear_model, naive_bayes

    assert river
    X, y = numbers
    X[5, 1] = np.nan
    model = linear_model.LinearRegression()
    result = evaluate(model, (X, y))
    assert np.isfinite(result.overall()["model"]["rmse"])
    result = evaluate(naive_bayes.GaussianNB(), labels, metrics=["accuracy", "brier"])
    assert result.overall()["model"]["accuracy"] == np.mean(result.predictions["prediction"] == labels[1])


def test_a_model_that_cannot_learn_row_by_row_is_refused(numbers: tuple[Any, Any]) -> None:
    with pytest.raises(TypeError, match="a KNeighborsRegressor cannot be evaluated; give a Sapwood estimator"):
        evaluate(KNeighborsRegressor(), numbers)


def test_a_foreign_model_has_no_checkpoint(numbers: tuple[Any, Any], tmp_path: Any) -> None:
    with pytest.raises(ValueError, match="can only be made of a Sapwood model"):
        evaluate(SGDRegressor(), numbers, checkpoint=tmp_path / "run.checkpoint")

"""scikit-learn's own checks of estimators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from sapwood import DynamicTreeClassifier, DynamicTreeRegressor

ESTIMATORS = [
    DynamicTreeRegressor(),
    DynamicTreeRegressor(leaf="constant", max_active=None, n_particles=100),
    DynamicTreeRegressor(max_active=50, n_particles=100, discard="random", lags=1),
    DynamicTreeClassifier(),
    DynamicTreeClassifier(max_active=50, n_particles=100, discard="entropy", copies=2),
]

EXPECTED_FAILURES = {
    # A row of weight 2 is one step of the particle filter; the same row twice is two steps, with random draws of their
    # own. The two agree in distribution, not in numbers. (Weight 0 and absence do agree; see test_weights.py.)
    "check_sample_weight_equivalence_on_dense_data": "one step of weight 2 and two steps draw different random numbers",
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda estimator: EXPECTED_FAILURES)
def test_scikit_learn_check(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)

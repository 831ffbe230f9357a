"""river's own estimator checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("river", reason="river is not installed (pip install 'sapwood[river]')")

from river import checks

from sapwood.river import DynamicTreeClassifier, DynamicTreeRegressor

MODELS = {
    "regressor": DynamicTreeRegressor(n_particles=30),
    "regressor with lags, random discard": DynamicTreeRegressor(
        n_particles=30, max_active=40, discard="random", lags=1, seed=3
    ),
    "classifier": DynamicTreeClassifier(n_particles=30),
    "classifier that ignores new features": DynamicTreeClassifier(n_particles=30, new_features="ignore", seed=3),
}


def all_checks() -> list[Any]:
    cases = []
    for name, model in MODELS.items():
        for number, check in enumerate(checks.yield_checks(model)):
            if check.__name__ not in model._unit_test_skips():
                cases.append(pytest.param(model, check, id=f"{name}-{number}-{check.__name__}"))
    return cases


@pytest.mark.filterwarnings("ignore:the features .* were not in the first row")
@pytest.mark.parametrize(("model", "check"), all_checks())
def test_river_check(model: Any, check: Callable[[Any], None]) -> None:
    check(model.clone())

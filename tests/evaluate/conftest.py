"""Small models and streams for the tests of the prequential loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sapwood import DynamicTreeClassifier, DynamicTreeRegressor
from sapwood.stream import StopRequest

CHEAP = ("rmse", "mae", "log_score", "coverage90", "width90")
"""All regression metrics except the CRPS, which takes most of the time."""


@pytest.fixture
def regressor_maker() -> Callable[..., DynamicTreeRegressor]:
    """Makes small unfitted banks."""
    return lambda **given: DynamicTreeRegressor(
        **{"n_particles": 20, "max_active": [15, 40], "random_state": 0, **given}
    )


@pytest.fixture
def classifier_maker() -> Callable[..., DynamicTreeClassifier]:
    """Makes small unfitted banks."""
    return lambda **given: DynamicTreeClassifier(
        **{"n_particles": 20, "max_active": [15, 40], "random_state": 0, **given}
    )


@pytest.fixture
def numbers(rng: np.random.Generator) -> tuple[Any, Any]:
    """400 rows, three columns, a drifting sine."""
    X = rng.uniform(size=(400, 3))
    return X, 3 * np.sin(4 * X[:, 0] + np.arange(400) / 60) + X[:, 1] + rng.normal(scale=0.2, size=400)


@pytest.fixture
def labels(numbers: tuple[Any, Any]) -> tuple[Any, Any]:
    """The same rows with three classes, one of which first appears at row 250."""
    X, y = numbers
    classes = np.where(y > 0.5, "up", "down").astype(object)
    classes[250::5] = "new"
    return X, classes.astype(str)


@pytest.fixture
def stop_after() -> Callable[[int], tuple[StopRequest, Callable[[Any], None]]]:
    """Makes a stop request, and a `progress` that triggers it after a number of rows."""

    def make(n_rows: int) -> tuple[StopRequest, Callable[[Any], None]]:
        stop = StopRequest()

        def progress(now: Any) -> None:
            if now.n_rows >= n_rows:
                stop.signal = 2

        return stop, progress

    return make

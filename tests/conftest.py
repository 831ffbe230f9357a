"""Shared by all tests: random numbers seeded by the test's own name, small streams, and 'nothing has changed'."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sapwood import DynamicTreeClassifier, DynamicTreeRegressor
from sapwood._files import to_bytes

Data = tuple[NDArray[np.float64], NDArray[Any]]


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """A generator of the test's own: tests do not disturb one another, and a rerun repeats exactly."""
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))


@pytest.fixture
def regression_data(rng: np.random.Generator) -> Data:
    """120 rows, three columns, a kink and a slope."""
    X = rng.uniform(size=(120, 3))
    return X, np.abs(X[:, 0] - 0.5) + 2 * X[:, 1] + rng.normal(scale=0.05, size=120)


@pytest.fixture
def class_data(rng: np.random.Generator) -> Data:
    """120 rows, two columns, three classes in vertical stripes with some noise."""
    X = rng.uniform(size=(120, 2))
    noisy = X[:, 0] + rng.normal(scale=0.05, size=120)
    return X, np.array(["left", "middle", "right"])[np.digitize(noisy, [1 / 3, 2 / 3])]


@pytest.fixture
def regressor(regression_data: Data) -> DynamicTreeRegressor:
    """A small bank that has learned `regression_data`."""
    model = DynamicTreeRegressor(max_active=[20, 60], n_particles=40, random_state=0)
    return model.partial_fit(*regression_data)


@pytest.fixture
def classifier(class_data: Data) -> DynamicTreeClassifier:
    """A small bank that has learned `class_data`."""
    model = DynamicTreeClassifier(max_active=[20, 60], n_particles=40, random_state=0)
    return model.partial_fit(*class_data)


@pytest.fixture
def unchanged() -> Callable[[Any], AbstractContextManager[None]]:
    """``with unchanged(model): ...`` asserts that the model file and the attributes are the same afterwards."""

    @contextmanager
    def check(model: Any) -> Iterator[None]:
        before, attributes = to_bytes(model), set(vars(model))
        yield
        assert to_bytes(model) == before
        assert set(vars(model)) == attributes

    return check


@pytest.fixture
def real_data() -> Callable[[str], Path]:
    """Finds a real data set; the test is skipped if the data folder is absent."""
    root = Path(__file__).parents[1]
    folder = Path(os.environ.get("SAPWOOD_DATA", root.parent / "shared" / "data"))

    def find(name: str) -> Path:
        path = folder / f"{name}.csv.gz"
        if not path.is_file():
            pytest.skip(f"{path.name} is not in the data folder; set SAPWOOD_DATA")
        return path

    return find

"""The paper's models in our parameters, and helpers shared by the experiments."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sapwood import DynamicTreeClassifier, DynamicTreeRegressor
from sapwood._core import Model
from sapwood._fitted import new_model
from sapwood.datasets import Stream, load

Floats: TypeAlias = NDArray[np.float64]

#: The paper's leaf priors, its division of retired statistics at a grow, and one proposed split per step.
PAPER_REGRESSION: dict[str, Any] = {"prior": "reference", "division": "proportional", "n_candidates": 1}
PAPER_CLASSIFICATION: dict[str, Any] = {"leaf": "multinomial", "dirichlet": 1.0, "n_candidates": 1, "min_leaf": 1}


def start(estimator: DynamicTreeRegressor | DynamicTreeClassifier, n_inputs: int, n_classes: int = 0) -> Model:
    """The engine's model behind an estimator, before its first row.

    Examples
    --------
    >>> start(DynamicTreeRegressor(max_active=[10, 20]), n_inputs=3).n_members
    2
    """
    return new_model(estimator, n_inputs, n_classes, n_classes)


def class_probability(model: Model, x: Floats, y: Floats, learn_first: int | None = None) -> Floats:
    """Probability of class 1 (of two) for each row before it is learned; later rows may be forecast only.

    Parameters
    ----------
    model : Model
        A classification model before its first row.
    x, y : ndarray
        Inputs and class codes.
    learn_first : int, optional
        Learn only this many rows: an offline model that forecasts the rest.
    """
    n = len(y) if learn_first is None else min(learn_first, len(y))
    learned = model.forecast_then_learn(x[:n], y[:n], x[:n], y[:n]).proba[:, 1]
    later = model.forecast_then_learn(x[n:], y[n:], x[:0], y[:0]).proba[:, 1] if n < len(y) else np.empty(0)
    return np.concatenate([learned, later])


def mean_and_band(values: list[float]) -> tuple[float, float, float]:
    """Mean, 5 % and 95 % quantile, as the paper summarises repeats.

    Examples
    --------
    >>> mean_and_band([1.0, 2.0, 3.0])
    (2.0, 1.1, 2.9)
    """
    low, high = np.quantile(values, [0.05, 0.95])
    return float(np.mean(values)), float(low), float(high)


@lru_cache(maxsize=2)
def loaded(name: str, data_home: Path | None) -> Stream:
    """A real data set, cached for processes that run several jobs on it."""
    return load(name, data_home)

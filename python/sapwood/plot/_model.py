"""What plots need of a model: the native model, descriptions of its members, the names of its inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood import _fitted
from sapwood._base import DynamicTreeEstimator
from sapwood._core import MemberConfig
from sapwood._views import heaviest_cloud, in_words

Floats = NDArray[np.float64]


def native(estimator: Any) -> Any:
    """Return the native model of a fitted Sapwood estimator."""
    if not isinstance(estimator, DynamicTreeEstimator):
        raise TypeError(
            f"this picture needs a DynamicTreeRegressor or DynamicTreeClassifier; it was given a "
            f"{type(estimator).__name__}. Pass the last step of a pipeline."
        )
    return _fitted.native(estimator)


def is_regression(estimator: Any) -> bool:
    """Whether the estimator predicts numbers."""
    return bool(native(estimator).task == "regression")


def distribution_at(estimator: Any, rows: Floats) -> Any:
    """Return the predictive distribution at an array of rows, even if the model knows its columns by name.

    A model that needs the last target for every forecast is asked about the next row.
    """
    model = native(estimator)
    needs_last = all(model.member_config(member).lags > 0 for member in range(model.n_members))
    return _fitted.distribution_at(estimator, rows, horizon="next_row" if needs_last else "any_row")


def input_names(estimator: Any, feature_names: Sequence[str] | None = None) -> list[str]:
    """Return the given names, those that the model has stored, or x0, x1, ..."""
    n_inputs = native(estimator).n_inputs
    names = _fitted.input_names(estimator) if feature_names is None else feature_names
    if names is None:
        return [f"x{ix}" for ix in range(n_inputs)]
    if len(names) != n_inputs:
        raise ValueError(f"feature_names has {len(names)} names; the model has {n_inputs} inputs. Give one per input.")
    return [str(name) for name in names]


def score_names(estimator: Any) -> list[str]:
    """The names of what the trees see after the inputs, if some of these hold categories."""
    return _fitted.score_names(estimator)


def position_of(feature: int | str, names: Sequence[str]) -> int:
    """The column of a feature given by position or name."""
    if isinstance(feature, str):
        if feature in names:
            return list(names).index(feature)
    elif 0 <= feature < len(names):
        return int(feature)
    raise ValueError(f"there is no feature {feature!r}; the features are {', '.join(names)} (0 to {len(names) - 1}).")


def member_names(estimator: Any) -> list[str]:
    """Describe each member of the bank: its pool and, if the clouds differ in them, its leaves and lags."""
    model = native(estimator)
    configs = [model.member_config(member) for member in range(model.n_members)]
    leaves_differ = len({config.leaf for config in configs}) > 1
    names = [_cloud_name(config, leaves_differ) if config.kind == "cloud" else in_words(config) for config in configs]
    copies = {name: names.count(name) for name in names}
    seen: dict[str, int] = {}
    for ix, name in enumerate(names):
        if copies[name] > 1:
            seen[name] = seen.get(name, 0) + 1
            names[ix] = f"{name} (copy {seen[name]})"
    return names


def _cloud_name(config: MemberConfig, leaves_differ: bool) -> str:
    leaf, only = [str(config.leaf)] if leaves_differ else [], ["any row only"] if config.any_row_only else []
    return ", ".join([*leaf, _pool(config), *_lags(config), *only])


def _pool(config: MemberConfig) -> str:
    return "all rows" if config.max_active is None else f"pool {config.max_active}"


def _lags(config: MemberConfig) -> list[str]:
    return [f"{config.lags} lag" + "s" * (config.lags > 1)] if config.lags else []


def heaviest_member(estimator: Any) -> int:
    """The cloud with the largest weight in the next prediction."""
    return heaviest_cloud(native(estimator))

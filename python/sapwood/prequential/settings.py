"""What a run was asked to do, in a form that a checkpoint can keep and compare."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from sapwood._base import DynamicTreeEstimator
from sapwood._files import _plain_param
from sapwood.metrics import CLASSIFICATION_METRICS, METRICS, REGRESSION_METRICS
from sapwood.reading.encoding.target import Task
from sapwood.reading.errors import SourceError

_POINT_METRICS = ("rmse", "mae")


def metric_names(names: Iterable[str] | None, task: Task, model: Any) -> tuple[str, ...]:
    """The metrics asked for, checked; None: all that apply."""
    of_task = CLASSIFICATION_METRICS if task == "classification" else REGRESSION_METRICS
    if names is None:
        has_mean_only = task == "regression" and not isinstance(model, DynamicTreeEstimator)
        return _POINT_METRICS if has_mean_only else tuple(of_task)
    chosen = tuple(names)
    for name in chosen:
        if name not in of_task:
            known = "there is no such metric" if name not in METRICS else f"it is not one of {task}"
            raise ValueError(f"metrics has {name!r}: {known}; choose among {', '.join(of_task)}")
    return chosen


def parameters_of(model: Any) -> dict[str, Any]:
    """A model's parameters, but not ``n_jobs``, which changes nothing."""
    if not isinstance(model, DynamicTreeEstimator):
        return {"class": type(model).__name__}
    parameters = model.get_params(deep=False)
    return {name: _plain_param(value) for name, value in parameters.items() if name != "n_jobs"}


def demand_same(was: dict[str, Any], now: dict[str, Any], path: str) -> None:
    """Refuse to continue with other settings: the result would be that of neither."""
    for name, new in now.items():
        old = was.get(name)
        pairs = {f"{name} {inner}": (old.get(inner), new[inner]) for inner in new} if isinstance(old, dict) else None
        for what, (before, after) in (pairs or {name: (old, new)}).items():
            if before != after:
                raise _changed(path, what, before, after)


def in_json(value: Any) -> Any:
    """A setting as a checkpoint's JSON gives it back; what JSON does not know is told apart by its type only."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        return list(value)
    return f"<{type(value).__name__}>"  # no file or column has such a name


def _changed(path: str, name: str, old: Any, new: Any) -> SourceError:
    return SourceError(
        f"{path}: was made with {name.replace('_', ' ')} {old!r}, and this run has {new!r}; use the same settings, or "
        "start again without resuming",
        file=path,
    )

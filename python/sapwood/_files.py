"""Model files: the engine's container, with the state of the engine and a description of the estimator in JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from sapwood import errors
from sapwood._core import Model
from sapwood._disk import write_atomically as write_atomically
from sapwood._fitted import FittedState, fitted, lock_of, set_fitted, task_of
from sapwood._labels import LabelBook
from sapwood.encoding.encoder import Encoder
from sapwood.encoding.features import Number

if TYPE_CHECKING:
    from sapwood._base import DynamicTreeEstimator

_DESCRIPTION_VERSION = 2
_READABLE_VERSIONS = (1, 2)
_LABEL_KINDS = "biufUO"


def to_bytes(estimator: DynamicTreeEstimator) -> bytes:
    """Serialise a fitted estimator; the bytes do not depend on the machine or on ``n_jobs``."""
    with lock_of(estimator):
        state = fitted(estimator)
        description = {
            "version": _DESCRIPTION_VERSION,
            "task": task_of(estimator),
            "params": {
                name: _plain_param(value)
                for name, value in estimator.get_params(deep=False).items()
                if name != "n_jobs"
            },
            "encoding": None if state.encoder is None else state.encoder.state(),
            "target": state.target,
            "classes": _plain_labels(state.labels),
        }
        text = json.dumps(description, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
        return state.model.save(text.encode("ascii"))


def from_bytes(data: bytes, classes: dict[str, type[DynamicTreeEstimator]]) -> DynamicTreeEstimator:
    """Restore the estimator from the result of `to_bytes`; `classes` maps each task to its class."""
    model, meta = Model.load(data)
    try:
        description = json.loads(meta.decode("ascii"), parse_constant=_refuse_constant)
        return _revive(model, description, classes)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise errors.make("file-description", reason=reason) from None


def _revive(model: Model, description: Any, classes: dict[str, type[DynamicTreeEstimator]]) -> DynamicTreeEstimator:
    _demand(isinstance(description, dict), "it is not an object")
    version = description["version"]
    _demand(version in _READABLE_VERSIONS, f"it has version {version!r}, this package reads {_READABLE_VERSIONS}")
    task = description["task"]
    _demand(task == model.task, f"it says {task!r}, the model says {model.task!r}")
    params = description["params"]
    _demand(isinstance(params, dict), "params is not an object")
    _demand("n_jobs" not in params, "params names n_jobs, which is never stored")
    estimator = classes[task](**params)
    labels = _labels_from(description["classes"])
    n_classes = 0 if labels is None else len(labels)
    _demand(n_classes == model.n_classes, f"it has {n_classes} classes, the model has {model.n_classes}")
    encoder, target = _encoding_of_version_1(description) if version == 1 else _encoding(description)
    n_inputs = None if encoder is None else encoder.n_inputs
    _demand(n_inputs in (None, model.n_inputs), f"it encodes {n_inputs} inputs, the model has {model.n_inputs}")
    set_fitted(estimator, FittedState(model, labels, encoder, target))
    return estimator


def _encoding(description: dict[str, Any]) -> tuple[Encoder | None, str | None]:
    state, target = description["encoding"], description["target"]
    _demand(target is None or isinstance(target, str), "target is not text")
    return None if state is None else Encoder.restore(state), target


def _encoding_of_version_1(description: dict[str, Any]) -> tuple[Encoder | None, str | None]:
    """Files of version 1 hold the schema of a source if the command line wrote them, otherwise at most column names."""
    schema = description.get("schema")
    if schema is not None:
        return Encoder.restore(schema["features"]), (schema["target"] or {}).get("name")
    names = description["feature_names"]
    if names is None:
        return None, None
    _demand(isinstance(names, list) and all(isinstance(name, str) for name in names), "feature_names is not text")
    return Encoder([Number(name) for name in names]), None


def _plain_param(value: Any) -> Any:
    """Return a parameter as JSON. A random generator becomes None: the model has drawn its seed already."""
    if isinstance(value, (np.random.Generator, np.random.RandomState)):
        return None
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain_param(item) for item in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise errors.make(
        "out-of-range", name="a parameter", value=value, allowed="a number, text, None or a list to be saved"
    )


def _plain_labels(labels: LabelBook | None) -> dict[str, Any] | None:
    if labels is None:
        return None
    values, dtype = labels.classes.tolist(), labels.classes.dtype
    if dtype.kind == "U":
        dtype = np.array(values, dtype=str).dtype  # no wider than the labels, however wide those of the call were
    return {"dtype": dtype.str, "values": values, "codes": labels.codes.tolist()}


def _labels_from(stored: Any) -> LabelBook | None:
    if stored is None:
        return None
    _demand(isinstance(stored, dict), "classes are not an object")
    values, codes = stored["values"], stored["codes"]
    _demand(isinstance(values, list) and isinstance(codes, list), "classes are not lists")
    dtype = np.dtype(stored["dtype"])
    _demand(dtype.kind in _LABEL_KINDS, f"labels cannot have type {dtype}")
    if dtype.kind == "U":
        dtype = np.dtype(str)  # the width follows from the labels; a stored one could request any amount of memory
    readable: Callable[[Any], bool] = _is_text if dtype.kind in "UO" else _is_number
    _demand(all(map(readable, values)), f"labels are not of type {dtype}")
    _demand(sorted(codes) == list(range(len(values))), "codes are not a numbering of the classes")
    _demand(values == sorted(set(values)), "classes are not distinct and sorted")
    classes = np.array(values, dtype=dtype)
    _demand(classes.tolist() == values, f"labels do not fit type {dtype}")
    return LabelBook(classes, np.array(codes, dtype=np.intp))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float))


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not allowed")


def _demand(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)

"""Validation and conversion of user input to what the engine takes: C-contiguous float64 arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.validation import validate_data

from sapwood import errors

Floats = NDArray[np.float64]

# Sums of squares of larger magnitudes would overflow a double inside a leaf.
LARGEST_MAGNITUDE = 1e100
# If weights differ by more than this, the smaller is lost when they are added.
SMALLEST_WEIGHT, LARGEST_WEIGHT = 1e-12, 1e12

_FLOAT64 = np.dtype(np.float64)


class Inputs(NamedTuple):
    """The rows of X and its column names, if it has any."""

    x: Floats
    names: NDArray[Any] | None


def is_ready(X: Any, n_inputs: int) -> bool:
    """Whether X needs no conversion: a fast path that lets single rows pass in about a microsecond.

    Values are not checked here, since the engine checks all of them before it learns any.
    """
    return (
        type(X) is np.ndarray
        and X.dtype is _FLOAT64
        and X.ndim == 2
        and X.shape[1] == n_inputs
        and X.flags.c_contiguous
    )


def is_ready_target(y: Any, n_rows: int) -> bool:
    """Whether y needs no conversion: `n_rows` float64 numbers, which the engine checks."""
    return (
        type(y) is np.ndarray and y.dtype is _FLOAT64 and y.ndim == 1 and y.shape[0] == n_rows and y.flags.c_contiguous
    )


@np.errstate(over="ignore", invalid="ignore")
def is_tame(values: Floats) -> bool:
    """Whether all values are surely finite and in range; if False, they must be checked one by one."""
    flat = values.ravel()
    return bool(flat.dot(flat) <= LARGEST_MAGNITUDE**2)


def starting_inputs(X: Any, estimator: BaseEstimator) -> Inputs:
    """Convert the first X of a model."""
    x = _to_floats(X, estimator)
    probe = BaseEstimator()  # so that a failed fit does not change the names of the estimator
    _check_names(probe, X, reset=True)
    names = getattr(probe, "feature_names_in_", None)
    _refuse_wild(x, names)
    if x.shape[0] == 0:
        raise errors.make("x-empty")
    return Inputs(x, names)


def further_inputs(X: Any, estimator: BaseEstimator) -> Floats:
    """Convert an X passed to a fitted model, which must have the same columns."""
    _check_names(estimator, X, reset=False)
    x = _to_floats(X, estimator)
    expected = estimator.n_features_in_
    if x.shape[1] != expected:
        name = type(estimator).__name__
        raise errors.make("wrong-columns", given=x.shape[1], expected=expected, estimator=name)
    _refuse_wild(x, getattr(estimator, "feature_names_in_", None))
    return x


def targets(y: Any, n_rows: int, estimator: BaseEstimator) -> Floats:
    """Convert the targets of a regression."""
    column = target_column(y, n_rows, estimator)
    if column.dtype.kind in "OUS":
        for row, value in enumerate(column):
            if isinstance(value, (str, bytes)):
                raise errors.make("y-text", row=row, value=value)
    try:
        numbers = np.ascontiguousarray(column, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise errors.make("y-layout", reason=f"y cannot be read as numbers: {error}") from None
    wild = ~(np.abs(numbers) <= LARGEST_MAGNITUDE)
    if wild.any():
        row = int(wild.argmax())
        code = "huge-target" if np.isfinite(numbers[row]) else "bad-target"
        raise errors.make(code, row=row, value=numbers[row])
    return numbers


def target_column(y: Any, n_rows: int, estimator: BaseEstimator) -> NDArray[Any]:
    """Convert y to a column of any type with one entry per row."""
    if y is None:
        raise errors.make("y-absent", estimator=type(estimator).__name__)
    try:
        column: NDArray[Any] = column_or_1d(y, warn=True)
    except (TypeError, ValueError) as error:
        raise errors.make("y-layout", reason=str(error)) from None
    if len(column) != n_rows:
        raise errors.make("wrong-length", n_x=n_rows, other="y", n_other=len(column))
    return column


def label_list(classes: Any) -> NDArray[Any]:
    """Convert the labels that a classifier is told to expect."""
    try:
        column: NDArray[Any] = column_or_1d(classes)
    except (TypeError, ValueError) as error:
        raise errors.make("label-type", reason=f"classes= is not a list of labels: {error}") from None
    return column


def weights(sample_weight: Any, n_rows: int) -> Floats | None:
    """Convert sample weights, which must be finite and not negative. A single number applies to every row."""
    if sample_weight is None:
        return None
    try:
        weight = np.array(sample_weight, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise errors.make("weight-layout", reason=f"sample_weight cannot be read as numbers: {error}") from None
    if weight.ndim == 0:
        weight = np.full(n_rows, weight.item())
    if weight.ndim != 1:
        reason = f"sample_weight has {weight.ndim} dimensions; it must be 1-dimensional, one weight per row."
        raise errors.make("weight-layout", reason=reason)
    if len(weight) != n_rows:
        raise errors.make("wrong-length", n_x=n_rows, other="sample_weight", n_other=len(weight))
    bad = ~((weight == 0) | ((weight >= SMALLEST_WEIGHT) & (weight <= LARGEST_WEIGHT)))
    if bad.any():
        row = int(bad.argmax())
        raise errors.make("bad-weight", row=row, value=weight[row])
    return weight


def starting_weights(sample_weight: Any, n_rows: int) -> Floats | None:
    """Convert the first sample weights of a model, at least one of which must be positive."""
    weight = weights(sample_weight, n_rows)
    if weight is not None and not weight.any():
        raise errors.make("weight-all-zero")
    return weight


def _check_names(estimator: BaseEstimator, X: Any, *, reset: bool) -> None:
    # ensure_2d=False: names only; the number of columns is checked on the array, where X is known to have columns.
    try:
        validate_data(estimator, X, reset=reset, skip_check_array=True, ensure_2d=False)
    except ValueError as error:
        raise errors.make("x-names", reason=str(error)) from None


def _to_floats(X: Any, estimator: BaseEstimator) -> Floats:
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        X = _frame_to_array(frame)
    elif isinstance(X, (list, tuple)):
        X = _rows_to_array(X)
    if isinstance(X, np.ndarray) and X.dtype.kind in "OUS":
        _refuse_text(X)
    try:
        x: Floats = check_array(
            X,
            dtype=np.float64,
            order="C",
            ensure_all_finite=False,
            ensure_min_samples=0,
            estimator=estimator,
            input_name="X",
        )
    except ValueError as error:
        raise errors.make("x-layout", reason=str(error)) from None
    return x


def _frame_to_array(frame: nw.DataFrame[Any]) -> NDArray[Any]:
    array = np.empty(frame.shape, dtype=np.float64)
    for ix, (name, dtype) in enumerate(frame.schema.items()):
        column = frame[:, ix]
        if dtype.is_numeric() or dtype == nw.Boolean:
            array[:, ix] = column.cast(nw.Float64).to_numpy()
        elif column.null_count() == len(column):
            array[:, ix] = np.nan
        elif dtype == nw.Object:
            boxed = np.array(column.to_list(), dtype=object)
            _refuse_text(boxed[:, np.newaxis], names=[name])
            array[:, ix] = boxed
        else:
            raise errors.make("x-column-type", column=repr(name), dtype=dtype)
    return array


def _rows_to_array(rows: Sequence[Any]) -> Any:
    lengths = [len(row) if isinstance(row, (list, tuple)) else None for row in rows]
    if lengths and None not in lengths:
        for row, length in enumerate(lengths):
            if length != lengths[0]:
                raise errors.make("x-ragged", row=row, given=length, expected=lengths[0])
        if any(isinstance(value, str) for row in rows for value in row):
            return np.array(rows, dtype=object)  # numpy would turn the numbers beside the text into text as well
    return rows


def _refuse_text(array: NDArray[Any], names: Sequence[Any] | None = None) -> None:
    for position, value in np.ndenumerate(array):
        if isinstance(value, (str, bytes)):
            column = position[-1]
            raise errors.make("x-text", row=position[0], column=_column_name(column, names), value=value)


def _refuse_wild(x: Floats, names: Sequence[Any] | NDArray[Any] | None) -> None:
    if is_tame(x):
        return
    wild = np.argwhere(np.abs(x) > LARGEST_MAGNITUDE)
    if len(wild):
        row, column = map(int, wild[0])
        code = "huge-input" if np.isfinite(x[row, column]) else "infinite-input"
        raise errors.make(code, row=row, column=_column_name(column, names), value=x[row, column])


def _column_name(column: int, names: Sequence[Any] | NDArray[Any] | None) -> str:
    return str(column) if names is None else repr(names[column])

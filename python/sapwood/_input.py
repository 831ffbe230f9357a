"""Validation and conversion of user input to what the engine takes: C-contiguous float64 arrays."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.validation import validate_data

from sapwood import errors
from sapwood._numbers import unmasked
from sapwood.encoding.columns import natural_kind, numbers, shown_value, texts, type_name
from sapwood.encoding.encoder import SCHEMA_ROWS, BadColumnError, Encoder, NotPlainError
from sapwood.encoding.tables import Table, is_row, read_table
from sapwood.reading.errors import nearest

Floats = NDArray[np.float64]

# Sums of squares of larger magnitudes would overflow a double inside a leaf.
LARGEST_MAGNITUDE = 1e100
# If weights differ by more than this, the smaller is lost when they are added.
SMALLEST_WEIGHT, LARGEST_WEIGHT = 1e-12, 1e12

_FLOAT64 = np.dtype(np.float64)


class Inputs(NamedTuple):
    """The rows of X, and what encoded them if they came with the names of their columns."""

    x: Floats
    encoder: Encoder | None


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
    """Convert the first X of a model. Of a table with column names, this also decides how every later one is read."""
    table = read_table(X)
    if table is None:
        x, encoder = _to_floats(X, estimator), None
        refuse_wild(x, None)
    elif _are_names(table):
        encoder = infer_encoder(table)
        x = encode(encoder, table.named(), grow=True)
    else:
        x, encoder = _numbers(table), None
        refuse_wild(x, None)
    if x.shape[0] == 0:
        raise errors.make("x-empty")
    return Inputs(x, encoder)


def further_inputs(
    X: Any, estimator: BaseEstimator, encoder: Encoder | None, target: str | None, *, grow: bool
) -> Floats:
    """Convert an X passed to a fitted model, which must have the same columns, and may have the target beside them.

    Only when learning, categories grow.
    """
    table = read_table(X)
    if table is not None and encoder is not None and _are_names(table):
        columns = table.named()
        _check_columns(encoder, columns, target)
        return encode(encoder, columns, grow=grow)
    if encoder is not None and not encoder.is_plain:
        raise errors.make("x-unnamed", columns=_listed(encoder.columns))
    if is_row(X) or (isinstance(X, (list, tuple)) and table is not None):
        reason = "X has feature names, but the model was started without them. Give an array."
        raise errors.make("x-names", reason=reason)
    _check_names(estimator, X)
    x = _to_floats(X, estimator) if table is None else _numbers(table)
    expected = estimator.n_features_in_
    if x.shape[1] != expected:
        name = type(estimator).__name__
        raise errors.make("wrong-columns", given=x.shape[1], expected=expected, estimator=name)
    refuse_wild(x, getattr(estimator, "feature_names_in_", None))
    return x


def one_row(row: Mapping[str, Any], encoder: Encoder) -> Floats | None:
    """Convert a single row given as a mapping: the fast path of `further_inputs`. None if that has to be taken."""
    if len(row) != len(encoder.columns):
        return None
    try:
        x = encoder.encode_one(row)
    except (KeyError, NotPlainError):
        return None
    return x if is_tame(x) else None


def targets(y: Any, n_rows: int, estimator: BaseEstimator) -> Floats:
    """Convert the targets of a regression."""
    column = target_column(y, n_rows, estimator)
    if column.dtype.kind in "OUS":
        for row, value in enumerate(column):
            if isinstance(value, (str, bytes)):
                raise errors.make("y-text", row=row, value=value)
    try:
        values = np.ascontiguousarray(column, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise errors.make("y-layout", reason=f"y cannot be read as numbers: {error}") from None
    wild = ~(np.abs(values) <= LARGEST_MAGNITUDE)
    if wild.any():
        row = int(wild.argmax())
        code = "huge-target" if np.isfinite(values[row]) else "bad-target"
        raise errors.make(code, row=row, value=values[row])
    return values


def target_column(y: Any, n_rows: int, estimator: BaseEstimator) -> NDArray[Any]:
    """Convert y to a column of any type with one entry per row."""
    if y is None:
        raise errors.make("y-absent", estimator=type(estimator).__name__)
    try:
        column: NDArray[Any] = column_or_1d(unmasked(y), warn=True)
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


def _are_names(table: Table) -> bool:
    """Whether the columns are named by text, as opposed to numbers, which are positions."""
    named = [isinstance(name, str) for name in table.names]
    if any(named) and not all(named):
        raise errors.make("x-names", reason="the names of the columns of X are partly text. Make all of them text.")
    if all(named) and len(set(table.names)) < len(table.names):
        repeated = next(name for ix, name in enumerate(table.names) if name in table.names[:ix])
        raise errors.make("x-names", reason=f"two columns of X are called {repeated!r}. Rename one.")
    return any(named)


def _check_columns(encoder: Encoder, given: Collection[str], target: str | None) -> None:
    expected = f"The feature names must be those that the model was started with: {_listed(encoder.columns)}."
    known = set(encoder.columns)
    for name in encoder.columns:
        if name not in given:
            hint = nearest(name, given)
            raise errors.make("x-names", reason=f"X has no column {name!r}{hint}. {expected}")
    for name in given:
        if name not in known and name != target:
            raise errors.make("x-names", reason=f"X has a column {name!r}, which the model does not know. {expected}")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:50]) + (f", ... ({len(names)} in total)" if len(names) > 50 else "")


def _check_names(estimator: BaseEstimator, X: Any) -> None:
    # ensure_2d=False: names only; the number of columns is checked on the array, where X is known to have columns.
    try:
        validate_data(estimator, X, reset=False, skip_check_array=True, ensure_2d=False)
    except ValueError as error:
        raise errors.make("x-names", reason=str(error)) from None


def infer_encoder(table: Table) -> Encoder:
    """Decide how the columns of a table are read, by its first rows."""
    first = {name: column[:SCHEMA_ROWS] for name, column in table.named().items()}
    try:
        return Encoder.infer([first], table.names)
    except BadColumnError as error:
        raise errors.make("x-column-type", column=repr(error.column), dtype=error.type) from None


def encode(encoder: Encoder, columns: Mapping[str, Any], *, grow: bool) -> Floats:
    """Convert raw columns; raise for the first value that cannot be used."""
    try:
        parsed = encoder.parse(columns)
    except BadColumnError as error:
        raise errors.make("x-kind", column=repr(error.column), dtype=error.type, kind=error.kind) from None
    for name, fault in parsed.faults:
        row = int(fault.bad.argmax())
        value = shown_value(columns[name], row)
        if fault.reason == "infinite input":
            code = "huge-input" if np.isfinite(float(value)) else "infinite-input"
            raise errors.make(code, row=row, column=repr(name), value=value)
        expected = fault.reason.removeprefix("not ")
        raise errors.make("x-value", row=row, column=repr(name), value=value, expected=expected)
    return encoder.write(parsed, slice(None), len(parsed.values[0]), grow=grow)


def _numbers(table: Table) -> Floats:
    """Convert a table whose columns have no names to be known by, and which must therefore hold numbers only."""
    array = np.empty((table.n_rows, len(table.names)), dtype=np.float64)
    for ix, (name, column) in enumerate(zip(table.names, table.columns, strict=True)):
        kind = natural_kind(column)
        if kind == "text":
            row = int(np.argmax(texts(column).ix >= 0))
            raise errors.make("x-text", row=row, column=repr(name), value=shown_value(column, row))
        if kind not in ("number", "boolean"):
            raise errors.make("x-column-type", column=repr(name), dtype=type_name(column))
        array[:, ix] = numbers(column).values
    return array


def _to_floats(X: Any, estimator: BaseEstimator) -> Floats:
    X = _rows_to_array(X) if isinstance(X, (list, tuple)) else unmasked(X)
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


def _rows_to_array(rows: Sequence[Any]) -> Any:
    lengths = [len(row) if isinstance(row, (list, tuple)) else None for row in rows]
    if lengths and None not in lengths:
        for row, length in enumerate(lengths):
            if length != lengths[0]:
                raise errors.make("x-ragged", row=row, given=length, expected=lengths[0])
        if any(isinstance(value, str) for row in rows for value in row):
            return np.array(rows, dtype=object)  # numpy would turn the numbers beside the text into text as well
    return rows


def _refuse_text(array: NDArray[Any]) -> None:
    for position, value in np.ndenumerate(array):
        if isinstance(value, (str, bytes)):
            raise errors.make("x-text", row=position[0], column=position[-1], value=value)


def refuse_wild(x: Floats, names: Sequence[Any] | NDArray[Any] | None) -> None:
    """Raise if an input is infinite or too large."""
    if is_tame(x):
        return
    wild = np.argwhere(np.abs(x) > LARGEST_MAGNITUDE)
    if len(wild):
        row, column = map(int, wild[0])
        code = "huge-input" if np.isfinite(x[row, column]) else "infinite-input"
        raise errors.make(code, row=row, column=_column_name(column, names), value=x[row, column])


def _column_name(column: int, names: Sequence[Any] | NDArray[Any] | None) -> str:
    return str(column) if names is None else repr(names[column])

"""Random tables through the reader, the prequential loop and the estimators.

Whatever is accepted gives finite forecasts, probabilities that sum to one, and a model that is the same after saving
and loading. Whatever is refused is refused with a ValueError in a sentence, and leaves the model as it was, byte for
byte. Every table is also read twice, in batches of different sizes and with an interruption, to the same values.
"""

from __future__ import annotations

import argparse
import io
import warnings
from typing import Any

import numpy as np

from benchmarks.reliability import store
from benchmarks.reliability.random_tables import Rng, Table, as_csv, draw_table
from sapwood import DynamicTreeClassifier, DynamicTreeRegressor
from sapwood._files import from_bytes, to_bytes
from sapwood.stream import evaluate, open_source

NAME = "tables"
DEFAULT_CASES = 100_000
LEAVES = {"regression": ["constant", "linear", "quadratic", "auto"], "classification": ["multinomial", "discriminant"]}
CLASSES: dict[str, Any] = {"regression": DynamicTreeRegressor, "classification": DynamicTreeClassifier}


class BrokenPromiseError(AssertionError):
    """Something that must hold for every input does not."""


def one_case(case: int) -> str:
    """Draw a table by its number and use it in one of four ways."""
    rng = np.random.default_rng([101, case])
    table = draw_table(rng)
    way = [_evaluate_csv, _evaluate_table, _fit_arrays, _read_twice][case % 4]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return way(table, rng)


def _model(task: str, rng: Rng) -> Any:
    options: dict[str, Any] = {"n_particles": 3, "max_active": int(rng.choice([2, 5, 20])), "random_state": 0}
    if rng.random() < 0.7:
        options["leaf"] = str(rng.choice(LEAVES[task]))
    if rng.random() < 0.3:
        options["forgetting"] = float(rng.choice([0.5, 0.99, 1.0]))
    return CLASSES[task](**options)


def _evaluate_csv(table: Table, rng: Rng) -> str:
    return _evaluate(io.BytesIO(as_csv(table, rng)), table, rng, "CSV")


def _evaluate_table(table: Table, rng: Rng) -> str:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    kind = int(rng.integers(4))
    if kind == 3:
        names, at = table.names, len(table.names) - 1
        rows = zip(*table.columns, strict=True)
        return _evaluate([(dict(zip(names[:at], row[:at], strict=True)), row[at]) for row in rows], table, rng, "pairs")
    make: Any = (pd.DataFrame, pa.table, lambda columns: pl.DataFrame(columns, strict=False))[kind]
    try:
        made = make(table.as_dict())
    except (pa.ArrowException, TypeError, OverflowError, ValueError):
        return "no such table"  # the library refuses to make it
    return _evaluate(made, table, rng, "table")


def _evaluate(source: Any, table: Table, rng: Rng, what: str) -> str:
    model = _model(table.task, rng)
    options: dict[str, Any] = {"on_bad_row": str(rng.choice(["skip", "skip", "error"]))}
    named = what != "pairs"
    try:
        result = evaluate(
            model,
            source,
            target=table.target if named else None,
            source_options=options,
            delay=int(rng.choice([0, 0, 3])),
            window=10,
        )
    except ValueError as error:
        return _refused(error)
    columns = result.predictions
    if table.task == "regression":
        # The spread of a Student distribution with few degrees of freedom is infinite; nothing is not a number.
        if (
            not all(np.isfinite(columns[name]).all() for name in ("mean", "lower", "upper"))
            or np.isnan(columns["std"]).any()
        ):
            raise BrokenPromiseError("a forecast is not finite")
    else:
        _check_probabilities(columns["proba"])
    _check_identity(model)
    return f"{what} learned"


def _check_probabilities(proba: Any) -> None:
    if len(proba) and (not np.isfinite(proba).all() or proba.min() < 0 or np.abs(proba.sum(axis=1) - 1).max() > 1e-9):
        raise BrokenPromiseError(f"probabilities from {proba.min()} with sums up to {proba.sum(axis=1).max()}")


def _check_identity(model: Any) -> None:
    data = to_bytes(model)
    again = from_bytes(data, CLASSES)
    if to_bytes(again) != data:
        raise BrokenPromiseError("a loaded model is not the one that was saved")


def _refused(error: ValueError) -> str:
    if len(str(error)) < 15:
        raise BrokenPromiseError(f"the message says too little: {str(error)!r}") from error
    return "refused"


def _fit_arrays(table: Table, rng: Rng) -> str:
    """Give the estimators the raw values, in two parts: the second may be refused, and must then change nothing."""
    columns = [np.array(column, dtype=object) for column in table.columns[:-1]]
    x: Any = np.stack(columns, axis=1)
    y: Any = np.array(table.columns[-1], dtype=object if rng.random() < 0.3 else None)
    if rng.random() < 0.8:
        numeric = [[v if isinstance(v, int | float) else len(str(v)) for v in column] for column in table.columns[:-1]]
        x = np.array(numeric, dtype=float).T
    model = _model(table.task, rng)
    half = max(1, table.n_rows // 2)
    try:
        model.partial_fit(x[:half], y[:half])
    except ValueError as error:
        if model.__sklearn_is_fitted__():
            raise BrokenPromiseError("a refused first call left a model behind") from error
        return _refused(error)
    before = to_bytes(model)
    weight = rng.choice([0.0, 1.0, 1e-12, 1e12, -1.0, np.nan], p=[0.1, 0.7, 0.05, 0.05, 0.05, 0.05])
    weights = np.full(len(x) - half, weight) if rng.random() < 0.3 else None
    try:
        model.partial_fit(x[half:], y[half:], sample_weight=weights)
    except ValueError as error:
        if to_bytes(model) != before:
            raise BrokenPromiseError("a refused call changed the model") from error
        return _refused(error)
    return _forecast(model, x, table.task)


def _forecast(model: Any, x: Any, task: str) -> str:
    if task == "classification":
        _check_probabilities(model.predict_proba(x))
    else:
        dist = model.predict_dist(x)
        found = [dist.mean(), *dist.ppf([0.001, 0.5, 0.999]).T]
        if not all(np.isfinite(values).all() for values in found) or np.isnan(dist.std()).any():
            raise BrokenPromiseError("a forecast is not finite")
        if (np.diff(dist.ppf([0.001, 0.25, 0.5, 0.999]), axis=1) < 0).any():
            raise BrokenPromiseError("quantiles are out of order")
    _check_identity(model)
    return "arrays learned"


def _read_twice(table: Table, rng: Rng) -> str:
    data = as_csv(table, rng)
    options: dict[str, Any] = {"target": table.target, "task": table.task, "on_bad_row": "skip"}
    try:
        with open_source(io.BytesIO(data), **options) as source:
            whole = list(source)
            reasons = source.bad_reasons
    except ValueError as error:
        return _refused(error)
    size = int(rng.integers(1, 20))
    parts: list[Any] = []
    with open_source(io.BytesIO(data), **options, batch_rows=size) as source:
        for batch in source:
            parts.append(batch)
            if len(parts) == 2:
                break
        state = source.state()
    with open_source(io.BytesIO(data), **options, batch_rows=size, resume=state) as source:
        parts += list(source)
        if source.bad_reasons != reasons:
            raise BrokenPromiseError("bad rows are counted otherwise in small batches")
    _check_equal(whole, parts)
    return "read twice"


def _check_equal(whole: list[Any], parts: list[Any]) -> None:
    for name in ("X", "y", "rows"):
        one, other = (
            np.concatenate([getattr(batch, name) for batch in batches]) if batches else np.empty(0)
            for batches in (whole, parts)
        )
        if one.shape != other.shape or (
            one.tolist() != other.tolist() and not np.array_equal(one, other, equal_nan=True)
        ):
            raise BrokenPromiseError(f"{name} depends on the size of the batches")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    store.add_case_arguments(parser, DEFAULT_CASES)


def main(options: argparse.Namespace) -> int:
    """Run the cases that are not stored yet."""
    return store.run_command(options, NAME, (__doc__ or "").splitlines()[0], one_case)

"""Sources other than files: tables, arrays, pairs, and the built-in generators."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sapwood.datasets import drifting_friedman, moving_target
from sapwood.stream import SourceError, open_source

COLUMNS = {
    "x": [1.5, None, 3.0, 4.0],
    "w": ["a", "b", None, "a"],
    "t": [dt.datetime(2024, 1, 1, 6), dt.datetime(2024, 1, 2), None, dt.datetime(2024, 1, 3)],
    "ok": [True, False, True, True],
    "y": [1.0, 2.0, 3.5, 4.0],
}
NAN = np.nan
EXPECTED = np.array(
    [
        [1.5, 0, 0, 6, 0, 1, 1],
        [NAN, 1, 0.75, 0, 1, 2, 0],
        [3.0, NAN, NAN, NAN, NAN, NAN, 1],
        [4.0, 0, 1.75, 0, 2, 3, 1],
    ]
)
TABLES: dict[str, Callable[[], Any]] = {
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "pandas with categories": lambda: pd.DataFrame(COLUMNS).astype({"w": "category"}),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "polars with categories": lambda: pl.DataFrame(COLUMNS).with_columns(pl.col("w").cast(pl.Categorical)),
    "arrow table": lambda: pa.table(COLUMNS),
    "arrow batch": lambda: pa.RecordBatch.from_pydict(COLUMNS),
    "arrow reader": lambda: pa.table(COLUMNS).to_reader(),
    "several tables": lambda: [pl.DataFrame(COLUMNS)[:1], pl.DataFrame(COLUMNS)[1:]],
    "tables of two kinds": lambda: iter([pd.DataFrame(COLUMNS)[:3], pa.table(COLUMNS)[3:]]),
    "mappings": lambda: [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)],
}


@pytest.mark.parametrize("kind", TABLES)
def test_tables_of_every_kind(kind: str, read: Callable[..., Any]) -> None:
    found = read(TABLES[kind](), target="y")
    assert found.source.feature_names == ["x", "w", "t.days", "t.hour", "t.weekday", "t.yearday", "ok"]
    assert np.array_equal(found.x, EXPECTED, equal_nan=True)
    assert found.y.tolist() == COLUMNS["y"]


def test_large_tables_are_converted_slice_by_slice(read: Callable[..., Any]) -> None:
    frame = pd.DataFrame({"x": np.arange(5000.0), "y": np.arange(5000) % 3})
    found = read(frame, target="y")
    assert found.x.ravel().tolist() == frame["x"].tolist()
    assert found.source.n_rows == 5000
    assert found.source.fraction == 1.0


def test_column_names_that_are_numbers(read: Callable[..., Any]) -> None:
    frame = pd.DataFrame({0: [1.0, 2.0], 1: [0.5, 1.5]})
    assert read(frame, target="1").source.feature_names == ["0"]


def test_arrays(read: Callable[..., Any]) -> None:
    x = np.random.default_rng(0).standard_normal((3000, 2))
    found = read((x, x[:, 0] > 0))
    assert np.array_equal(found.x, x)
    assert found.y.dtype == bool
    assert found.source.feature_names == ["x1", "x2"]
    assert found.source.target == "y"
    assert np.array_equal(read((x[:, ::-1], None)).x, x[:, ::-1])


def test_arrays_with_names_and_words(read: Callable[..., Any]) -> None:
    frame = pd.DataFrame({"size": [1, 2], "colour": ["red", "blue"]})
    found = read((frame, pd.Series(["no", "yes"])), target="sold")
    assert found.source.feature_names == ["size", "colour"]
    assert found.x.tolist() == [[1, 0], [2, 1]]
    assert found.y.tolist() == ["no", "yes"]


def test_arrays_must_have_matching_shapes() -> None:
    with pytest.raises(SourceError, match=r"y has shape \(3,\); it must have one entry for each of the 2 rows"):
        open_source((np.zeros((2, 1)), np.zeros(3)))


def test_pairs_with_mappings(read: Callable[..., Any]) -> None:
    pairs = [({"a": 1, "w": "u"}, 1.5), ({"w": "v", "b": 2.0}, 2.5), ({"a": None}, 3.5)] * 700
    pairs.append(({"a": 7, "late": 1}, 4.5))
    found = read(iter(pairs))
    assert found.source.feature_names == ["a", "w", "b"]
    expected = [[1, 0, NAN], [NAN, 1, 2], [NAN, NAN, NAN]]
    assert np.array_equal(found.x[:3], expected, equal_nan=True)
    assert np.array_equal(found.x[-1], [7, NAN, NAN], equal_nan=True)
    assert found.source.notes == ["keys that were not in the first rows are left out: late"]


def test_pairs_with_sequences_and_arrays(read: Callable[..., Any]) -> None:
    pairs = [([1, 2.5], "u"), ((3, 4.0), "v"), (np.array([5, 6]), "u")]
    found = read(pairs, target="label")
    assert found.x.tolist() == [[1, 2.5], [3, 4], [5, 6]]
    assert found.y.tolist() == ["u", "v", "u"]
    assert found.source.feature_names == ["x1", "x2"]
    with pytest.raises(SourceError, match="<iterable>, row 3: x has 3 entries; the first row had 2"):
        list(open_source([*pairs, ([1, 2, 3], "u")]))


def test_pairs_are_read_only_as_far_as_needed() -> None:
    """Fails if the first batch reads an infinite iterable to its end."""
    endless = (([float(i)], float(i)) for i in iter(int, 1))
    assert len(next(open_source(endless))) == 1000


def test_pairs_whose_target_has_the_name_of_an_input() -> None:
    with pytest.raises(SourceError, match=r"x holds the key 'y'.*target="):
        open_source([({"y": 1.0}, 2.0)])


@pytest.mark.parametrize("item", [5, "a", (1, 2, 3)])
def test_items_that_are_not_rows(item: object) -> None:
    with pytest.raises(SourceError):
        open_source(iter([item]))


def test_generators(read: Callable[..., Any]) -> None:
    made = drifting_friedman(n=1500, k=0.1, seed=3)
    found = read("demo:drifting-friedman?n=1500&k=0.1&seed=3")
    assert np.array_equal(found.x, made.X)
    assert np.array_equal(found.y, made.y)
    assert found.source.feature_names == list(made.feature_names)
    assert found.source.n_rows == 1500
    classes = read(moving_target(n=200, seed=0))
    assert classes.source.task_hint == "classification"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("demo:drifting-fridman", "did you mean 'drifting-friedman'"),
        ("demo:friedman?rows=5", "no parameter 'rows'"),
        ("demo:friedman?n=-5", "demo:friedman"),
        ("demo:friedman?n=many", "demo:friedman"),
    ],
)
def test_generators_that_do_not_exist(spec: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        open_source(spec)

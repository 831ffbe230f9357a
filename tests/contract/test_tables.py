"""Tables of every kind give the same model as the plain array, and their column names are remembered."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sapwood import DynamicTreeClassifier, DynamicTreeRegressor, InputError, load
from sapwood._files import to_bytes

NAMES = ["height", "width", "mass"]
TABLES = {
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "pandas nullable": lambda X: pd.DataFrame(X, columns=NAMES).convert_dtypes(),
    "pandas arrow": lambda X: pd.DataFrame(X, columns=NAMES).convert_dtypes(dtype_backend="pyarrow"),
    "pandas object": lambda X: pd.DataFrame(X, columns=NAMES).astype(object),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "arrow": lambda X: pa.table({name: X[:, ix] for ix, name in enumerate(NAMES)}),
}


@pytest.mark.parametrize("kind", TABLES)
def test_every_table_is_the_same_array(kind, regression_data):
    X, y = regression_data
    model = DynamicTreeRegressor(n_particles=20, max_active=30, random_state=0).fit(TABLES[kind](X), y)
    plain = DynamicTreeRegressor(n_particles=20, max_active=30, random_state=0).fit(X, y)
    assert model.feature_names_in_.tolist() == NAMES
    assert not hasattr(plain, "feature_names_in_")
    assert np.array_equal(model.predict(TABLES[kind](X)), plain.predict(X))


@pytest.mark.parametrize("kind", TABLES)
def test_a_model_started_from_one_table_reads_every_other(kind, regression_data):
    X, y = regression_data
    model = DynamicTreeRegressor(n_particles=20, max_active=30, random_state=0).fit(TABLES["pandas"](X), y)
    assert np.array_equal(model.predict(TABLES[kind](X)), model.predict(TABLES["pandas"](X)))


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64"), "b": pd.array([True, None, False], dtype="boolean")}),
        pl.DataFrame({"a": [1, None, 3], "b": [True, None, False]}),
        pa.table({"a": pa.array([1, None, 3]), "b": pa.array([True, None, False])}),
        pd.DataFrame({"a": [1.0, np.nan, 3.0], "b": pd.Series([True, None, False], dtype=object)}),
        [[1, True], [None, None], [3, False]],
    ],
    ids=["pandas", "polars", "arrow", "object", "list"],
)
def test_missing_values_and_booleans_become_numbers(table):
    model = DynamicTreeRegressor(max_active=None, n_particles=5, random_state=0).fit(table, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(model.active_.X, [[1, 1], [np.nan, np.nan], [3, 0]])


def test_an_empty_column_is_missing_everywhere():
    table = pl.DataFrame({"a": [1.0, 2.0], "b": [None, None]})
    model = DynamicTreeRegressor(max_active=None, n_particles=5, random_state=0).fit(table, [1.0, 2.0])
    np.testing.assert_array_equal(model.active_.X, [[1, np.nan], [2, np.nan]])


def test_other_names_are_refused_and_any_order_is_the_same(regression_data, unchanged):
    X, y = regression_data
    table = pd.DataFrame(X, columns=NAMES)
    model = DynamicTreeRegressor(n_particles=20, random_state=0).fit(table, y)
    assert np.array_equal(model.predict(table[["width", "height", "mass"]]), model.predict(table))
    for other in (table.rename(columns={"mass": "weight"}), table[["height"]], table.assign(depth=1.0)):
        with unchanged(model), pytest.raises(InputError, match="feature names"):
            model.partial_fit(other, y)
        with pytest.raises(InputError, match="feature names"):
            model.predict(other)


def test_an_array_after_names_warns_and_works(regression_data):
    X, y = regression_data
    model = DynamicTreeRegressor(n_particles=20, random_state=0).fit(pd.DataFrame(X, columns=NAMES), y)
    with pytest.warns(UserWarning, match="valid feature names"):
        model.predict(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(pd.DataFrame(X, columns=NAMES))


def test_names_are_dropped_by_a_fit_without_them(regression_data):
    X, y = regression_data
    model = DynamicTreeRegressor(n_particles=20, random_state=0).fit(pd.DataFrame(X, columns=NAMES), y)
    assert not hasattr(model.fit(X, y), "feature_names_in_")


def test_names_survive_the_file(regression_data, tmp_path):
    X, y = regression_data
    model = DynamicTreeRegressor(n_particles=20, random_state=0).fit(pd.DataFrame(X, columns=NAMES), y)
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").feature_names_in_.tolist() == NAMES


@pytest.mark.parametrize("as_column", [pd.Series, pl.Series, pa.array, list, lambda y: pd.Series(y, dtype="category")])
def test_labels_from_every_kind_of_column(as_column, class_data):
    X, y = class_data
    model = DynamicTreeClassifier(n_particles=20, random_state=0).fit(X, as_column(y.tolist()))
    plain = DynamicTreeClassifier(n_particles=20, random_state=0).fit(X, y)
    assert model.classes_.tolist() == plain.classes_.tolist()
    assert np.array_equal(model.predict_proba(X), plain.predict_proba(X))


@pytest.mark.parametrize(
    "as_layout",
    [
        np.asfortranarray,
        lambda X: X.astype(np.float32).astype(np.float64)[::1],
        lambda X: np.repeat(X, 2, axis=0)[::2],
        lambda X: X.astype(">f8"),
        lambda X: X.tolist(),
    ],
    ids=["fortran", "rounded", "strided", "big endian", "list"],
)
def test_memory_layout_does_not_matter(as_layout, regression_data):
    X, y = regression_data
    X = X.astype(np.float32).astype(np.float64)
    models = [
        DynamicTreeRegressor(n_particles=20, max_active=30, random_state=0).fit(layout, y)
        for layout in (X, as_layout(X))
    ]
    assert to_bytes(models[0]) == to_bytes(models[1])

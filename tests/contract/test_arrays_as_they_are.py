"""Masked and sparse arrays, tables with a repeated name, and lazy tables: each means something, or is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from sapwood import DynamicTreeClassifier, DynamicTreeRegressor
from sapwood._files import to_bytes
from sapwood.errors import InputError
from sapwood.stream import SourceError, open_source

X = np.random.default_rng(0).normal(size=(60, 2))
Y = X[:, 0] + 1.0


def model() -> DynamicTreeRegressor:
    return DynamicTreeRegressor(n_particles=5, max_active=10, random_state=0)


def test_masked_inputs_are_missing() -> None:
    """They were read as the numbers under the mask."""
    masked = np.ma.masked_greater(X, 0.5)
    missing = np.where(X > 0.5, np.nan, X)
    assert to_bytes(model().fit(masked, Y)) == to_bytes(model().fit(missing, Y))
    learned = model().fit(X, Y)
    np.testing.assert_array_equal(learned.predict(masked), learned.predict(missing))
    np.testing.assert_array_equal(next(open_source((masked, Y))).X, missing)
    assert to_bytes(model().fit(np.ma.masked_array(X), Y)) == to_bytes(model().fit(X, Y))


def test_masked_targets_are_refused() -> None:
    with pytest.raises(InputError, match="row 3 of y is nan"):
        model().fit(X, np.ma.masked_array(Y, np.arange(60) == 3))
    with pytest.raises(InputError):
        DynamicTreeClassifier().fit(X, np.ma.masked_array(np.where(Y > 1, "a", "b"), np.arange(60) == 3))


def test_sparse_arrays_are_refused_with_the_remedy() -> None:
    with pytest.raises(TypeError, match="toarray"):
        model().fit(sparse.csr_matrix(X), Y)
    with pytest.raises(SourceError, match=r"X is sparse, .*; pass X.toarray\(\)"):
        open_source((sparse.csr_matrix(X), Y))


def test_two_columns_of_one_name_are_refused() -> None:
    table = pd.DataFrame(X, columns=["a", "a"])
    with pytest.raises(InputError, match=r"two columns of X are called 'a'\. Rename one\."):
        model().fit(table, Y)
    learned = model().fit(pd.DataFrame(X, columns=["a", "b"]), Y)
    before = to_bytes(learned)
    with pytest.raises(InputError, match="two columns"):
        learned.partial_fit(table, Y)
    assert to_bytes(learned) == before


@pytest.mark.filterwarnings("error")
def test_lazy_tables_are_sources() -> None:
    table = pl.DataFrame({"a": X[:, 0], "y": Y})
    with open_source(table.lazy().filter(pl.col("a") > 0), target="y") as source:
        np.testing.assert_array_equal(next(source).X[:, 0], X[X[:, 0] > 0, 0])

"""Tables with text, categories, booleans, dates, times and gaps: the model carries how they are read."""

from __future__ import annotations

import copy
import datetime as dt
import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sapwood import DynamicTreeClassifier, DynamicTreeRegressor, InputError, load
from sapwood._files import to_bytes
from sapwood._fitted import fitted
from sapwood.stream import evaluate

N = 120


@pytest.fixture
def raw(rng: np.random.Generator) -> pd.DataFrame:
    """A column of every kind; only `where` matters."""
    moments = pd.Timestamp("2024-02-28 22:00") + pd.to_timedelta(rng.integers(0, 10_000, N), unit="min")
    frame = pd.DataFrame(
        {
            "where": rng.choice(["north", "south", "west"], N),
            "size": rng.normal(size=N),
            "open": rng.integers(0, 2, N).astype(bool),
            "when": moments,
            "at": [dt.time(int(h), 30) for h in rng.integers(0, 24, N)],
            "count": rng.integers(0, 9, N),
        }
    )
    frame.loc[[3, 40], "where"] = None
    frame.loc[5, "size"] = np.nan
    frame.loc[7, "when"] = pd.NaT
    return frame


@pytest.fixture
def y(raw: pd.DataFrame) -> np.ndarray:
    return raw["where"].map({"north": 10.0, "south": 50.0, "west": 30.0}).fillna(30.0).to_numpy()


def regressor() -> DynamicTreeRegressor:
    return DynamicTreeRegressor(n_particles=20, max_active=[20, 50], random_state=0)


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    for row in rows:
        if row["when"] is not None:
            row["when"] = row["when"].to_pydatetime()
    return rows


FORMS = {
    "pandas": lambda f: f,
    "pandas categorical": lambda f: f.astype({"where": "category"}),
    "pandas nullable": lambda f: f.convert_dtypes(),
    "pandas arrow": lambda f: f.convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda f: pl.from_pandas(f),
    "polars lazy": lambda f: pl.from_pandas(f).lazy(),
    "arrow table": lambda f: pa.Table.from_pandas(f, preserve_index=False),
    "arrow batch": lambda f: pa.RecordBatch.from_pandas(f, preserve_index=False),
    "dictionaries": records,
    "permuted": lambda f: f[f.columns[::-1]],
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_raw_table_gives_the_same_model(form: str, raw: pd.DataFrame, y: np.ndarray) -> None:
    expected = regressor().fit(raw, y)
    if form != "permuted":  # at the start, the order of the columns is the model's
        assert np.array_equal(regressor().fit(FORMS[form](raw), y).predict(raw), expected.predict(raw))
    assert np.array_equal(expected.predict(FORMS[form](raw)), expected.predict(raw))
    assert to_bytes(expected.partial_fit(FORMS[form](raw), y)) == to_bytes(regressor().fit(raw, y).partial_fit(raw, y))


def test_single_dictionaries_are_rows(raw: pd.DataFrame, y: np.ndarray) -> None:
    """Fails if the fast path of one row reads any value in another way than a table does."""
    model = regressor().fit(raw, y)
    together = model.predict(raw)
    for row, expected in zip(records(raw)[:45], together, strict=False):
        assert model.predict(row)[0] == expected
        texts = {**row, "when": None if row["when"] is None else row["when"].isoformat(), "at": str(row["at"])}
        texts["size"], texts["count"] = str(row["size"]), np.int64(row["count"])
        if row["size"] is not None:
            assert model.predict(texts)[0] == expected
    assert model.predict_dist(records(raw)[0]).mean().shape == (1,)


def test_batches_do_not_matter(raw: pd.DataFrame, y: np.ndarray) -> None:
    """Fails if a category is added for a row that is forecast, or in another order."""
    whole = regressor().fit(raw[:60], y[:60]).partial_fit(raw[60:], y[60:])
    parts = regressor().fit(raw[:60], y[:60])
    for i in range(60, N):
        parts.predict({**records(raw)[i], "where": f"never learned {i}"})
        parts.partial_fit(raw[i : i + 1], y[i : i + 1])
    assert to_bytes(parts) == to_bytes(whole)


def test_an_unseen_category_is_unseen_however_the_rows_arrive(raw: pd.DataFrame, y: np.ndarray) -> None:
    """Fails if forecasting gives codes to new categories: the second of them had another code than the first."""
    model = regressor().fit(raw, y)
    rows = [{**records(raw)[0], "where": where} for where in ("zulu", "yankee")]
    one, other = model.predict(rows)
    assert one == other == model.predict(rows[::-1])[0] == model.predict(rows[1])[0]


def test_nothing_is_derived_anew_from_later_tables(rng: np.random.Generator) -> None:
    """The defect: codes followed the order of appearance in the new table, so that north was forecast as south."""
    truth = {"north": 10.0, "south": 50.0, "west": 30.0}
    frame = pd.DataFrame({"where": rng.choice(list(truth), 300), "size": rng.normal(size=300)})
    model = regressor().fit(frame, frame["where"].map(truth))
    for where, target in reversed(truth.items()):
        assert model.predict(pd.DataFrame({"size": [0.0], "where": [where]}))[0] == pytest.approx(target, abs=2)


def test_the_encoding_survives_files_copies_and_pickles(raw: pd.DataFrame, y: np.ndarray, tmp_path: Any) -> None:
    model = regressor().fit(raw, y)
    model.save(tmp_path / "m")
    for twin in (load(tmp_path / "m"), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(twin.predict(raw), model.predict(raw))
        assert to_bytes(twin) == to_bytes(model)
        assert twin.n_features_in_ == 6
        twin.partial_fit({**records(raw)[0], "where": "east"}, [1.0])
    assert len(fitted(model).encoder.features[0].categories) == 3  # the twins share nothing


def test_classifiers_take_raw_tables(raw: pd.DataFrame) -> None:
    labels = raw["where"].fillna("north").to_numpy()
    model = DynamicTreeClassifier(n_particles=20, max_active=50, random_state=0).fit(raw, labels)
    assert (model.predict(raw) == labels).mean() > 0.9
    assert np.array_equal(model.predict_proba(records(raw)), model.predict_proba(raw))
    with pytest.raises(InputError):
        model.partial_fit(raw.assign(where="east"), [None] * N)
    assert len(fitted(model).encoder.features[0].categories) == 3


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        (lambda f: f.drop(columns="open"), "x-names", "no column 'open'"),
        (lambda f: f.rename(columns={"open": "opened"}), "x-names", "no column 'open'; did you mean 'opened'"),
        (lambda f: f.assign(price=1.0), "x-names", "column 'price', which the model does not know"),
        (lambda f: f.assign(size="large"), "x-value", r"column 'size' of X holds 'large' \(row 0\).*not a number"),
        (lambda f: f.assign(where=1.5), "x-kind", "column 'where' of X has type .*category"),
        (lambda f: f.assign(when=7.0), "x-kind", "column 'when' of X has type .*timestamp"),
        (lambda f: f.assign(size=f["when"]), "x-kind", "column 'size' of X has type .*number"),
        (lambda f: f.assign(size=np.inf), "infinite-input", "infinity.*column 'size'"),
        (lambda f: f.assign(size=1e200), "huge-input", "1e.200 in column 'size'"),
        (lambda f: f.assign(where=[[1]] * len(f)), "x-kind", "column 'where'"),
        (lambda f: f.to_numpy(), "x-unnamed", "where, size, open, when, at, count"),
        (lambda f: f[["size", "count"]].to_numpy(), "x-unnamed", "needs their names"),
    ],
)
def test_other_columns_and_types_are_refused(
    change: Any, code: str, message: str, raw: pd.DataFrame, y: np.ndarray, unchanged: Any
) -> None:
    model = regressor().fit(raw, y)
    for use in (model.predict, lambda X: model.partial_fit(X, y)):
        with unchanged(model), pytest.raises(InputError, match=message) as caught:
            use(change(raw))
        assert caught.value.args[1] == code


def test_refused_targets_leave_no_category_behind(raw: pd.DataFrame, y: np.ndarray, unchanged: Any) -> None:
    model = regressor().fit(raw, y)
    with unchanged(model), pytest.raises(InputError):
        model.partial_fit(raw.assign(where="east"), np.full(N, np.nan))


def test_numbers_alone_are_the_array_they_were(regression_data: Any) -> None:
    """Fails if a table of numbers is learned in any other way than the array in it."""
    X, y = regression_data
    table = regressor().fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    array = regressor().fit(X, y)
    assert fitted(table).model.save(b"") == fitted(array).model.save(b"")


def test_a_table_and_a_stream_of_it_are_encoded_alike(raw: pd.DataFrame, y: np.ndarray) -> None:
    """`evaluate` gives the schema of its source to the model, and reads a further source by that of the model."""
    fitted_model = regressor().fit(raw, y)
    streamed = evaluate(regressor(), raw.assign(y=y), target="y", lags=None).model
    assert np.array_equal(streamed.predict(raw), fitted_model.predict(raw))
    other = raw.sort_values("where", ascending=False)
    evaluate(streamed, other[other.columns[::-1]].assign(y=y), target="y")
    assert fitted(streamed).encoder.features[0].categories == fitted(fitted_model).encoder.features[0].categories
    assert np.array_equal(streamed.predict(raw), fitted_model.partial_fit(other, y).predict(raw))

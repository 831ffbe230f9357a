"""Encoding columns: numbers, words, dates, missing values, and the target."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sapwood.encoding import features
from sapwood.stream import SourceError, open_source


@pytest.mark.parametrize("gap", ["", "NA", "N/A", "nan", "NaN", "null", "NULL", "?", " ", "None"])
def test_spellings_of_a_missing_number(gap: str, read: Callable[..., Any], csv: Callable[..., Path]) -> None:
    found = read(csv(f"x,z,y\n1,1,1\n{gap},2,2\n3,3,3\n"), target="y")
    assert np.isnan(found.x[1, 0])
    assert found.x[[0, 2], 0].tolist() == [1, 3]


def test_a_missing_category_is_nan_and_takes_no_code(read: Callable[..., Any], csv: Callable[..., Path]) -> None:
    x = read(csv("w,y\n?,1\nb,2\n,3\na,4\nNA,5\n"), target="y").x.ravel()
    assert np.isnan(x[[0, 2, 4]]).all()
    assert x[[1, 3]].tolist() == [0, 1]


def test_new_categories_take_the_next_code_at_any_time(read: Callable[..., Any], csv: Callable[..., Path]) -> None:
    words = ["a", "b"] * 1000 + ["c", "a", "d", "c"]
    found = read(csv("w,y\n" + "".join(f"{w},{i}\n" for i, w in enumerate(words))), target="y", batch_rows=300)
    assert found.x.shape == (2004, 1)
    assert found.x[-4:].ravel().tolist() == [2, 0, 3, 2]


def test_memory_for_categories_is_bounded(read: Callable[..., Any], csv: Callable[..., Path]) -> None:
    n = features.MAX_CATEGORIES + 100
    found = read(csv("w,y\n" + "".join(f"id{i},{i}\n" for i in range(n))), target="y")
    assert found.x[:, 0].tolist() == [min(i, features.MAX_CATEGORIES) for i in range(n)]
    assert "more than 4096 categories" in found.source.notes[0]


def test_numbers_declared_categorical(read: Callable[..., Any], csv: Callable[..., Path], tmp_path: Path) -> None:
    from_text = read(csv("month,y\n12,1\n1,2\n12.0,3\n"), target="y", categorical=["month"])
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"month": [12.0, 1.0, 12.0], "y": [1, 2, 3]}), path)
    from_numbers = read(path, target="y", categorical=["month"])
    assert from_text.x.ravel().tolist() == from_numbers.x.ravel().tolist() == [0, 1, 0]


def test_one_typo_does_not_turn_numbers_into_categories(csv: Callable[..., Path]) -> None:
    """Fails if a column is numeric only when all of its values are numbers."""
    path = csv("x,y\n" + "".join(f"{i},1\n" for i in range(50)) + "5O,1\n" + "7,1\n" * 10)
    with pytest.raises(SourceError, match=r"line 52: column 'x' is not a number \('5O'\); .*categorical"):
        list(open_source(path, target="y"))


@pytest.mark.parametrize(("odd", "share"), [("x", "4 of its first 5"), ("x\nlow\nx", "4 of its first 7")])
def test_categories_that_are_mostly_numbers_are_noted(
    odd: str, share: str, read: Callable[..., Any], csv: Callable[..., Path]
) -> None:
    """Fails if a column with a few words among numbers silently becomes categorical."""
    words = ["1", "2", *odd.split("\n"), "4", "?", "5"]
    path = csv("a,w,y\n" + "".join(f"{word},c{i},{i}.5\n" for i, word in enumerate(words)))
    source = read(path, target="y").source
    assert len(source.notes) == 1
    assert f"column 'a' is read as categories, although {share} values are numbers" in source.notes[0]
    assert "'x'" in source.notes[0]
    assert read(path, target="y", categorical=["a"]).source.notes == []
    with pytest.raises(SourceError, match="holds text such as 'x'"):
        list(open_source(path, target="a", task="regression"))
    as_target = read(csv("x,y\n" + "".join(f"{i},{word}\n" for i, word in enumerate(words) if word != "?")), target="y")
    assert f"the target 'y' is read as categories, although {share}" in as_target.source.notes[0]


def test_few_numbers_among_words_are_not_noted(read: Callable[..., Any], csv: Callable[..., Path]) -> None:
    assert read(csv("w,y\nA4,1\nB5,2\n7,3\nC8,4\n9,5\n"), target="y").source.notes == []


def test_timestamps_become_days_hour_weekday_and_yearday(read: Callable[..., Any], csv: Callable[..., Path]) -> None:
    moments = ["2024-02-29T18:30:00", "2024-12-31 06:00", "1969-12-28T12:00:00", ""]
    found = read(csv("t,y\n" + "".join(f"{m},1.5\n" for m in moments)), target="y")
    assert found.source.feature_names == ["t.days", "t.hour", "t.weekday", "t.yearday"]
    origin = dt.datetime.fromisoformat(moments[0])
    for row, text in zip(found.x, moments[:3], strict=False):
        moment = dt.datetime.fromisoformat(text)
        expected = [
            (moment - origin) / dt.timedelta(days=1),
            moment.hour + moment.minute / 60,
            moment.weekday(),
            moment.timetuple().tm_yday,
        ]
        assert row.tolist() == expected
    assert np.isnan(found.x[3]).all()


def test_dates_have_no_hour_and_zones_are_utc(read: Callable[..., Any], csv: Callable[..., Path]) -> None:
    dates = read(csv("t,y\n2024-01-01,1.5\n2024-01-03,2\n"), target="y")
    assert dates.source.feature_names == ["t.days", "t.weekday", "t.yearday"]
    assert dates.x.tolist() == [[0, 0, 1], [2, 2, 3]]
    zoned = read(csv("t,y\n2024-01-01T01:00:00+02:00,1.5\n2024-01-01T00:00:00Z,2\n"), target="y")
    assert zoned.x.tolist() == [[0, 23, 6, 365], [1 / 24, 0, 0, 1]]
    mixed = read(csv("t,y\n2024/01/01,1.5\n2024-01-01T06:00:00Z,2\n"), target="y")
    assert mixed.x[:, 0].tolist() == [0, 0.25]


def test_times_of_day_and_durations(read: Callable[..., Any], tmp_path: Path) -> None:
    table = pa.table(
        {
            "clock": [dt.time(13, 30), None],
            "took": [dt.timedelta(seconds=90), None],
            "price": pa.array([1, 2]).cast(pa.decimal128(21, 2)),
            "y": [1.5, 2.5],
        }
    )
    pq.write_table(table, tmp_path / "rows.parquet")
    found = read(tmp_path / "rows.parquet", target="y")
    assert found.source.feature_names == ["clock.hour", "took", "price"]
    assert found.x[0].tolist() == [13.5, 90, 1]
    assert np.isnan(found.x[1, :2]).all()


def test_integers_beyond_double_precision_are_noted(read: Callable[..., Any], csv: Callable[..., Path]) -> None:
    text = read(csv("id,y\n9007199254740993,1\n"), target="y")
    arrays = read((np.array([[2**53 + 1]]), np.array([1.0])))
    for found in (text, arrays):
        assert "2**53 or beyond" in found.source.notes[0]
    assert read(csv("x,y\n1e40,1\n"), target="y").source.notes == []


def test_a_nested_column_is_refused_by_name(tmp_path: Path) -> None:
    pq.write_table(pa.table({"tags": [[1, 2]], "x": [1], "y": [1]}), tmp_path / "rows.parquet")
    with pytest.raises(SourceError, match=r"column 'tags' has type list.*drop it"):
        open_source(tmp_path / "rows.parquet", target="y")
    assert open_source(tmp_path / "rows.parquet", target="y", drop=["tags"]).feature_names == ["x"]


@pytest.mark.parametrize(
    ("values", "task", "hint", "dtype", "first"),
    [
        (["UP", "DOWN"], None, "classification", "<U4", "UP"),
        (["true", "False"], None, "classification", "bool", True),
        (["true", "False"], "regression", "classification", "float64", 1.0),
        (["0", "1"], None, "classification", "float64", 0.0),
        (["2", "1"], "classification", "classification", "int64", 2),
        (["0.5", "1.5"], "classification", "regression", "float64", 0.5),
        ([str(i) for i in range(40)], None, "regression", "float64", 0.0),
        ([str(i % 24) for i in range(480)], None, "classification", "float64", 0.0),
        ([str(i % 40) for i in range(800)], None, "regression", "float64", 0.0),
    ],
)
def test_targets_and_task_hints(
    values: list[str], task: Any, hint: str, dtype: str, first: Any, read: Callable[..., Any], csv: Callable[..., Path]
) -> None:
    found = read(csv("x,y\n" + "".join(f"1,{v}\n" for v in values)), target="y", task=task)
    assert found.source.task_hint == hint
    assert found.y.dtype == dtype
    assert found.y[0] == first


def test_text_cannot_be_a_regression_target(csv: Callable[..., Path]) -> None:
    with pytest.raises(SourceError, match=r"'y' holds text such as 'UP'.*classification"):
        open_source(csv("x,y\n1,UP\n"), target="y", task="regression")


def test_a_wrong_target_lists_the_columns_and_the_nearest(csv: Callable[..., Path]) -> None:
    with pytest.raises(SourceError, match=r"rows\.csv has no column 'pirce'.*: size, price; did you mean 'price'\?"):
        open_source(csv("size,price\n1,2\n"), target="pirce")
    for role in ("drop", "categorical"):
        with pytest.raises(SourceError, match=r"no column 'Size'.*did you mean 'size'"):
            open_source(csv("size,price\n1,2\n"), target="price", **{role: ["Size"]})


def test_without_a_target_there_is_no_y(csv: Callable[..., Path]) -> None:
    source = open_source(csv("a,b\n1,2\n"))
    assert source.target is None
    assert source.task_hint is None
    assert next(source).y is None


def test_a_schema_makes_another_file_encode_the_same(read: Callable[..., Any], csv: Callable[..., Path]) -> None:
    """As when a saved model predicts: another column order, no target, categories in another order, and new ones."""
    schema = read(csv("w,t,x,y\nb,2024-01-01,1,1\na,2024-01-02,2,2\n"), target="y").source.state()["schema"]
    schema = json.loads(json.dumps(schema))
    found = read(csv("extra,x,w,t\n0,3,a,2024-01-03\n0,4,new,2024-01-01\n", "other.csv"), schema=schema)
    assert found.source.feature_names == ["w", "t.days", "t.weekday", "t.yearday", "x"]
    assert found.x.tolist() == [[1, 2, 2, 3, 3], [2, 0, 0, 1, 4]]
    assert found.y is None
    with pytest.raises(SourceError, match="no column 'x'"):
        open_source(csv("w,t\na,2024-01-01\n", "third.csv"), schema=schema)
    with pytest.raises(SourceError, match="made with the target 'y'"):
        open_source(csv("w,t,x,z\na,2024-01-01,1,1\n", "third.csv"), schema=schema, target="z")


def test_types_can_be_set(read: Callable[..., Any]) -> None:
    """The first row shows none of them."""
    rows = [
        {"when": "", "size": "small", "code": 7, "y": "3"},
        {"when": "2024-01-02", "size": "12", "code": 8, "y": "4"},
    ]
    types = {"when": "timestamp", "size": "category", "code": "category", "y": "category"}
    found = read(rows, target="y", types=types)
    assert [name.partition(".")[0] for name in found.source.feature_names][-3:] == ["when", "size", "code"]
    np.testing.assert_array_equal(found.x[:, -2:], [[0, 0], [1, 1]])
    assert found.y is not None
    assert found.y.tolist() == ["3", "4"]
    with pytest.raises(SourceError, match=r"has no column 'sise' \(in types\).*did you mean 'size'"):
        read(rows, target="y", types={"sise": "category"})
    with pytest.raises(SourceError, match="types says that column 'size' is a 'word'; choose from number, boolean"):
        read(rows, target="y", types={"size": "word"})

"""Numbers and missing values as files write them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sapwood import DynamicTreeRegressor
from sapwood.stream import SourceError, evaluate, open_source

Read = Callable[..., Any]


def column(*values: str) -> str:
    """A CSV file with a column that is quoted where necessary, and a plain target."""
    cells = [f'"{value}"' if "," in value else value for value in values]
    return "x,y\n" + "".join(f"{cell},{i % 7}.5\n" for i, cell in enumerate(cells))


@pytest.mark.parametrize(
    ("written", "numbers", "note"),
    [
        (["1,5", "22,25", "-3,125"], [1.5, 22.25, -3.125], "decimal commas"),
        (["1.234,56", "7,5", "12.345.678,9"], [1234.56, 7.5, 12345678.9], "decimal commas"),
        (["1 234,56", "7,5"], [1234.56, 7.5], "decimal commas"),
        (["1,234.56", "7.5", "12,345,678.9"], [1234.56, 7.5, 12345678.9], "separators, 1,234.56"),
        (["1,234,567", "12,345"], [1234567, 12345], "separators, 1,234.56"),
        (["1'234.56", "7.5"], [1234.56, 7.5], "separators"),
        (["1\u202f234", "7"], [1234, 7], None),
        (["12.3%", "4 %", "-0.5%"], [12.3, 4, -0.5], "without their per cent sign"),
        (["12,3%", "4%"], [12.3, 4], "decimal commas"),
        (["0,123", "0,456"], [0.123, 0.456], "decimal commas"),
        (["1234", "1,234", "5,678"], [1234, 1.234, 5.678], "decimal commas"),
        (["1e3", "2.5", "3"], [1000, 2.5, 3], None),
    ],
)
def test_columns_of_numbers(
    written: list[str], numbers: list[float], note: str | None, csv: Callable[..., Path], read: Read
) -> None:
    found = read(csv(column(*written)), target="y")
    np.testing.assert_array_equal(found.x[:, 0], numbers)
    if note is not None:
        assert note in " ".join(found.source.notes)


@pytest.mark.parametrize(
    "written",
    [["1.2.2024", "3.2.2024"], ["192.168.1.1", "10.0.0.1"], ["a,b", "c,d"], ["1,2,3", "4,5"], ["12:30,5", "x"]],
)
def test_other_text_stays_text(written: list[str], csv: Callable[..., Path], read: Read) -> None:
    found = read(csv(column(*written)), target="y")
    np.testing.assert_array_equal(found.x[:, 0], [0, 1])
    assert found.source.notes == []


def test_a_target_with_decimal_commas_is_a_quantity(csv: Callable[..., Path]) -> None:
    """It was learned as a classification with thousands of classes, and nothing was said."""
    text = "x;y\n" + "".join(f"{i};{i % 97},{i % 10}\n" for i in range(300))
    with open_source(csv(text), target="y") as source:
        assert source.task_hint == "regression"
        batch = next(source)
        assert batch.y is not None
        assert batch.y.dtype == np.float64
        assert batch.y[12] == 12.2
        assert any("decimal commas" in note and "'y'" in note for note in source.notes)


def test_other_columns_tell_what_one_column_leaves_open(csv: Callable[..., Path], read: Read) -> None:
    """1,234 may be either, and 1.234 too; beside a column that certainly has decimal commas, both are continental."""
    text = "a;b;c;y\n" + "".join(f"1,{i % 900 + 100};1.{i % 900 + 100};0,5;1\n" for i in range(50))
    found = read(csv(text), target="y")
    assert found.x[7].tolist() == [1.107, 1107.0, 0.5]
    alone = read(csv("a;c;y\n" + "".join(f"1,{i % 900 + 100};0.5;1\n" for i in range(50)), "alone.csv"), target="y")
    assert alone.x[7].tolist() == [1107.0, 0.5]
    assert "set decimal= if that is wrong" in " ".join(alone.source.notes)


def test_what_is_found_can_be_set(csv: Callable[..., Path], read: Read) -> None:
    path = csv(column("1,234", "5,678"))
    assert read(path, target="y", decimal=",").x[:, 0].tolist() == [1.234, 5.678]
    assert read(path, target="y", decimal=".").x[:, 0].tolist() == [1234, 5678]
    assert read(path, target="y", thousands="'").x[:, 0].tolist() == [1.234, 5.678]
    assert read(path, target="y", categorical=["x"]).x[:, 0].tolist() == [0, 1]
    points = csv(column("1.234", "5.678"), "points.csv")
    assert read(points, target="y").x[:, 0].tolist() == [1.234, 5.678]
    with open_source(points, decimal=",", drop=["y"]) as source:
        assert next(source).X[:, 0].tolist() == [1234, 5678]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"decimal": ";"}, "decimal is ';'; it must be '.' or ','"),
        ({"thousands": "ab"}, "thousands is 'ab'"),
        ({"decimal": ",", "thousands": ","}, "both ','"),
    ],
)
def test_options_that_cannot_be(options: dict[str, str], said: str, csv: Callable[..., Path]) -> None:
    with pytest.raises(SourceError, match=said):
        open_source(csv(column("1")), target="y", **options)


def test_markers_of_missing_values(csv: Callable[..., Path], read: Read) -> None:
    found = read(csv(column("1", "-", "2.5", "n.a.", "Missing", "-")), target="y")
    np.testing.assert_array_equal(found.x[:, 0], [1, np.nan, 2.5, np.nan, np.nan, np.nan])
    assert "'-', 'missing', 'n.a.' is read as a missing one" in " ".join(found.source.notes)
    words = read(csv(column("-", "red", "-"), "words.csv"), target="y")
    np.testing.assert_array_equal(words.x[:, 0], [0, 1, 0])
    given = read(csv(column("-999", "red", "-"), "given.csv"), target="y", na_values=["-999", "-"])
    np.testing.assert_array_equal(given.x[:, 0], [np.nan, 0, np.nan])


def test_columns_of_no_use_are_noted(csv: Callable[..., Path], read: Read) -> None:
    lines = "".join(f"order {i},7,red,{i},,{i % 5}.5\n" for i in range(60))
    path = csv("id,same,colour,count,empty,y\n" + lines)
    notes = read(path, target="y").source.notes
    assert notes == [
        "columns 'same', 'colour', 'empty': the same in all of the first 60 rows, which teaches nothing",
        "column 'id': another text in each of the first 60 rows; drop what is only an identifier",
    ]
    assert read(path, target="y", drop=["id", "same", "colour", "empty"]).source.notes == []


def test_labels_are_not_markers(csv: Callable[..., Path], read: Read) -> None:
    found = read(csv("x,y\n" + "1,0\n2,1\n" * 20 + "3,unknown\n"), target="y", on_bad_row="skip")
    assert found.source.bad_reasons == {"unreadable target": 1}


def test_tables_hold_such_text_too(read: Read) -> None:
    table = pd.DataFrame(
        {"x": pd.Series(["1,5", "2,5", None]), "g": pd.Categorical(["1,5", "7,5", "1,5"]), "y": [1.0, 2.0, 3.0]}
    )
    found = read(table, target="y")
    np.testing.assert_array_equal(found.x, [[1.5, 1.5], [2.5, 7.5], [np.nan, 1.5]])


def test_the_style_is_that_of_the_first_rows(csv: Callable[..., Path]) -> None:
    """Whatever comes later, and for a resumed run; what does not fit is a bad row."""
    text = column(*["1,5"] * 1500, "1.234,5", "1.5.6")
    path = csv(text)
    with open_source(path, target="y", on_bad_row="skip") as source:
        first = next(source)
        state = json.loads(json.dumps(source.state()))
        rest = next(source)
    assert set(first.X[:, 0]) == {1.5}
    assert rest.X[-1, 0] == 1234.5
    assert len(rest) == 501
    with open_source(path, target="y", on_bad_row="skip", resume=state) as source:
        np.testing.assert_array_equal(next(source).X, rest.X)
    for styles in ({"x": [";", ".", False, []]}, {"x": 5}, {"x": [",", "..", False, []]}):
        crafted = {**state, "dialect": {"styles": styles, "na_values": []}}
        with pytest.raises(SourceError, match="cannot be used"):
            open_source(path, target="y", resume=crafted)


def test_a_model_that_knows_a_column_as_text_is_not_shown_numbers(csv: Callable[..., Path]) -> None:
    table = pd.DataFrame({"x": ["1,5", "2,5"] * 20})
    model = DynamicTreeRegressor(n_particles=5, max_active=10, random_state=0).fit(table, np.arange(40.0))
    path = csv(column(*["1,5", "2,5"] * 20))
    with pytest.raises(SourceError, match="column 'x' is read as numbers, but the model knows it as a category"):
        evaluate(model, path, ["rmse"], target="y")
    assert model.n_seen_ == 40
    evaluate(model, path, ["rmse"], target="y", source_options={"types": {"x": "category"}})
    assert model.n_seen_ == 80


def test_a_schema_from_elsewhere_reads_the_same_numbers(csv: Callable[..., Path]) -> None:
    """A model that was learned from one file reads another one, which is written otherwise, alike."""
    with open_source(csv(column("1234.5", "6.5")), target="y") as source:
        schema = source.state()["schema"]
    with open_source(csv(column("1.234,5", "6,5"), "other.csv"), schema=schema) as source:
        assert next(source).X[:, 0].tolist() == [1234.5, 6.5]

"""``sapwood predict`` and ``sapwood inspect``."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sapwood as package

from .conftest import NUMBERS, SMALL

Run = Callable[..., Any]


@pytest.fixture
def model(sapwood: Run, rows: Path) -> Path:
    """A model of rows.csv."""
    assert sapwood("learn", "rows.csv", "-t", "y", "--save", "m.sap", "--lags", "0", "-q", *NUMBERS).returncode == 0
    return rows.with_name("m.sap")


def test_predictions_are_those_of_the_model(sapwood: Run, rows: Path, model: Path) -> None:
    """Colours are encoded as they were in learning, whichever comes first in the new file."""
    lines = rows.read_text().splitlines()
    rows.with_name("new.csv").write_text("\n".join([lines[0], lines[2], lines[1], lines[3]]) + "\n")
    ran = sapwood("predict", "m.sap", "new.csv", "--quantiles", "0.1,0.9")
    assert ran.returncode == 0, ran.stderr
    said = list(csv.DictReader(ran.stdout.splitlines()))
    assert list(said[0]) == ["row", "mean", "std", "q0.1", "q0.9"]
    table = list(csv.DictReader(lines))
    d = package.load(model).predict_dist([table[1], table[0], table[2]])
    np.testing.assert_array_equal([float(row["mean"]) for row in said], d.mean())
    np.testing.assert_array_equal([float(row["q0.9"]) for row in said], d.ppf(0.9))


def test_the_target_need_not_be_there_and_columns_may_be_anywhere(sapwood: Run, rows: Path, model: Path) -> None:
    table = list(csv.DictReader(rows.read_text().splitlines()))[:5]
    text = "extra,colour,b,a\n" + "".join(f"0,{r['colour']},{r['b']},{r['a']}\n" for r in table)
    piped = sapwood("predict", "m.sap", "-", stdin=text.encode())
    whole = sapwood("predict", "m.sap", "rows.csv", "--max-rows", "5")
    assert piped.returncode == 0, piped.stderr
    assert piped.stdout == whole.stdout


def test_classes_and_parquet(sapwood: Run, rows: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    assert sapwood("learn", "rows.csv", "-t", "colour", "--save", "c.sap", "-q", *SMALL).returncode == 0
    ran = sapwood("predict", "c.sap", "rows.csv", "--predictions", "p.parquet", "--json")
    assert json.loads(ran.stdout)["rows"] == 300
    table = parquet.read_table(rows.with_name("p.parquet"))
    assert table.column_names == ["row", "prediction", "p_blue", "p_red"]
    sums = table.column("p_blue").to_numpy() + table.column("p_red").to_numpy()
    np.testing.assert_allclose(sums, 1.0)
    assert not rows.with_name("p.parquet.part").exists()


def test_a_model_that_python_saved_can_predict_too(sapwood: Run, rows: Path) -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.read_csv(rows)
    package.DynamicTreeRegressor(random_state=0).fit(table[["b", "a"]], table["y"]).save(rows.with_name("py.sap"))
    by_name = sapwood("predict", "py.sap", "rows.csv", "--max-rows", "2")
    assert by_name.returncode == 0, by_name.stderr
    package.DynamicTreeRegressor(random_state=0).fit(table[["b", "a"]].to_numpy(), table["y"]).save(
        rows.with_name("array.sap")
    )
    ran = sapwood("predict", "array.sap", "rows.csv", "--max-rows", "2")
    assert ran.returncode == 1
    assert "give these, in this order" in ran.stderr
    table[["b", "a"]].to_csv(rows.with_name("swapped.csv"), index=False)
    assert sapwood("predict", "array.sap", "swapped.csv", "--max-rows", "2").stdout == by_name.stdout


def test_a_column_that_is_missing_is_named(sapwood: Run, rows: Path, model: Path) -> None:
    rows.with_name("less.csv").write_text("a,b\n1,2\n")
    ran = sapwood("predict", "m.sap", "less.csv")
    assert ran.returncode == 1
    assert ran.stderr.startswith("error: less.csv has no column 'colour'")


def test_inspect_tells_people_and_machines(sapwood: Run, model: Path) -> None:
    told = json.loads(sapwood("inspect", "m.sap", "--json").stdout)
    assert (told["task"], told["target"], told["rows_learned"]) == ("regression", "y", 300)
    assert told["inputs"] == ["a", "b", "colour"]
    assert len(told["bank"]) == 1
    assert set(told["relevance"]) == {"a", "b", "colour", "score"}
    shown = sapwood("inspect", "m.sap", "--tree").stdout
    assert "regression of 'y', 300 rows learned" in shown
    assert "The bank" in shown
    assert "one tree" in shown


@pytest.mark.parametrize("command", [("inspect", "m.sap"), ("predict", "m.sap", "rows.csv")])
@pytest.mark.parametrize("content", [b"", b"garbage" * 100])
def test_a_file_that_is_no_model_is_one_line(
    command: tuple[str, ...], content: bytes, sapwood: Run, rows: Path
) -> None:
    rows.with_name("m.sap").write_bytes(content)
    ran = sapwood(*command)
    assert ran.returncode == 1
    assert ran.stderr.startswith("error: ")
    assert len(ran.stderr.splitlines()) == 1
    assert "m.sap" in ran.stderr

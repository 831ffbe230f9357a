"""What is trained is what is deployed: from the command line to a file, to Python or river, to a file, and back."""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sapwood as package

Run = Callable[..., Any]
SMALL = ["--particles", "20", "--max-active", "50,200", "--lags", "0", "-q"]
N_LEARNED, N_NEW = 700, 150


@pytest.fixture(params=["taxi_minutes", "adult_income", "made up"])
def rows(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Raw rows in learn.csv and new.csv, and the latter with its columns in another order in permuted.csv."""
    if request.param == "made up":
        header, *table = _made_up()
    else:
        path = Path(os.environ.get("SAPWOOD_DATA", "/nowhere")) / f"{request.param}.csv.gz"
        if not path.exists():
            pytest.skip(f"{request.param}.csv.gz is not in the folder $SAPWOOD_DATA")
        with gzip.open(path, "rt") as file:
            header, *table = [row for row, _ in zip(csv.reader(file), range(N_LEARNED + N_NEW + 1), strict=False)]
    new = table[N_LEARNED:]
    new[0] = ["brand new" if cell.isalpha() and cell not in ("true", "false") else cell for cell in new[0][:-1]] + new[
        0
    ][-1:]
    _write(tmp_path / "learn.csv", header, table[:N_LEARNED])
    _write(tmp_path / "new.csv", header, new)
    order = np.random.default_rng(1).permutation(len(header))
    _write(tmp_path / "permuted.csv", [header[i] for i in order], [[row[i] for i in order] for row in new])
    return tmp_path


def _made_up() -> list[list[str]]:
    rng = np.random.default_rng(0)
    table = [["when", "where", "size", "open", "y"]]
    for i in range(N_LEARNED + N_NEW):
        where = str(rng.choice(["north", "south", "west", "?"]))
        size = "" if i % 50 == 3 else f"{rng.normal():.3f}"
        effect = {"north": 10.0, "south": 50.0}.get(where, 30.0)
        when = f"2024-03-{1 + i // 40:02d}T{i % 24:02d}:30:00"
        table.append([when, where, size, str(rng.choice(["true", "false"])), f"{effect + rng.normal():.2f}"])
    return table


def _write(path: Path, header: list[str], rows: list[list[str]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def test_every_way_gives_the_same_forecasts_to_the_byte(sapwood: Run, rows: Path) -> None:
    """Fails if anything but the model file says how a column is read: the codes of categories, an origin of dates."""
    ran = sapwood("learn", "learn.csv", "-t", "y", "--save", "m.sap", *SMALL)
    assert ran.returncode == 0, ran.stderr
    expected = sapwood("predict", "m.sap", "new.csv")
    assert expected.returncode == 0, expected.stderr
    assert sapwood("predict", "m.sap", "permuted.csv").stdout == expected.stdout

    model = package.load(rows / "m.sap")
    forecasts = _forecasts(model, pd.read_csv(rows / "new.csv", dtype=str))
    assert _told(expected.stdout) == forecasts
    model.save(rows / "again.sap")
    assert (rows / "again.sap").read_bytes() == (rows / "m.sap").read_bytes()
    for name in ("new.csv", "permuted.csv"):
        typed, text = pd.read_csv(rows / name), pd.read_csv(rows / name, dtype=str)
        for table in (typed, text, text.to_dict("records")):
            assert _forecasts(model, table) == forecasts
        one_by_one = [_forecasts(model, row)[0] for row in text.to_dict("records")]
        assert one_by_one == forecasts


def test_river_goes_there_and_back(sapwood: Run, rows: Path) -> None:
    river = pytest.importorskip("sapwood.river", reason="river is not installed")
    assert sapwood("learn", "learn.csv", "-t", "y", "--save", "m.sap", *SMALL).returncode == 0
    model = package.load(rows / "m.sap")
    adapter = river.DynamicTreeRegressor if "mean" in _header(sapwood) else river.DynamicTreeClassifier
    wrapped = adapter.from_estimator(package.load(rows / "m.sap"))
    new = pd.read_csv(rows / "new.csv", dtype=str)
    inputs = [{name: cell for name, cell in row.items() if name != "y"} for row in new.to_dict("records")]
    for row, target in zip(inputs, new["y"], strict=True):
        wrapped.learn_one(row, float(target) if adapter is river.DynamicTreeRegressor else target)
    wrapped.estimator.save(rows / "river.sap")
    target = new["y"].astype(float) if adapter is river.DynamicTreeRegressor else new["y"]
    for row, y in zip(inputs, target, strict=True):
        model.partial_fit([row], [y])
    model.save(rows / "python.sap")
    told = sapwood("predict", "river.sap", "permuted.csv").stdout
    assert told == sapwood("predict", "python.sap", "new.csv").stdout
    assert told != sapwood("predict", "m.sap", "new.csv").stdout


def _header(sapwood: Run) -> list[str]:
    return sapwood("predict", "m.sap", "new.csv", "--max-rows", "1").stdout.splitlines()[0].split(",")


def _told(text: str) -> list[tuple[Any, ...]]:
    """The forecasts that the command line printed, as numbers."""
    rows = list(csv.DictReader(text.splitlines()))
    if "mean" in rows[0]:
        return [(float(row["mean"]), float(row["std"])) for row in rows]
    return [tuple(float(row[name]) for name in row if name.startswith("p_")) for row in rows]


def _forecasts(model: Any, table: Any) -> list[tuple[Any, ...]]:
    if isinstance(model, package.DynamicTreeRegressor):
        return list(zip(*(part.tolist() for part in model.predict(table, return_std=True)), strict=True))
    return [tuple(row) for row in model.predict_proba(table).tolist()]

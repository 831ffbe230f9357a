"""Rows at any distance: the benchmark at one origin, and what its stored results claim."""

from __future__ import annotations

import json

import pytest
from benchmarks.quality import distance
from benchmarks.quality.problems import data_folder


def test_the_command_line_predicts_bike_hour_500_rows_ahead() -> None:
    """Learned, saved and predicted with the defaults. With the stale target 44 % were covered, without a warning."""
    if not (data_folder() / "bike_hour.csv.gz").is_file():
        pytest.skip("bike_hour.csv.gz is not in the data folder; set SAPWOOD_DATA")
    ways = {result["forecast"]: result for result in distance.run("bike_hour", 11000)}
    assert ways["stale target"]["coverage90"] < 0.6
    assert 0.80 <= ways["predict"]["coverage90"] <= 0.97
    assert ways["predict"]["rmse"] <= 1.05 * ways["predict, lags=0"]["rmse"]


def test_the_stored_results_hold_at_every_origin() -> None:
    stored = json.loads(distance.RESULTS.read_text(encoding="utf-8"))["results"]
    ways = {(r["stream"], r["origin"], r["forecast"]): r for r in stored}
    for stream, origins in distance.ORIGINS.items():
        for origin in origins:
            ours, without = (ways[stream, origin, what] for what in ("predict", "predict, lags=0"))
            assert ours["rmse"] <= 1.05 * without["rmse"]
            if stream == "bike_hour":
                assert 0.80 <= ours["coverage90"] <= 0.97

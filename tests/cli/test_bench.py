"""``sapwood bench``: that it runs and what it tells; how fast anything is, is not tested."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

Run = Callable[..., Any]


def test_every_method_has_a_rate_a_ratio_and_a_score(sapwood: Run) -> None:
    ran = sapwood("bench", "--rows", "100", "--json")
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    assert set(told) == {"drifting-friedman", "moving-target"}
    for metric, lines in zip(("rmse", "brier"), told.values(), strict=True):
        names = [line["method"] for line in lines]
        assert names[0] == "Sapwood"
        assert ("river ARF(10)" in names) == (find_spec("river") is not None)
        assert lines[0]["sapwood_times_as_fast"] == 1.0
        assert all(line["rows_per_second"] > 0 and line[metric] > 0 for line in lines)


def test_the_table_names_streams_and_scores(sapwood: Run) -> None:
    ran = sapwood("bench", "--rows", "100")
    assert ran.returncode == 0, ran.stderr
    for word in ("drifting-friedman, 100 rows", "moving-target", "Sapwood, times as fast", "rmse", "brier"):
        assert word in ran.stdout

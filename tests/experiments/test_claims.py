"""Verdicts."""

from __future__ import annotations

import pytest

from sapwood.reproduce._claims import Claim, improvement, number, statement


@pytest.mark.parametrize(
    ("ours", "defaults", "verdict"),
    [
        (1.05, None, "reproduced"),
        (0.80, None, "better"),
        (1.20, None, "not reproduced"),
        (1.20, 0.80, "not reproduced; better with defaults"),
        (1.05, 0.80, "reproduced; better with defaults"),
        (0.80, 0.70, "better"),
        (None, 0.80, "better"),
    ],
)
def test_verdict_on_a_number(ours: float | None, defaults: float | None, verdict: str) -> None:
    assert _rmse(ours, defaults).verdict == verdict


def _rmse(ours: float | None, defaults: float | None) -> Claim:
    return number("fig.", "RMSE", 1.0, ours, defaults, better="lower", tolerance=0.1, why="because")


def test_the_paper_s_band_counts_as_reproduced() -> None:
    claim = number("fig.", "RMSE", (1.0, 0.8, 1.4), 1.3, better="lower", tolerance=0.1)
    assert claim.verdict == "reproduced"
    assert claim.paper == "1.000 (0.800 to 1.400)"


def test_a_number_without_a_better_side_is_never_better() -> None:
    assert number("fig.", "leaves", 4.0, 2.0, better=None, tolerance=1.0).verdict == "not reproduced"


def test_a_reason_is_given_only_where_it_is_needed() -> None:
    assert _rmse(1.2, None).why == "because"
    assert _rmse(0.8, None).why == ""
    assert statement("text", "order", "a > b", "b > a", holds=False, why="because").why == "because"
    assert improvement("ours", "a", "b", holds=False, why="because").verdict == "not better"

"""The first cases of every attack, and those that broke something."""

from __future__ import annotations

import io
from typing import Any

import pytest
from benchmarks.reliability import checkpoints, csv_files, page, store, tables

from sapwood.stream import SourceError, open_source

ONCE_BROKEN: dict[Any, tuple[int, ...]] = {
    tables: (5, 338, 636),
    csv_files: (),
    checkpoints: (415,),
}


@pytest.mark.parametrize("attack", ONCE_BROKEN, ids=lambda attack: attack.NAME)
def test_cases_hold(attack: Any) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    outcomes = {attack.one_case(case) for case in (*range(70), *ONCE_BROKEN[attack])}
    assert len(outcomes) > 1, "the cases are all alike"


def test_an_empty_target_is_an_unknown_column() -> None:
    with pytest.raises(SourceError, match=r"has no column '' \(the target\); its columns are: a, b"):
        open_source(io.BytesIO(b"a,b\n1,2\n"), target="")


def test_a_series_is_continued_and_keeps_its_failures(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "FOLDER", tmp_path)

    def one_case(case: int) -> str:
        if case == 3:
            raise ValueError("found")
        return "even" if case % 2 == 0 else "odd"

    store.run_cases("series", "a series", one_case, 4)
    found = store.run_cases("series", "a series", one_case, 7)
    assert found["cases"] == 7
    assert found["outcomes"] == {"even": 4, "odd": 2, "failed": 1}
    assert [failure["case"] for failure in found["failures"]] == [3]
    assert store.read("series") == found


def test_the_page_is_made_of_the_stored_results() -> None:
    """Run ``python -m benchmarks.reliability page`` after an attack."""
    assert page.PAGE.read_text(encoding="utf-8") == page.page()

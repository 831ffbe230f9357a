"""The benchmark of feeds measures what it says."""

from __future__ import annotations

import pytest

pytest.importorskip("typer")

from benchmarks.speed import feed


def test_each_row_is_answered_before_the_next_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert feed.main(["--rows", "4"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["first", "learn", "predict"]
    assert all(float(cell) > 0 for line in lines[1:] for cell in line.split()[1:])

"""Results as data, and the tables and pages made of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.quality import page, results, suite
from benchmarks.quality.methods.ours import OURS
from benchmarks.quality.problems import SUITE
from benchmarks.quality.table import loss, tables
from benchmarks.quality.targets import TARGETS
from benchmarks.quality.verdict import Target, verdict


def _result(method: str, library: str, form: str, log_loss: float | None) -> dict[str, Any]:
    scores = {"log_loss": log_loss, "accuracy": 0.9, "auc": 0.9, "brier": 0.1, "ece": 0.01}
    return {
        "stream": "elec2_full",
        "method": method,
        "library": library,
        "inputs": form,
        "task": "classification",
        "scores": scores,
        "rows_per_cpu_second": 1000,
        "model_bytes": None,
    }


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Results and pages go to a folder of the test's own."""
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    monkeypatch.setattr(results, "STREAMS", tmp_path / "streams")
    monkeypatch.setattr(page, "PAGE", tmp_path / "benchmarks.md")
    monkeypatch.setattr(page, "PICTURE", tmp_path / "benchmarks.png")
    return tmp_path


def test_every_stream_has_targets() -> None:
    assert set(TARGETS) == set(SUITE)


def test_only_what_is_missing_is_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run of ours is stored, not repeated, and repeated with force."""
    made = SUITE["rotating_xor"]
    monkeypatch.setitem(SUITE, "rotating_xor", lambda name: made(name).first(260))
    ours = [method for method in OURS if method.name == "Sapwood"]
    suite.run(["rotating_xor"], ours, force=False, n_rows=None)
    path = results.Key("rotating_xor", "Sapwood", "raw").path
    first = json.loads(path.read_text())
    assert first["scores"]["log_loss"] > 0.0
    assert first["machine"]["cores"] >= 1
    path.write_text("{}")
    suite.run(["rotating_xor"], ours, force=False, n_rows=None)
    assert path.read_text() == "{}"
    suite.run(["rotating_xor"], ours, force=True, n_rows=None)
    assert json.loads(path.read_text())["scores"] == first["scores"]


def test_a_table_has_the_best_form_of_each_method_first() -> None:
    """An undefined score (the peer diverged) must lose against every number."""
    table = tables(
        [
            _result("Sapwood", "sapwood", "raw", 0.3),
            _result("peer", "river", "raw", None),
            _result("peer", "river", "raw+last", 0.2),
            _result("wild", "river", "raw", None),
        ],
        SUITE,
    )[0]
    assert [row["method"] for row in table.rows] == ["peer", "Sapwood", "wild"]
    best = table.best_peer("log_loss")
    assert best is not None
    assert best["inputs"] == "raw+last"
    assert loss(table.rows[-1], "log_loss") == float("inf")


def test_the_page_says_by_how_much_and_to_whom_ours_loses(folder: Path) -> None:
    for method, library, value in (("Sapwood", "sapwood", 0.3), ("peer", "river", 0.2)):
        results.store(results.Key("elec2_full", method, "raw"), _result(method, library, "raw", value))
    text = page.write().read_text()
    assert "| elec2_full | log loss | 0.300 | 0.200 | peer, raw | **worse by 0.100** |" in text
    assert "| elec2_full | log_loss | <= 0.178 | 0.300 | **missed** |" in text
    assert (folder / "benchmarks.png").stat().st_size > 0


def test_a_verdict_is_on_the_mean() -> None:
    assert verdict("a score", [0.1, 0.3], high=0.2).passed
    assert not verdict("a score", [0.1, 0.31], high=0.2).passed
    assert str(Target(0.88, 0.92)) == "0.88 to 0.92"

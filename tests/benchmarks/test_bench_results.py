"""Results as data, and the tables and pages made of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from benchmarks.quality import page, results, suite
from benchmarks.quality.methods.ours import OURS
from benchmarks.quality.problems import SUITE
from benchmarks.quality.table import loss, tables
from benchmarks.quality.targets import TARGETS
from benchmarks.quality.verdict import Target, verdict

from sapwood import _disk


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
    [first] = results.stored()
    assert first["scores"]["log_loss"] > 0.0
    assert first["machine"]["cores"] >= 1
    marked = {"method": "Sapwood", "inputs": "raw", "marked": True}
    results.store(results.Key("rotating_xor", "Sapwood", "raw"), marked)
    suite.run(["rotating_xor"], ours, force=False, n_rows=None)
    assert results.stored() == [marked]
    suite.run(["rotating_xor"], ours, force=True, n_rows=None)
    [again] = results.stored()
    assert again["scores"] == first["scores"]


def test_a_stream_has_one_file_whatever_the_order_of_its_results(folder: Path) -> None:
    """Fails if a result displaces another, is stored twice, or moves the lines of others in the file."""
    made = [_result(method, "river", form, 0.3) for method in ("a", "b") for form in ("raw", "raw+last")]
    texts = []
    for order in (made, made[::-1], made[1:] + made):
        for result in order:
            results.store(results.Key("elec2_full", result["method"], result["inputs"]), result)
        [path] = results.STREAMS.iterdir()
        texts.append(path.read_text())
        assert results.stored() == made
        path.unlink()
    assert len(set(texts)) == 1


def test_an_interrupted_write_leaves_the_old_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key, result = results.Key("elec2_full", "a", "raw"), _result("a", "river", "raw", 0.3)
    results.store(key, result)

    def full_disk(descriptor: int) -> None:
        raise OSError("no space left on the device")

    monkeypatch.setattr(_disk.system, "fsync", full_disk)
    with pytest.raises(OSError, match="no space"):
        results.store(key, {**result, "rows": 1})
    assert results.stored() == [result]


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

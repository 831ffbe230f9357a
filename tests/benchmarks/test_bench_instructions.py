"""The budget of instructions: what is read from a profile, and when a change is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.speed import instructions
from benchmarks.speed.instructions import BUDGET, JOBS, Count, bless, instructions_of, main

PROFILE = "version: 1\nevents: Ir\nfn=(1) step\n12 5000\nsummary: 5000\ntotals: 5000\n"


def test_a_step_is_the_total_over_the_steps() -> None:
    assert instructions_of(PROFILE, "50 steps, log evidence -1.5\n") == 100


def test_counting_nothing_is_an_error() -> None:
    # The fault it would catch: the counted function was inlined or renamed, and every budget is kept for ever.
    with pytest.raises(RuntimeError, match="counted nothing"):
        instructions_of(PROFILE.replace("5000", "0"), "50 steps\n")


def test_five_percent_are_allowed() -> None:
    assert Count("prices", 104, 100).verdict == "kept"
    assert Count("prices", 106, 100).verdict == "EXCEEDED"
    assert Count("prices", 90, 100).verdict == "below: bless it"
    assert Count("prices", 90, None).verdict == "no budget"


def test_the_committed_budget_has_every_job() -> None:
    budget = json.loads(BUDGET.read_text(encoding="utf-8"))
    assert set(budget["instructions_per_step"]) == set(JOBS)


def test_blessing_writes_what_was_counted(tmp_path: Path) -> None:
    bless([Count("prices", 123, None)], {"prices": {"prunes": 5.5}}, tmp_path / "budget.json")
    written = json.loads((tmp_path / "budget.json").read_text(encoding="utf-8"))
    assert written["instructions_per_step"] == {"prices": 123}


def test_the_exit_code_follows_the_counts(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    budget = json.loads(BUDGET.read_text(encoding="utf-8"))["instructions_per_step"]
    monkeypatch.setattr(instructions, "build", lambda: Path("steady_step"))
    monkeypatch.setattr(instructions, "_require_valgrind", lambda: None)
    monkeypatch.setattr(instructions, "_require_processor", lambda blessed: None)
    monkeypatch.setattr(instructions, "count", lambda program, job: budget[job])
    assert main([]) == 0
    monkeypatch.setattr(instructions, "count", lambda program, job: 2 * budget[job])
    assert main([]) == 1
    assert "EXCEEDED" in capsys.readouterr().out


def test_without_valgrind_nothing_is_claimed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(instructions.shutil, "which", lambda name: None)
    assert main([]) == 0
    assert "valgrind is not installed" in capsys.readouterr().out

"""The runner: interrupted runs continue, finished ones start afresh, absent data are reported."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import pytest

from sapwood.reproduce import _runner
from sapwood.reproduce._claims import Claim, number
from sapwood.reproduce._experiment import Experiment, Record, Scale
from sapwood.reproduce._journal import Journal


class Toy(Experiment):
    """Three jobs that say how often they were run; a marker in the folder of the data stops the third."""

    name = "toy"
    title = "Toy"
    shows = "nothing"
    scales: ClassVar[Mapping[Scale, Record]] = {"quick": {"jobs": 3, "seed": 9}}
    ran: ClassVar[list[int]] = []

    def jobs(self, settings: Record) -> dict[str, Record]:
        return {f"job/{i}": {"i": i} for i in range(settings["jobs"])}

    def run(self, arguments: Record, data_home: Path | None) -> Record:
        self.ran.append(arguments["i"])
        if data_home is not None and arguments["i"] == 2:
            raise FileNotFoundError("toy.csv.gz does not exist") if data_home.name == "absent" else KeyboardInterrupt
        return {"value": arguments["i"] / 3}

    def summarise(self, settings: Record, records: Mapping[str, Record]) -> Record:
        return {"total": sum(record["value"] for record in records.values())}

    def claims(self, summary: Record, paper: Record) -> list[Claim]:
        return [number("text", "total", 1.0, summary["total"], better=None, tolerance=0.01)]

    def draw(self, summary: Record, paper: Record, folder: Path) -> None:
        raise AssertionError("the runner draws nothing")

    def paper(self) -> Record:
        return {"total": 1.0}


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Toy:
    experiment = Toy()
    Toy.ran.clear()
    monkeypatch.setitem(_runner.EXPERIMENTS, "toy", experiment)
    return experiment


def _run(toy: Toy, folder: Path, data_home: Path | None = None) -> dict[str, str]:
    return _runner.run([toy], "quick", folder, n_processes=1, data_home=data_home, say=lambda line: None)


def test_results_say_what_made_them(toy: Toy, tmp_path: Path) -> None:
    _run(toy, tmp_path)
    results = json.loads((tmp_path / "toy" / "results-quick.json").read_text(encoding="utf-8"))
    assert results["command"] == "sapwood reproduce toy --quick"
    assert results["seed"] == 9
    assert results["settings"] == {"jobs": 3, "seed": 9}
    assert results["summary"] == {"total": 1.0}
    assert len(results["runs"]) == 3
    assert json.loads((tmp_path / "toy" / "paper.json").read_text(encoding="utf-8")) == {"total": 1.0}


def test_an_interrupted_run_continues_where_it_stopped(toy: Toy, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        _run(toy, tmp_path, tmp_path)
    assert not (tmp_path / "toy" / "results-quick.json").exists()
    _run(toy, tmp_path)
    assert toy.ran == [0, 1, 2, 2]
    assert (tmp_path / "toy" / "results-quick.json").exists()


def test_a_finished_run_starts_afresh(toy: Toy, tmp_path: Path) -> None:
    _run(toy, tmp_path)
    assert not list((tmp_path / "toy").glob("journal-*"))
    _run(toy, tmp_path)
    assert toy.ran == [0, 1, 2] * 2


def test_a_run_interrupted_before_its_results_were_written_writes_them(toy: Toy, tmp_path: Path) -> None:
    settings = Toy.scales["quick"]
    identity = {"version": _runner.__version__, "scale": "quick", "settings": settings}
    journal = Journal(tmp_path / "toy" / "journal-quick.jsonl", identity)
    for i in range(3):
        journal.add(f"job/{i}", {"value": 0.0})
    _run(toy, tmp_path)
    assert toy.ran == []
    assert (tmp_path / "toy" / "results-quick.json").exists()


def test_absent_data_are_reported_and_leave_nothing_behind(toy: Toy, tmp_path: Path) -> None:
    assert _run(toy, tmp_path, tmp_path / "absent") == {"toy": "toy.csv.gz does not exist"}
    assert list((tmp_path / "toy").iterdir()) == []


def test_a_line_cut_short_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    Journal(path, {"seed": 1}).add("a", {"value": 1.0})
    with path.open("a", encoding="utf-8") as file:
        file.write('["b", {"val')
    journal = Journal(path, {"seed": 1})
    journal.add("c", {"value": 3.0})
    assert Journal(path, {"seed": 1}).records == {"a": {"value": 1.0}, "c": {"value": 3.0}}

"""No output of a run is written over its source or over another output."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sapwood.stream import SourceError, evaluate, open_source

from .conftest import NUMBERS

LEARN = ("learn", "rows.csv", "-t", "y", "--quiet", *NUMBERS)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize(
    "option", ["--predictions", "--save", "--checkpoint", "--report", "--quarantine"], ids=lambda option: option[2:]
)
@pytest.mark.parametrize("name", ["rows.csv", "./sub/../rows.csv", "soft.csv", "hard.csv"])
def test_the_source_is_not_overwritten(
    option: str, name: str, sapwood: Callable[..., Any], rows: Path, tmp_path: Path
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "soft.csv").symlink_to(rows)
    os.link(rows, tmp_path / "hard.csv")
    before = contents(tmp_path)
    bad = ("--on-bad-row", "quarantine") if option == "--quarantine" else ()
    ran = sapwood(*LEARN, *bad, option, name)
    assert ran.returncode == 1
    assert "would be overwritten, since it is both the source and the" in ran.stderr
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    "options",
    [
        ("--save", "z", "--predictions", "z", "--checkpoint", "z"),
        ("--save", "z", "--predictions", "z"),
        ("--save", "z", "--report", "./z"),
        ("--predictions", "z.checkpoint.previous", "--save", "z"),
        ("--predictions", "z.parquet", "--save", "z.parquet.part"),
        ("--predictions", "z", "--on-bad-row", "quarantine", "--quarantine", "z"),
        ("--save", "z.checkpoint", "--checkpoint", "link/z.checkpoint"),
    ],
    ids=" ".join,
)
def test_outputs_are_not_written_over_one_another(
    options: tuple[str, ...], sapwood: Callable[..., Any], rows: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(".")
    before = contents(tmp_path)
    ran = sapwood(*LEARN, *options)
    assert ran.returncode == 1
    assert "would be overwritten, since it is both the" in ran.stderr
    assert "give each a file of its own" in ran.stderr
    assert contents(tmp_path) == before


@pytest.mark.parametrize("source", ["folder", "folder/*.csv"])
def test_an_output_does_not_become_part_of_the_source(
    source: str, sapwood: Callable[..., Any], rows: Path, tmp_path: Path
) -> None:
    """A resumed run would read its own predictions."""
    folder = tmp_path / "folder"
    folder.mkdir()
    rows.rename(folder / "rows.csv")
    ran = sapwood("learn", source, "-t", "y", *NUMBERS, "--predictions", "folder/out.csv")
    assert ran.returncode == 1
    assert "the predictions would become part of the source" in ran.stderr
    assert sapwood("learn", source, "-t", "y", *NUMBERS, "--quiet", "--save", "folder/model.sap").returncode == 0


def test_labels_are_not_overwritten(sapwood: Callable[..., Any], rows: Path, tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_bytes(rows.read_bytes())
    ran = sapwood(*LEARN, "--task", "regression", "--labels", "labels.csv", "--save", "labels.csv")
    assert ran.returncode == 1
    assert "labels.csv: would be overwritten, since it is both the labels and the model" in ran.stderr


def test_python_refuses_too(rows: Path, tmp_path: Path) -> None:
    from sapwood import DynamicTreeRegressor

    before = contents(tmp_path)
    with pytest.raises(SourceError, match="both the source and the quarantine file"):
        open_source(rows, target="y", on_bad_row="quarantine", quarantine=rows)
    with pytest.raises(SourceError, match="both the source and the predictions"):
        evaluate(DynamicTreeRegressor(), rows, target="y", predictions=rows)
    with (
        open_source(rows, target="y") as source,
        pytest.raises(SourceError, match="both the source and the checkpoint"),
    ):
        evaluate(DynamicTreeRegressor(), source, checkpoint=rows)
    assert contents(tmp_path) == before


def test_standard_input_is_resumed_from_its_start(process: Callable[..., Any], rows: Path) -> None:
    command = ("learn", "-", "-t", "y", *NUMBERS, "--checkpoint", "c")
    text = rows.read_text()
    first = process(*command, "--max-rows", "100", "--quiet", input=text)
    assert first.returncode == 0, first.stderr
    short = process(*command, "--resume", input="".join(text.splitlines(keepends=True)[:51]))
    assert short.returncode == 1
    assert "resuming: the first 100 rows are read again, to check that the source is the same" in short.stderr
    assert "<stdin>: ends after row 50, but the run to be resumed had read 100 rows" in short.stderr
    assert "pipe the same data in again from the start" in short.stderr
    again = process(*command, "--resume", "--json", input=text)
    assert again.returncode == 0, again.stderr
    assert '"rows": 300' in again.stdout

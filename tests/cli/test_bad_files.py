"""Files that cannot be read or written: one line that names the file and the remedy, and nothing lost."""

from __future__ import annotations

import gzip
import os
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import NUMBERS

Run = Callable[..., Any]


def one_line(ran: Any, *said: str) -> None:
    assert ran.returncode == 1, ran.stderr
    assert len(ran.stderr.splitlines()) == 1, ran.stderr
    assert ran.stderr.startswith("error: ")
    for words in said:
        assert words in ran.stderr


def truncated_gzip(rows: Path) -> str:
    data = gzip.compress(rows.read_bytes())
    rows.with_name("bad.csv.gz").write_bytes(data[: len(data) // 2])
    return "bad.csv.gz"


def truncated_parquet(rows: Path) -> str:
    pandas = pytest.importorskip("pandas")
    pandas.read_csv(rows).to_parquet(rows.with_name("bad.parquet"))
    data = rows.with_name("bad.parquet").read_bytes()
    rows.with_name("bad.parquet").write_bytes(data[: len(data) // 2])
    return "bad.parquet"


def ragged(rows: Path) -> str:
    rows.with_name("bad.csv").write_text(rows.read_text() + "1,2,red,3,4\n")
    return "bad.csv"


def garbage(rows: Path) -> str:
    rows.with_name("bad.csv").write_bytes(bytes(range(256)) * 20)
    return "bad.csv"


def empty(rows: Path) -> str:
    rows.with_name("bad.csv").write_bytes(b"")
    return "bad.csv"


def header_only(rows: Path) -> str:
    rows.with_name("bad.csv").write_text("a,b,y\n")
    return "bad.csv"


def missing(rows: Path) -> str:
    return "bad.csv"


def unreadable(rows: Path) -> str:
    path = rows.with_name("bad.csv")
    path.write_text(rows.read_text())
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    return "bad.csv"


@pytest.mark.parametrize(
    "make", [truncated_gzip, truncated_parquet, ragged, garbage, empty, header_only, missing, unreadable]
)
def test_a_source_that_cannot_be_read(make: Callable[[Path], str], sapwood: Run, rows: Path) -> None:
    name = make(rows)
    one_line(sapwood("learn", name, "-t", "y", "-q", *NUMBERS), name)


def test_a_wrong_target_is_named_with_the_nearest_column(sapwood: Run, rows: Path) -> None:
    one_line(sapwood("learn", "rows.csv", "-t", "color", *NUMBERS), "rows.csv", "'color'", "did you mean 'colour'?")


def outputs(folder: Path, predictions: str) -> tuple[bytes, bytes]:
    return (folder / "m.sap").read_bytes(), (folder / predictions).read_bytes()


def test_an_earlier_checkpoint_survives_a_file_that_went_bad(sapwood: Run, rows: Path) -> None:
    """The source is damaged between two runs; once it is whole again, the run ends as if nothing had happened."""
    arguments = ("learn", "rows.csv", "-t", "y", "--save", "m.sap", "--predictions", "p.csv", "-q", *NUMBERS)
    assert sapwood(*arguments, "--max-rows", "100").returncode == 0
    checkpoint = rows.with_name("m.sap.checkpoint")
    before, whole = checkpoint.read_bytes(), rows.read_text()
    rows.write_text(whole.rsplit(",", 2)[0] + "\n")
    one_line(sapwood(*arguments, "--resume"), "rows.csv, line 301")
    rows.write_text("")
    one_line(sapwood(*arguments, "--resume"), "rows.csv")
    assert before in (checkpoint.read_bytes(), checkpoint.with_name("m.sap.checkpoint.previous").read_bytes())
    rows.write_text(whole)
    assert sapwood(*arguments, "--resume").returncode == 0
    resumed = outputs(rows.parent, "p.csv")
    assert sapwood(*arguments).returncode == 0
    assert resumed == outputs(rows.parent, "p.csv")


def on_small_disk(n_bytes: int) -> Callable[[], None]:
    """A limit on the size of files stands for the disk: a write beyond it fails as one on a full disk does."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))


def test_a_disk_too_full_for_the_checkpoint(sapwood: Run, process: Run, rows: Path) -> None:
    arguments = ("learn", "rows.csv", "-t", "y", "--save", "m.sap", "-q", *NUMBERS)
    assert sapwood(*arguments, "--max-rows", "100").returncode == 0
    checkpoint = rows.with_name("m.sap.checkpoint")
    before = checkpoint.read_bytes()
    names = {path.name for path in rows.parent.iterdir()}
    ran = process(*arguments, "--resume", preexec_fn=on_small_disk(len(before)))
    one_line(ran, "m.sap.checkpoint: cannot be written (File too large); make room")
    assert checkpoint.read_bytes() == before
    assert {path.name for path in rows.parent.iterdir()} == names
    assert sapwood(*arguments, "--resume").returncode == 0
    resumed = rows.with_name("m.sap").read_bytes()
    assert sapwood(*arguments).returncode == 0
    assert resumed == rows.with_name("m.sap").read_bytes()


@pytest.mark.parametrize("predictions", ["p.csv", "p.parquet"])
def test_a_disk_too_full_for_the_predictions(predictions: str, sapwood: Run, process: Run, rows: Path) -> None:
    arguments = ("learn", "rows.csv", "-t", "y", "--save", "m.sap", "--predictions", predictions, "-q", *NUMBERS)
    assert sapwood(*arguments, "--max-rows", "20").returncode == 0
    checkpoint = rows.with_name("m.sap.checkpoint")
    before = checkpoint.read_bytes()
    ran = process(*arguments, "--resume", preexec_fn=on_small_disk(10_000))
    one_line(ran, f"{predictions}: cannot be written (File too large); make room")
    assert checkpoint.read_bytes() == before
    assert sapwood(*arguments, "--resume").returncode == 0
    resumed = outputs(rows.parent, predictions)
    assert sapwood(*arguments).returncode == 0
    assert resumed == outputs(rows.parent, predictions)


@pytest.mark.parametrize("option", ["--save", "--predictions", "--report", "--checkpoint"])
def test_a_place_that_cannot_be_written_is_noticed_before_learning(option: str, sapwood: Run, rows: Path) -> None:
    one_line(sapwood("learn", "rows.csv", "-t", "y", option, "nowhere/file.html", *NUMBERS), "nowhere/file.html")

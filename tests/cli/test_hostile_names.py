"""Names of columns and labels are data: they are no markup, and do not steer the terminal or the page."""

from __future__ import annotations

import csv
import json
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .conftest import SMALL

ESCAPE = "\x1b[2J\x1b]0;owned\x07"
NAMES = ["[/]", f"[red]{ESCAPE}", "\u202ereversed", "<script>alert(1)</script>"]
LABELS = [f"[/]{ESCAPE}", '=HYPERLINK("http://example.org","click")', "$\\frac$"]
TARGET = f"[bold]{ESCAPE}[/]"


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    path = tmp_path / "hostile.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow([*NAMES, TARGET])
        for x in rng.uniform(size=(150, 3)):
            out.writerow([*x, f"category {ESCAPE}", LABELS[int(3 * x[0])]])
    return path


def is_clean(text: str) -> bool:
    """Whether nothing but characters that are shown, and newlines."""
    return not any(unicodedata.category(c) in ("Cc", "Zl", "Zp", "Cs") or c in "\u202e" for c in text.replace("\n", ""))


@pytest.mark.parametrize("tree", [(), ("--tree",)])
def test_learn_and_inspect_show_names_as_they_are(
    tree: tuple[str, ...], sapwood: Callable[..., Any], hostile: Path
) -> None:
    """A column called "[/]" crashed `inspect`, and escape sequences reached the terminal."""
    learned = sapwood("learn", "hostile.csv", "-t", TARGET, *SMALL, "--save", "m.sap", "--metrics", "accuracy")
    assert learned.returncode == 0, learned.stderr
    inspected = sapwood("inspect", "m.sap", *tree)
    assert inspected.returncode == 0, inspected.stderr
    for ran in (learned, inspected):
        assert is_clean(ran.stdout)
        assert is_clean(ran.stderr)
    assert "[/], [red]\\x1b[2J" in inspected.stdout
    assert "\\u202ereversed" in inspected.stdout
    told = json.loads(sapwood("inspect", "m.sap", "--json").stdout)
    assert set(told["relevance"]) >= set(NAMES)
    assert sorted(told["classes"]) == sorted(LABELS)


@pytest.mark.parametrize(
    "arguments",
    [
        ("learn", "hostile.csv", "-t", f"absent{ESCAPE}"),
        ("learn", f"absent{ESCAPE}.csv", "-t", "y"),
        ("learn", "hostile.csv", "-t", "[/]"),
        ("inspect", f"absent{ESCAPE}"),
        ("predict", "hostile.csv", f"{ESCAPE}"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_errors_show_names_as_they_are(arguments: tuple[str, ...], sapwood: Callable[..., Any], hostile: Path) -> None:
    hostile.write_text(hostile.read_text() + f"oops{ESCAPE},1,2,3,4\n")
    ran = sapwood(*arguments, *(SMALL if arguments[0] == "learn" else ()))
    assert ran.returncode == 1
    assert is_clean(ran.stderr)
    assert "error: " in ran.stderr


@pytest.mark.parametrize("output", ["out.csv", "out.parquet"])
def test_labels_are_written_exactly(output: str, sapwood: Callable[..., Any], hostile: Path, tmp_path: Path) -> None:
    """Predictions are for programs: labels are not altered, not even those that a spreadsheet takes for a formula."""
    ran = sapwood("learn", "hostile.csv", "-t", TARGET, *SMALL, "--predictions", output, "--metrics", "accuracy", "-q")
    assert ran.returncode == 0, ran.stderr
    if output == "out.csv":
        with open(tmp_path / output, newline="", encoding="utf-8") as file:
            found = {row["prediction"] for row in csv.DictReader(file)}
    else:
        pq = pytest.importorskip("pyarrow.parquet")
        found = set(pq.read_table(tmp_path / output).column("prediction").to_pylist())
    assert found <= set(LABELS)
    assert LABELS[1] in found


def test_a_report_shows_names_as_they_are(sapwood: Callable[..., Any], hostile: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    ran = sapwood("learn", "hostile.csv", "-t", TARGET, *SMALL, "--report", "r.html", "--metrics", "accuracy", "-q")
    assert ran.returncode == 0, ran.stderr
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert is_clean(page.replace("\t", ""))

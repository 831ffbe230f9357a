"""Bad rows: error, skip or quarantine, and never any effect on what is learned."""

from __future__ import annotations

import csv as csv_module
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sapwood.stream import SourceError, open_source

GOOD = "1,a,1.5\n" * 30
FAULTS = {
    "2,b\n": ("wrong number of fields", "the line has 2 fields; the header has 3"),
    "2,b,1,1\n": ("wrong number of fields", "the line has 4 fields; the header has 3"),
    "two,b,1\n": ("not a number", "column 'x' is not a number ('two')"),
    "inf,b,1\n": ("infinite input", "column 'x' is infinite or beyond 1e100 ('inf')"),
    "2,b,\n": ("missing target", "the target 'y' is missing"),
    "2,b,-inf\n": ("infinite target", "the target 'y' is infinite or beyond 1e100 ('-inf')"),
    "2,b,high\n": ("unreadable target", "the target 'y' is not a number ('high')"),
}


@pytest.mark.parametrize("line", FAULTS)
def test_error_names_file_line_value_and_remedy(line: str, csv: Callable[..., Path]) -> None:
    path = csv("x,w,y\n" + GOOD + line + GOOD)
    with pytest.raises(SourceError) as error:
        list(open_source(path, target="y"))
    message = str(error.value)
    assert message.startswith(f"{path}, line 32: {FAULTS[line][1]}; ")
    assert "on_bad_row='skip'" in message
    assert "\n" not in message
    assert (error.value.file, error.value.line) == (str(path), 32)


@pytest.mark.parametrize("batch_rows", [1, 10, 1000])
def test_skip_counts_reasons_and_keeps_row_numbers(
    batch_rows: int, read: Callable[..., Any], csv: Callable[..., Path]
) -> None:
    path = csv("x,w,y\n" + GOOD + "".join(FAULTS) + "3,c,2.5\n")
    found = read(path, target="y", on_bad_row="skip", batch_rows=batch_rows)
    assert found.rows.tolist() == [*range(30), 37]
    assert found.source.position == 38
    assert found.source.n_bad == len(FAULTS)
    assert found.source.bad_reasons["wrong number of fields"] == 2
    # "b" only occurs in bad rows: if they were encoded before being rejected, "c" would be 2.
    assert found.x[-1].tolist() == [3, 1]


def test_quarantine_keeps_the_text_the_place_and_the_reason(csv: Callable[..., Path], tmp_path: Path) -> None:
    path = csv("x,w,y\n" + GOOD + "".join(FAULTS) + '"two\nlines",b,1\n')
    aside = tmp_path / "bad.csv"
    with open_source(path, target="y", on_bad_row="quarantine", quarantine=aside) as source:
        list(source)
    with open(aside, newline="") as file:
        rows = list(csv_module.DictReader(file))
    assert [row["text"] + "\n" for row in rows[:-1]] == list(FAULTS)
    assert rows[-1]["text"] == '"two\nlines",b,1'
    assert [int(row["number"]) for row in rows] == list(range(32, 40))
    assert {row["file"] for row in rows} == {str(path)}
    assert {row["place"] for row in rows} == {"line"}
    assert [(row["reason"], row["detail"]) for row in rows[:-1]] == list(FAULTS.values())


def test_lines_that_are_not_utf8(read: Callable[..., Any], csv: Callable[..., Path]) -> None:
    path = csv(b"x,w,y\n" + GOOD.encode() + b"1,caf\xe9,1\n2,a,2\n")
    with pytest.raises(SourceError, match="line 32: the line is not UTF-8 text; convert the file to UTF-8"):
        list(open_source(path, target="y"))
    found = read(path, target="y", on_bad_row="skip")
    assert found.source.bad_reasons == {"not UTF-8": 1}
    assert found.x[-1].tolist() == [2, 0]


def test_bad_rows_of_a_table_are_named_by_row(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"x": [1.0, np.inf, 3.0], "w": ["a", "b", "c"], "y": [1.5, 2.0, None]}), path)
    with pytest.raises(SourceError, match=r"rows\.parquet, row 1: column 'x' is infinite"):
        list(open_source(path, target="y"))
    aside = tmp_path / "bad.csv"
    with open_source(path, target="y", on_bad_row="quarantine", quarantine=aside) as source:
        assert next(source).X.tolist() == [[1, 0]]
    assert '""w"": ""b""' in aside.read_text()
    assert "row,2,missing target" in aside.read_text()


def test_a_batch_of_only_bad_rows_is_not_returned(read: Callable[..., Any], csv: Callable[..., Path]) -> None:
    found = read(csv("x,y\n1,1.5\n2,\n3,\n4,2\n"), target="y", on_bad_row="skip", batch_rows=1)
    assert found.rows.tolist() == [0, 3]


def test_a_class_that_is_not_an_integer(csv: Callable[..., Path]) -> None:
    path = csv("x,y\n" + "1,0\n1,1\n" * 600 + "1,0.5\n")
    with pytest.raises(SourceError, match=r"line 1202: the target 'y' is not a whole number.*task='regression'"):
        list(open_source(path, target="y", task="classification"))


@pytest.mark.parametrize("options", [{"on_bad_row": "ignore"}, {"on_bad_row": "quarantine"}, {"quarantine": "bad.csv"}])
def test_policy_and_file_must_match(options: dict[str, Any], csv: Callable[..., Path]) -> None:
    with pytest.raises(SourceError, match="on_bad_row is"):
        open_source(csv("x,y\n1,1\n"), target="y", **options)


def test_a_quarantine_that_cannot_be_written(csv: Callable[..., Path], tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot write bad rows there"):
        open_source(csv("x,y\n1,1\n"), target="y", on_bad_row="quarantine", quarantine=tmp_path / "no" / "bad.csv")

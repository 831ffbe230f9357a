"""CSV as found in practice: quotes, line endings, separators, and files larger than a block."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sapwood.reading.readers import csv as csv_reader
from sapwood.stream import SourceError, open_source


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False], ids=["ends with a newline", "does not"])
def test_line_endings(end: str, last: bool, read: Callable[..., Any], csv: Callable[..., Path]) -> None:
    path = csv(end.join(["a,y", "1,2", "", "3,4"]) + (end if last else ""))
    assert read(path, target="y").x.ravel().tolist() == [1, 3]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_detected(separator: str, read: Callable[..., Any], csv: Callable[..., Path]) -> None:
    path = csv(f"a{separator}b{separator}y\n1{separator}2{separator}3\n")
    assert read(path, target="y").x.tolist() == [[1, 2]]


def test_the_separator_can_be_given(read: Callable[..., Any], csv: Callable[..., Path]) -> None:
    assert read(csv("a,x:y\n1:2\n"), target="y", delimiter=":").source.feature_names == ["a,x"]


def test_byte_order_mark_blank_first_lines_and_padding(read: Callable[..., Any], csv: Callable[..., Path]) -> None:
    found = read(csv("\ufeff\n\n a , y\n 1 , 2\n"), target="y")
    assert found.source.feature_names == ["a"]
    assert found.x.tolist() == [[1]]
    assert found.y.tolist() == [2]


def test_an_unnamed_column_is_named_by_its_position(read: Callable[..., Any], csv: Callable[..., Path]) -> None:
    assert read(csv(",y\n0,1\n"), target="y").source.feature_names == ["column1"]


def test_quoted_separators_quotes_and_newlines(read: Callable[..., Any], csv: Callable[..., Path]) -> None:
    found = read(csv('word,y\n"a,b",1\n"a\nb",2\n"a ""b""",3\n"a,b",4\n'), target="y")
    assert found.x.ravel().tolist() == [0, 1, 2, 0]
    assert found.source.state()["schema"]["features"][0]["categories"] == ["a,b", "a\nb", 'a "b"']


@pytest.mark.parametrize("block", [1, 2, 3, 7, 50, 1 << 20])
def test_block_boundaries_do_not_matter(
    block: int, monkeypatch: pytest.MonkeyPatch, read: Callable[..., Any], csv: Callable[..., Path]
) -> None:
    lines = [f'{i},"line {i % 3}\r\nof ""two""",{i / 7!r}' for i in range(30)]
    lines.insert(11, "1,2")
    lines.insert(20, "")
    path = csv("\r\n".join(["n,word,y", *lines]))
    monkeypatch.setattr(csv_reader, "BLOCK", block)
    found = read(path, target="y", on_bad_row="skip")
    assert found.x[:, 0].tolist() == list(range(30))
    assert found.x[:, 1].tolist() == [i % 3 for i in range(30)]
    assert found.y.tolist() == [i / 7 for i in range(30)]
    assert found.rows.tolist() == [i + (i >= 11) for i in range(30)]
    assert found.source.bad_reasons == {"wrong number of fields": 1}


def test_line_numbers_count_lines_not_rows(csv: Callable[..., Path]) -> None:
    """A quoted newline and an empty line precede the bad row, which is on line 6."""
    path = csv('word,x,y\n"a\nb",1,1\n\nc,2,2\nd,oops,3\n' + "e,1,1\n" * 20)
    with pytest.raises(SourceError, match=r"rows\.csv, line 6: column 'x' is not a number \('oops'\)") as error:
        list(open_source(path, target="y"))
    assert error.value.line == 6


def test_a_lone_quote_inside_a_field_is_text(read: Callable[..., Any], csv: Callable[..., Path]) -> None:
    found = read(csv('pipe,y\n5" wide,1\n6" wide,2\n5" wide,3\n'), target="y")
    assert found.x.ravel().tolist() == [0, 1, 0]


def test_numbers_are_read_to_the_last_bit(
    rng_of: Callable[[int], np.random.Generator], read: Callable[..., Any], csv: Callable[..., Path]
) -> None:
    values = rng_of(5).standard_normal(3000) * 10.0 ** rng_of(6).integers(-30, 30, 3000)
    path = csv("x,y\n" + "".join(f"{v!r},0\n" for v in values.tolist()))
    assert np.array_equal(read(path, target="y").x.ravel(), values)


@pytest.fixture
def rng_of() -> Callable[[int], np.random.Generator]:
    """A seeded generator."""
    return np.random.default_rng


@pytest.mark.parametrize(
    "row",
    [
        b'5" wide,1',
        b'a"b,1\nc"d,2',
        b'"a"b"c,1',
        b'"a\n""b",1',
        b"\xef\xbb\xbf,1",
        b"a\0b,1",
        b"\xff,1",
        b'"',
        b'x,"1\n2"',
    ],
    ids=repr,
)
def test_block_boundaries_do_not_matter_in_malformed_files(
    row: bytes, monkeypatch: pytest.MonkeyPatch, csv: Callable[..., Path]
) -> None:
    """A quote opens a field only at its start. Fails if what a stray one does depends on how the bytes arrive."""
    path = csv(b"word,y\nx,0\n" + row + b"\n" + b"z,3\n" * 12)
    outcomes = []
    for block in (1 << 20, 64, 9, 5, 3, 2, 1):
        monkeypatch.setattr(csv_reader, "BLOCK", block)
        with open_source(path, target="y", task="regression", on_bad_row="skip") as source:
            batches = list(source)
            found = [
                np.concatenate([getattr(batch, name) for batch in batches]).tolist() for name in ("X", "y", "rows")
            ]
            outcomes.append((found, source.bad_reasons))
    assert all(outcome == outcomes[0] for outcome in outcomes)

"""Reading takes work proportional to the size of the file, and says so where a bound is exceeded."""

from __future__ import annotations

import io
import random
from typing import Any

import pytest

from sapwood.reading import open_source as open_source_module
from sapwood.reading import opening
from sapwood.reading.readers import csv as csv_reader
from sapwood.reading.readers.record_ends import RecordEnds
from sapwood.stream import SourceError, open_source


class Counted(bytes):
    """Bytes that count how many of them are looked at."""

    scanned = 0

    def find(self, what: bytes, start: int = 0, stop: int | None = None) -> int:  # type: ignore[override]
        stop = len(self) if stop is None else stop
        found = super().find(what, start, stop)
        Counted.scanned += (stop if found < 0 else found + 1) - start
        return found

    def rfind(self, what: bytes, start: int = 0, stop: int | None = None) -> int:  # type: ignore[override]
        stop = len(self) if stop is None else stop
        found = super().rfind(what, start, stop)
        Counted.scanned += stop - (start if found < 0 else found)
        return found

    def count(self, what: bytes, start: int = 0, stop: int | None = None) -> int:  # type: ignore[override]
        stop = len(self) if stop is None else stop
        Counted.scanned += stop - start
        return super().count(what, start, stop)


def naive_ends(data: bytes) -> list[int]:
    """All ends of records, one byte at a time."""
    ends, state = [], "start"
    for i, byte in enumerate(data):
        character = chr(byte)
        if state == "quoted":
            state = "quote" if character == '"' else "quoted"
        elif state in ("start", "quote") and character == '"':
            state = "quoted"
        else:
            state = "start" if character in ",\n" else "field"
            if character == "\n":
                ends.append(i + 1)
    return ends


def test_ends_of_records_are_found() -> None:
    """Also where the text comes in pieces, cut anywhere."""
    draw = random.Random(0)
    for _ in range(3000):
        data = bytes(draw.choices(b'aa,""\n', k=draw.randrange(1, 14)))
        ends = naive_ends(data)
        cut = draw.randrange(len(data) + 1)
        scanner = RecordEnds(b",")
        first, second = scanner.last(data[:cut]), scanner.last(data[cut:])
        assert first == max((end for end in ends if end <= cut), default=0)
        assert second == (ends[-1] - cut if ends and ends[-1] > cut else 0)
        scanner = RecordEnds(b",")
        found = scanner.first(data[:cut])
        if not found and (rest := scanner.first(data[cut:])):
            found = cut + rest
        assert found == (ends[0] if ends else 0)


@pytest.mark.parametrize("method", ["first", "last"])
@pytest.mark.parametrize("before", [b"", b'"'], ids=["outside", "inside"])
@pytest.mark.parametrize(
    "pattern",
    [b'"\n', b'""\n"', b'"', b"\n", b'a"', b'""', b',"', b',"\n', b"a,", b'"\n' * 500 + b'"' + b"\n" * 2000],
)
def test_every_byte_is_scanned_a_few_times(method: str, before: bytes, pattern: bytes) -> None:
    """A header of quotes and newlines, 256 KB, took 47 s. Fails if the work grows with the square of the length."""
    data = Counted(pattern * (60_000 // len(pattern)))
    scanner = RecordEnds(b",")
    scanner.last(before)
    Counted.scanned = 0
    getattr(scanner, method)(data)
    assert Counted.scanned <= 5 * len(data)


class Trickle(io.RawIOBase):
    """A pipe that gives a few bytes at a time."""

    def __init__(self, data: bytes, step: int) -> None:
        self._data = io.BytesIO(data)
        self._step = step

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._data.readinto(memoryview(buffer)[: self._step])


@pytest.mark.parametrize("where", ["header", "row"])
def test_a_long_record_in_pieces_is_scanned_once(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe may give 64 KB at a time, so that a record of megabytes arrives in hundreds of pieces."""
    scanned = []

    class Counting(RecordEnds):
        def _scan(self, data: bytes, *, stop_at_first: bool) -> int:
            scanned.append(len(data))
            return super()._scan(data, stop_at_first=stop_at_first)

    monkeypatch.setattr(csv_reader, "RecordEnds", Counting)
    long = b'"' + b"\n" * 20_000 + b'"'
    text = b"a," + long + b"\n1,2\n" if where == "header" else b"a,y\n" + b"1," + long + b"\n"
    with pytest.raises(SourceError), open_source(Trickle(text, 100), target="y") as opened:
        list(opened)
    assert sum(scanned) <= 2 * len(text) + 1000


class CountedName(str):
    """A name that counts how often it is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        CountedName.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_columns_are_not_compared_with_one_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """30,000 columns took 49 s. Fails if the number of comparisons grows with the square of that of columns."""
    n_columns = 2000
    opened = open_source_module.open_reader

    def with_counted_names(*args: Any, **options: Any) -> Any:
        reader, target = opened(*args, **options)
        reader.names = [CountedName(name) for name in reader.names]
        return reader, target

    monkeypatch.setattr(open_source_module, "open_reader", with_counted_names)
    names = [f"c{i}" for i in range(n_columns)]
    text = ",".join(names) + "\n" + ",".join("1" * n_columns) + "\n"
    CountedName.compared = 0
    options = {"target": "c0", "drop": names[1000:1200], "categorical": names[10:60]}
    with open_source(io.BytesIO(text.encode()), **options) as source:
        list(source)
        state = source.state()
    with open_source(io.BytesIO(text.encode()), **options, resume=state) as source:
        list(source)
    assert CountedName.compared < 20 * n_columns


def test_too_many_columns_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "MAX_COLUMNS", 3)
    with pytest.raises(SourceError, match="has 4 columns; at most 3 can be read: leave some out of the file"):
        open_source(io.BytesIO(b"a,b,c,d\n1,2,3,4\n"), target="a")


@pytest.fixture
def small_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bound that takes little memory to exceed."""
    monkeypatch.setattr(csv_reader, "MAX_RECORD", 1 << 20)
    monkeypatch.setattr(csv_reader, "BLOCK", 1 << 16)


@pytest.mark.usefixtures("small_bound")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b'"' + b"\n" * (3 << 20), "its header line cannot be read .it does not end within 1 MB."),
        (b"a" * (3 << 20), "its header line cannot be read .it does not end within 1 MB."),
        (b'a,y\n1,"' + b"\n" * (3 << 20), "line 2: a quoted field that starts here or soon after is never closed"),
        (b"a,y\n1," + b"2" * (3 << 20), "line 2: is longer than 1 MB"),
        (b"a," + b"n" * 200_000 + b"\n1,2\n", "its header line cannot be read .field larger than field limit"),
    ],
)
def test_bounds_are_named(text: bytes, said: str) -> None:
    with pytest.raises(SourceError, match=said), open_source(io.BytesIO(text)) as source:
        list(source)


def test_the_place_of_a_bad_value_is_named_where_lines_are_too_long_to_be_split() -> None:
    """The text of a bad row is looked up by Python's CSV reader, which refuses fields that Arrow takes."""
    text = b"a,b\n" + b"1,2\n" * 20 + b"x," + b"3" * 200_000 + b"\n"
    with pytest.raises(SourceError, match="cannot be split into columns"), open_source(io.BytesIO(text)) as source:
        list(source)

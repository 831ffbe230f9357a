"""Reading takes work proportional to the size of the file, and says so where a bound is exceeded."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from typing import Any

import pytest

from sapwood.reading import source as source_module
from sapwood.reading.readers import csv as csv_reader
from sapwood.reading.readers.record_ends import first_end, last_end
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


def naive_ends(data: bytes, inside: bool) -> tuple[int, int, bool]:
    """First and last end of a record, one byte at a time, and whether the text ends inside quotes."""
    first = last = 0
    for i, byte in enumerate(data):
        inside ^= byte == ord('"')
        if byte == ord("\n") and not inside:
            first, last = first or i + 1, i + 1
    return first, last, inside


def test_ends_of_records_are_found() -> None:
    draw = random.Random(0)
    for _ in range(3000):
        data = bytes(draw.choices(b'a,"\n', k=draw.randrange(12)))
        for inside in (False, True):
            first, last, ends_inside = naive_ends(data, inside)
            assert last_end(data, inside=inside) == (last, ends_inside)
            assert first_end(data, inside=inside)[0] == first
            if not first:
                assert first_end(data, inside=inside)[1] == ends_inside


@pytest.mark.parametrize("end", [first_end, last_end])
@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize(
    "pattern", [b'"\n', b'""\n"', b'"', b"\n", b'a"', b'""', b'"\n' * 500 + b'"' + b"\n" * 2000, b'"' + b"\n" * 50]
)
def test_every_byte_is_scanned_a_few_times(end: Callable[..., tuple[int, bool]], inside: bool, pattern: bytes) -> None:
    """A header of quotes and newlines, 256 KB, took 47 s. Fails if the work grows with the square of the length."""
    data = Counted(pattern * (60_000 // len(pattern)))
    Counted.scanned = 0
    end(data, inside=inside)
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
    scanned = {"first_end": 0, "last_end": 0}

    def counting(name: str, function: Callable[..., tuple[int, bool]]) -> None:
        def counted(data: bytes, *, inside: bool = False) -> tuple[int, bool]:
            scanned[name] += len(data)
            return function(data, inside=inside)

        monkeypatch.setattr(csv_reader, name, counted)

    counting("first_end", first_end)
    counting("last_end", last_end)
    long = b'"' + b"\n" * 20_000 + b'"'
    text = b"a," + long + b"\n1,2\n" if where == "header" else b"a,y\n" + b"1," + long + b"\n"
    with pytest.raises(SourceError), open_source(Trickle(text, 100), target="y") as opened:
        list(opened)
    assert sum(scanned.values()) <= 2 * len(text) + 1000


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
    opened = source_module.open_reader

    def with_counted_names(*args: Any, **options: Any) -> Any:
        reader, target = opened(*args, **options)
        reader.names = [CountedName(name) for name in reader.names]
        return reader, target

    monkeypatch.setattr(source_module, "open_reader", with_counted_names)
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
    monkeypatch.setattr(source_module, "MAX_COLUMNS", 3)
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
        (b'a"b\nc"d,y\n1,2\n', "its header line cannot be read"),
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

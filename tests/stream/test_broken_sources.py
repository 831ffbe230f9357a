"""Broken files: one sentence with the name of the file and the remedy."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sapwood.reading.readers import csv as csv_reader
from sapwood.stream import SourceError, open_source

TEXT = b"x,y\n" + b"".join(b"%d,%d\n" % (i * i, i % 7) for i in range(50_000))
TABLE = pa.table({"x": np.arange(50_000.0), "y": np.arange(50_000.0)})


def as_bytes(write: Callable[[io.BytesIO], None]) -> bytes:
    sink = io.BytesIO()
    write(sink)
    return sink.getvalue()


def arrow_bytes() -> bytes:
    def write(sink: io.BytesIO) -> None:
        with pa.ipc.new_file(sink, TABLE.schema) as writer:
            writer.write_table(TABLE)

    return as_bytes(write)


def zstd_bytes() -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as packed:
        packed.write(TEXT)
    return bytes(sink.getvalue().to_pybytes())


PARQUET = as_bytes(lambda sink: pq.write_table(TABLE, sink))
GZIP = gzip.compress(TEXT)
ZSTD = zstd_bytes()
ARROW = arrow_bytes()
BROKEN = {
    "empty.csv": (b"", "is empty; a header line"),
    "header-only.csv": (b"x,y\n", "has no rows"),
    "headless.csv": (b"1,2\n3,4\n", "line 1: holds numbers where the names of the columns should be"),
    "twice.csv": (b"x,x,y\n1,2,3\n", "two columns are called 'x'"),
    "garbage.csv": (bytes(np.random.default_rng(0).integers(0, 256, 5000, dtype=np.uint8)), "holds binary data"),
    "mixed.csv": ("größe,".encode() + b"caf\xe9,y\n1,2,3\n", "line 1: is not UTF-8 text; name its encoding"),
    "unclosed.csv": (
        b'x,y\n"1,2\n3,4\n',
        "line 2: the line has 1 field; the header has 2 (a quote in it may not be closed)",
    ),
    "cut.csv.gz": (GZIP[: len(GZIP) // 2], "gzip data is truncated; copy or compress"),
    "damaged.csv.gz": (GZIP[:2000] + b"\xff" * 50 + GZIP[2050:], "gzip data is damaged"),
    "cut.csv.zst": (ZSTD[: len(ZSTD) // 2], "zstd data is truncated"),
    "cut.parquet": (PARQUET[: len(PARQUET) // 2], "Parquet data is damaged or truncated"),
    "damaged.parquet": (PARQUET[:100] + b"\xff" * 3000 + PARQUET[3100:], "Parquet data is damaged or truncated"),
    "cut.arrow": (ARROW[: len(ARROW) // 2], "Arrow data is damaged or truncated"),
    "old.feather": (b"FEA1" + b"\0" * 50, "Feather file of version 1"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_one_clear_sentence(name: str, tmp_path: Path) -> None:
    data, expected = BROKEN[name]
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(SourceError) as error:
        list(open_source(path, target="y"))
    message = str(error.value)
    assert message.startswith(str(path))
    assert expected in message
    assert ";" in message, "a remedy follows"
    assert "\n" not in message
    assert error.value.file == str(path)


def test_a_missing_file_names_the_nearest(csv: Callable[..., Path], tmp_path: Path) -> None:
    csv("x,y\n1,2\n", "prices.csv")
    with pytest.raises(SourceError, match=r"price\.csv: there is no such file; did you mean 'prices\.csv'\?"):
        open_source(tmp_path / "price.csv", target="y")
    with pytest.raises(SourceError, match="there is no such file"):
        open_source(tmp_path / "no" / "price.csv", target="y")


def test_no_permission(csv: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    path = csv("x,y\n1,2\n")
    if os.geteuid() == 0:  # root ignores permission bits

        def refuse(*_: object) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("builtins.open", refuse)
    else:
        path.chmod(0)
    with pytest.raises(SourceError, match=r"rows\.csv: no permission to read it"):
        open_source(path, target="y")


def test_nothing_to_read(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="the folder holds no data file; files must end in"):
        open_source(tmp_path, target="y")
    with pytest.raises(SourceError, match="no file matches"):
        open_source(str(tmp_path / "*.csv"), target="y")
    with pytest.raises(SourceError, match="the iterable is empty"):
        open_source(iter([]), target="y")
    with pytest.raises(SourceError, match="an object of type int cannot be read as a stream"):
        open_source(5, target="y")
    with pytest.raises(SourceError, match="no input column left"):
        open_source([{"y": 1.0}], target="y")


def test_files_of_a_folder_must_agree_and_are_checked_before_the_first_row(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("size,y\n1,2\n")
    (tmp_path / "b.csv").write_text("sizes,y\n1,2\n")
    with pytest.raises(
        SourceError, match=r"b\.csv: column 'size' is missing, which .*a\.csv has; did you mean 'sizes'"
    ):
        open_source(tmp_path, target="y")
    (tmp_path / "b.csv").write_text("size,extra,y\n1,2,3\n")
    with pytest.raises(SourceError, match=r"b\.csv: column 'extra' is not in .*a\.csv"):
        open_source(tmp_path, target="y")


def test_a_column_that_changes_its_type_between_files(tmp_path: Path) -> None:
    pq.write_table(pa.table({"t": pa.array([0] * 2000, pa.timestamp("s")), "y": [1.0] * 2000}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"t": [5.0], "y": [1.0]}), tmp_path / "b.parquet")
    with pytest.raises(
        SourceError, match=r"b\.parquet: column 't' has type double, but it held timestamp values before"
    ):
        list(open_source(tmp_path, target="y"))


def test_parquet_cannot_come_from_a_pipe() -> None:
    with pytest.raises(SourceError, match="parquet data cannot be read from a pipe; save it as a file"):
        open_source(io.BytesIO(PARQUET), target="y")


def test_an_unclosed_quote_does_not_fill_memory(csv: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_reader, "BLOCK", 1000)
    monkeypatch.setattr(csv_reader, "MAX_RECORD", 20_000)
    path = csv("x,y\n" + "1,2\n" * 1000 + '"1,2\n' + "1,2\n" * 20_000)
    with pytest.raises(SourceError, match="line 1002: a quoted field that starts here or soon after is never closed"):
        list(open_source(path, target="y"))


@pytest.mark.parametrize("name", ["batch_rows", "max_rows", "start_row"])
def test_counts_are_checked(name: str, csv: Callable[..., Path]) -> None:
    with pytest.raises(SourceError, match=f"{name} is -1"):
        open_source(csv("x,y\n1,2\n"), target="y", **{name: -1})

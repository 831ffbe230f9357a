"""The same rows in every file format give the same batches, bit for bit."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

MIXED = (
    "when,day,clock,open,colour,size,code,y\n"
    "2024-02-29T23:30:00,2024-02-29,23:30:00,true,red,1.5,7,1.0\n"
    "2024-03-01T00:15:30.5,2024-03-01,00:15:30,false,blue,,8,2.5\n"
    ",,,,,NA,7,3.0\n"
    "2023-12-31T12:00:00,2023-12-31,12:00:00,true,red,-3e2,9,4.0\n"
)


def forms(text: bytes, folder: Path) -> dict[str, Path]:
    """Write the same table as plain, gzip and zstd CSV, Parquet, Arrow file, Arrow stream and Feather."""
    table = pa_csv.read_csv(io.BytesIO(text))
    paths = {
        name: folder / f"rows.{name}" for name in ("csv", "csv.gz", "csv.zst", "parquet", "arrow", "arrows", "feather")
    }
    paths["csv"].write_bytes(text)
    paths["csv.gz"].write_bytes(gzip.compress(text))
    with pa.CompressedOutputStream(str(paths["csv.zst"]), "zstd") as packed:
        packed.write(text)
    pq.write_table(table, paths["parquet"], row_group_size=7001)
    with pa.ipc.new_file(str(paths["arrow"]), table.schema) as writer:
        writer.write_table(table, max_chunksize=3001)
    with pa.ipc.new_stream(str(paths["arrows"]), table.schema) as writer:
        writer.write_table(table, max_chunksize=3001)
    feather.write_feather(table, str(paths["feather"]))
    return paths


def assert_same(first: Any, second: Any) -> None:
    """Compare bits: NaN equals NaN, and -0.0 differs from 0.0."""
    assert first.source.feature_names == second.source.feature_names
    assert first.source.task_hint == second.source.task_hint
    assert first.x.tobytes() == second.x.tobytes()
    assert first.y.dtype == second.y.dtype
    assert first.y.tobytes() == second.y.tobytes()
    assert first.rows.tobytes() == second.rows.tobytes()
    assert first.source.state()["schema"] == second.source.state()["schema"]


@pytest.mark.parametrize("name", ["elec2_paper", "metro_traffic"])
def test_every_form_of_a_real_stream_gives_the_same_batches(
    name: str, read: Callable[..., Any], real_data: Callable[[str], Path], tmp_path: Path
) -> None:
    text = gzip.decompress(real_data(name).read_bytes())
    reference = read(real_data(name), target="y")
    assert len(reference.x) == text.count(b"\n") - 1
    for path in forms(text, tmp_path).values():
        assert_same(reference, read(path, target="y"))


def test_every_form_of_dates_words_and_gaps_gives_the_same_batches(read: Callable[..., Any], tmp_path: Path) -> None:
    paths = forms(MIXED.encode(), tmp_path)
    reference = read(paths["csv"], target="y")
    assert pq.read_schema(paths["parquet"]).field("when").type == pa.timestamp("ns")  # typed, not text
    for path in paths.values():
        assert_same(reference, read(path, target="y"))


@pytest.mark.parametrize("batch_rows", [1, 7, 999, 1000, 1001, 10**6])
def test_batch_size_changes_nothing(
    batch_rows: int, read: Callable[..., Any], real_data: Callable[[str], Path]
) -> None:
    options = {"target": "y", "max_rows": 4000}
    path = real_data("metro_traffic")
    assert_same(read(path, **options), read(path, batch_rows=batch_rows, **options))


@pytest.mark.parametrize("compress", [False, True], ids=["plain", "gzip"])
def test_standard_input_gives_the_same_rows(compress: bool, read: Callable[..., Any], csv: Callable[..., Path]) -> None:
    text = MIXED.encode()
    program = (
        "import sys; from sapwood.stream import open_source\n"
        "for batch in open_source('-', target='y'): sys.stdout.buffer.write(batch.X.tobytes())"
    )
    given = gzip.compress(text) if compress else text
    run = subprocess.run([sys.executable, "-c", program], input=given, stdout=subprocess.PIPE, check=True)
    assert run.stdout == read(csv(text), target="y").x.tobytes()


def test_a_slow_pipe_is_read_as_bytes_arrive(read: Callable[..., Any], csv: Callable[..., Path]) -> None:
    """Bytes arrive in pieces split anywhere, even inside a line ending or a two-byte character."""
    text = "a,b,y\r\n" + "".join(f'{i},"ü\r\nx",{i % 2}\r\n' for i in range(20))
    reader, writer = os.pipe()
    program = f"import os,sys\nfor b in {text.encode()!r}: os.write({writer}, bytes([b]))"
    with subprocess.Popen([sys.executable, "-c", program], pass_fds=[writer]):
        os.close(writer)
        piped = read(os.fdopen(reader, "rb", buffering=0), target="y")
    assert_same(read(csv(text), target="y"), piped)
    assert piped.x[:, 0].tolist() == list(range(20))


def test_a_folder_and_a_glob_are_read_in_natural_order(read: Callable[..., Any], tmp_path: Path) -> None:
    for i in (10, 2, 1):
        (tmp_path / f"part{i}.csv").write_text(f"x,y\n{i},0\n")
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / "notes.txt").write_text("not data")
    (tmp_path / "nested").mkdir()
    pq.write_table(pa.table({"y": [0.0], "x": [99]}), tmp_path / "nested" / "part0.parquet")  # another column order
    assert read(tmp_path, target="y").x.ravel().tolist() == [99, 1, 2, 10]
    assert read(str(tmp_path / "part*.csv"), target="y").x.ravel().tolist() == [1, 2, 10]
    listed = [tmp_path / "part10.csv", str(tmp_path / "part1.csv")]
    assert read(listed, target="y").x.ravel().tolist() == [10, 1]


def test_row_numbers_continue_across_files(read: Callable[..., Any], tmp_path: Path) -> None:
    for i in range(3):
        (tmp_path / f"part{i}.csv").write_text("x,y\n1,0\n2,0\n")
    found = read(tmp_path, target="y", batch_rows=4)
    assert found.rows.tolist() == [0, 1, 2, 3, 4, 5]
    assert np.array_equal(found.x.ravel(), [1, 2, 1, 2, 1, 2])
    assert found.source.fraction == 1.0

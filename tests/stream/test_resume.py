"""A run that is stopped anywhere and resumed reads what an uninterrupted run reads."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sapwood.stream import SourceError, open_source

N_ROWS = 2500


def rows() -> list[str]:
    """Late categories, dates, missing values, and occasional bad rows."""
    lines = []
    for i in range(N_ROWS):
        word = f"w{i // 300}-{i % 4}"
        target = "" if i % 97 == 5 else str(i / 3)
        lines.append(f"{word},2024-01-{1 + i % 28:02d},{'NA' if i % 11 == 0 else i},{target}")
    return lines


@pytest.fixture
def specs(tmp_path: Path) -> dict[str, Any]:
    """The same rows as CSV, gzip, a folder of mixed files, and Parquet with small row groups."""
    text = "w,t,x,y\n"
    lines = rows()
    (tmp_path / "rows.csv").write_text(text + "\n".join(lines))
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress((text + "\n".join(lines)).encode()))
    cells = [line.split(",") for line in lines]
    table = pa.table({name: pa.array([row[i] for row in cells]) for i, name in enumerate(("w", "t", "x", "y"))})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=333)
    folder = tmp_path / "folder"
    folder.mkdir()
    pq.write_table(table[:700], folder / "part1.parquet")
    (folder / "part2.csv").write_text(text + "\n".join(lines[700:1400]))
    pq.write_table(table[1400:], folder / "part10.parquet", row_group_size=100)
    return {
        "csv": tmp_path / "rows.csv",
        "gzip": tmp_path / "rows.csv.gz",
        "parquet": tmp_path / "rows.parquet",
        "folder": folder,
    }


@pytest.mark.parametrize("form", ["csv", "gzip", "parquet", "folder"])
def test_resuming_after_every_batch(form: str, specs: dict[str, Any], tmp_path: Path) -> None:
    options: dict[str, Any] = {"target": "y", "on_bad_row": "quarantine", "batch_rows": 250, "max_rows": 2400}
    with open_source(specs[form], quarantine=tmp_path / "whole.csv", **options) as whole:
        expected = list(whole)
        assert whole.position == 2400
        final = whole.state()
    part = tmp_path / "part.csv"
    state = None
    for batch in expected:
        with open_source(specs[form], quarantine=part, resume=state, **options) as source:
            found = next(source)
            state = json.loads(json.dumps(source.state()))
            next(source, None)  # read past the checkpoint, like a run that is killed
        assert found.row == batch.row
        assert found.X.tobytes() == batch.X.tobytes()
        assert found.y is not None
        assert batch.y is not None
        assert found.y.tobytes() == batch.y.tobytes()
        assert found.rows.tolist() == batch.rows.tolist()
    with open_source(specs[form], quarantine=part, resume=state, **options) as source:
        assert list(source) == []
        assert source.state() == final
        assert source.n_bad == 25
    assert part.read_bytes() == (tmp_path / "whole.csv").read_bytes()


@pytest.mark.parametrize("form", ["csv", "parquet", "folder"])
@pytest.mark.parametrize("start", [0, 1, 332, 333, 334, 1399, 2499])
def test_start_row_drops_rows(form: str, start: int, specs: dict[str, Any], read: Callable[..., Any]) -> None:
    options: dict[str, Any] = {"target": "y", "on_bad_row": "skip", "drop": ["w", "t"]}
    whole = read(specs[form], **options)
    part = read(specs[form], start_row=start, **options)
    keep = whole.rows >= start
    assert np.array_equal(part.x, whole.x[keep], equal_nan=True)
    assert part.rows.tolist() == whole.rows[keep].tolist()


def test_start_row_beyond_the_end(specs: dict[str, Any]) -> None:
    with pytest.raises(SourceError, match="has no rows after the first 9999"):
        open_source(specs["csv"], target="y", start_row=9999)


def test_max_rows_counts_from_the_start_row(read: Callable[..., Any], specs: dict[str, Any]) -> None:
    found = read(specs["parquet"], target="y", on_bad_row="skip", start_row=10, max_rows=20)
    assert found.rows.tolist() == list(range(10, 30))
    assert found.source.n_rows == 30


def test_a_state_of_another_version_is_refused(specs: dict[str, Any]) -> None:
    with pytest.raises(SourceError, match="has format 99; this version reads 2"):
        open_source(specs["csv"], target="y", resume={"format": 99})


def test_an_interrupted_batch_has_no_effect(tmp_path: Path) -> None:
    """Fails if bad rows are counted or quarantined before their batch has been returned."""

    def pairs(stop_at: int | None) -> Any:
        for i in range(3000):
            if i == stop_at:
                raise KeyboardInterrupt
            yield {"w": f"w{i % 50}", "x": i}, None if i % 100 == 99 else i / 3

    options: dict[str, Any] = {"on_bad_row": "quarantine", "batch_rows": 600}
    interrupted = open_source(pairs(2500), quarantine=tmp_path / "bad.csv", **options)
    with pytest.raises(KeyboardInterrupt):
        list(interrupted)
    state = interrupted.state()
    interrupted.close()
    assert state["position"] == 1800
    assert state["bad"]["reasons"] == {"missing target": 18}
    with open_source(pairs(None), quarantine=tmp_path / "bad.csv", resume=state, **options) as resumed:
        assert [batch.row for batch in resumed] == [1800, 2400]
        assert resumed.n_bad == 30
    with open_source(pairs(None), quarantine=tmp_path / "whole.csv", **options) as whole:
        list(whole)
    assert (tmp_path / "bad.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_resuming_takes_constant_memory() -> None:
    """The rows before the checkpoint are read again one block at a time. Fails if they are collected."""
    import io
    import tracemalloc

    def text(n_rows: int) -> bytes:
        return b"a,y\n" + b"".join(b"%d,%d\n" % (i % 997, i % 13) for i in range(n_rows))

    peaks = []
    for n_rows in (300_000, 900_000):
        data = text(n_rows)
        with open_source(io.BytesIO(data), target="y", batch_rows=10_000) as source:
            for _ in source:
                pass
            state = source.state()
        tracemalloc.start()
        with open_source(io.BytesIO(data), target="y", batch_rows=10_000, resume=state) as source:
            assert source.position == n_rows
            peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]

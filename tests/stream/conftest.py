"""Fixtures for the tests of sources: the real data, and reading a whole source."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from sapwood.stream import Source, open_source


class Read(NamedTuple):
    """The concatenated batches of a source."""

    x: NDArray[np.float64]
    y: NDArray[Any] | None
    rows: NDArray[np.int64]
    source: Source


@pytest.fixture
def read() -> Callable[..., Read]:
    """Reads a whole source and checks every batch against the contract."""

    def read_all(spec: Any, **options: Any) -> Read:
        with open_source(spec, **options) as source:
            batches = list(source)
        for batch in batches:
            assert batch.X.dtype == np.float64
            assert batch.X.flags.c_contiguous
            assert batch.names == source.feature_names
            assert batch.X.shape == (len(batch.rows), len(batch.names))
        x = np.concatenate([batch.X for batch in batches])
        targets = [batch.y for batch in batches if batch.y is not None]
        y = np.concatenate(targets) if targets else None
        return Read(x, y, np.concatenate([batch.rows for batch in batches]), source)

    return read_all


@pytest.fixture
def csv(tmp_path: Path) -> Callable[..., Path]:
    """Writes a CSV file from text or bytes."""

    def write(text: str | bytes, name: str = "rows.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write

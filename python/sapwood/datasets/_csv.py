"""A small reader for the data files: gzipped CSV with a header, read into memory."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


def read_table(path: Path) -> tuple[list[str], list[list[str]]]:
    """Header and columns of a gzipped CSV file, cells as text."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines))
    if len(rows) < 2:
        raise ValueError(f"{path} has {len(rows)} rows; it must have a header and at least one row of data.")
    header, body = rows[0], rows[1:]
    for number, row in enumerate(body, start=1):
        if len(row) != len(header):
            raise ValueError(f"{path}: row {number} has {len(row)} columns; the header has {len(header)}.")
    return header, [list(column) for column in zip(*body, strict=True)]


def encode(names: list[str], columns: list[list[str]]) -> tuple[NDArray[np.float64], dict[str, tuple[str, ...]]]:
    """Encode text columns as one array; also return the values of the columns that are not numeric."""
    x = np.empty((len(columns[0]), len(columns)), dtype=np.float64)
    categories: dict[str, tuple[str, ...]] = {}
    for j, (name, cells) in enumerate(zip(names, columns, strict=True)):
        try:
            x[:, j] = np.array([cell or "nan" for cell in cells], dtype=np.float64)
        except ValueError:
            x[:, j], categories[name] = _codes(cells)
    return x, categories


def _codes(cells: list[str]) -> tuple[list[float], tuple[str, ...]]:
    # In order of first appearance, not alphabetically: a code must not depend on later rows of the stream.
    position: dict[str, int] = {}
    codes = [float(position.setdefault(cell, len(position))) if cell else float("nan") for cell in cells]
    return codes, tuple(position)

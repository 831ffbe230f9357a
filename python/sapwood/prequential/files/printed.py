"""Predictions on standard output: one line per row, flushed at once, for whoever reads the other end of a pipe."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, BinaryIO, Literal, get_args

import numpy as np

from sapwood._text import visible
from sapwood.prequential.files.predictions import Columns, csv_cells, csv_text

LineFormat = Literal["csv", "jsonl"]
LINE_FORMATS: tuple[LineFormat, ...] = get_args(LineFormat)

STANDARD_OUTPUT = "-"


class PrintedPredictions:
    """Predictions as lines of text: CSV with a header, or JSON objects.

    The columns of CSV are those of the first rows, since a header cannot be taken back: the probability of a class
    that arrives later is left out (`notes` says so). JSON objects have whatever is known of their row.

    Examples
    --------
    >>> import io
    >>> import numpy as np
    >>> out = io.BytesIO()
    >>> PrintedPredictions(out, "jsonl").append({"row": np.array([0, 1]), "mean": np.array([0.5, np.nan])})
    >>> print(out.getvalue().decode(), end="")
    {"row":0,"mean":0.5}
    {"row":1,"mean":null}
    """

    path = Path(STANDARD_OUTPUT)

    def __init__(self, stream: BinaryIO | None = None, line_format: LineFormat = "csv") -> None:
        self._stream = sys.stdout.buffer if stream is None else stream
        self._format = line_format
        self._names: list[str] = []
        self._left_out: list[str] = []
        self._n_rows = 0

    def append(self, columns: Columns) -> None:
        n_rows = len(next(iter(columns.values())))
        text = self._as_csv(columns, n_rows) if self._format == "csv" else _as_json(columns)
        if self._stream.isatty():  # labels are data, and do not steer a terminal
            text = "\n".join(map(visible, text.decode("utf-8", "surrogateescape").split("\n"))).encode()
        self._stream.write(text)
        self._stream.flush()
        self._n_rows += n_rows

    def _as_csv(self, columns: Columns, n_rows: int) -> bytes:
        header = b""
        if not self._names:
            self._names = list(columns)
            header = csv_text([self._names])
        self._left_out += [name for name in columns if name not in self._names and name not in self._left_out]
        cells = (csv_cells(columns, name, n_rows) for name in self._names)
        return header + csv_text(zip(*cells, strict=True))

    def notes(self) -> list[str]:
        """Return a note on the columns that the header lacks."""
        if not self._left_out:
            return []
        return [
            f"standard output lacks {', '.join(self._left_out)}, of classes that arrived after the header was written; "
            "JSON lines have them"
        ]

    def flush(self) -> None:
        pass  # every line is flushed

    def sync(self) -> dict[str, int]:
        return {"bytes": 0, "rows": self._n_rows}

    def publish(self) -> None:
        pass

    def close(self, *, finished: bool) -> None:
        pass


def _as_json(columns: Columns) -> bytes:
    named = {name: _json_cells(values) for name, values in columns.items()}
    rows = (dict(zip(named, row, strict=True)) for row in zip(*named.values(), strict=True))
    return "".join(json.dumps(row, separators=(",", ":"), allow_nan=False) + "\n" for row in rows).encode()


def _json_cells(values: Any) -> list[Any]:
    cells: list[Any] = values.tolist()
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        return [value if np.isfinite(value) else None for value in cells]
    return cells

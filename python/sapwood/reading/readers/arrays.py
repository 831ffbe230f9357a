"""Arrays, and the built-in generators, which produce arrays."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
from numpy.typing import NDArray

from sapwood._numbers import unmasked
from sapwood.reading.chunk import Chunk, row_place
from sapwood.reading.errors import SourceError, nearest
from sapwood.reading.readers.memory import ROWS_AT_A_TIME, InMemory, raw_column


class ArraysReader(InMemory):
    """Reads arrays `X` (rows, columns) and `y` (rows)."""

    label = "<arrays>"

    def __init__(self, x: Any, y: Any, target: str, names: Sequence[str] | None = None) -> None:
        if hasattr(x, "tocsr"):
            raise SourceError("X is sparse, and is read as a dense array only; pass X.toarray()", file=self.label)
        self._x = np.asarray(unmasked(x))
        if self._x.ndim != 2:
            raise SourceError(f"X has {self._x.ndim} dimensions; it must have 2, one row per example", file=self.label)
        self._y = None if y is None else np.asarray(unmasked(y))
        if self._y is not None and self._y.shape != (len(self._x),):
            raise SourceError(
                f"y has shape {self._y.shape}; it must have one entry for each of the {len(self._x)} rows of X",
                file=self.label,
            )
        inputs = [f"x{i}" for i in range(1, self._x.shape[1] + 1)] if names is None else list(names)
        self._target = target
        self.names = inputs + ([] if y is None else [target])
        self.n_rows: int | None = len(self._x)
        self._n_read = 0

    def chunks(self, skip: int, columns: list[str]) -> Iterator[Chunk]:
        """Yield the rows after the first `skip`."""
        for start in range(skip, len(self._x), ROWS_AT_A_TIME):
            stop = min(start + ROWS_AT_A_TIME, len(self._x))
            raw = {name: raw_column(self._column(name)[start:stop]) for name in columns}
            self._n_read = stop
            yield Chunk(raw, stop - start, row_place(self.label, start), partial(self._text, start))

    def _column(self, name: str) -> NDArray[Any]:
        if name == self._target and self._y is not None:
            return self._y
        column: NDArray[Any] = self._x[:, self.names.index(name)]
        return column

    def _text(self, start: int, offset: int) -> str:
        return json.dumps({name: self._column(name)[start + offset] for name in self.names}, default=str)

    def fraction(self) -> float | None:
        """Return how much has been read."""
        return self._n_read / self.n_rows if self.n_rows else None


def open_demo(spec: str, target: str) -> ArraysReader:
    """Open a built-in generator, such as ``demo:drifting-friedman?n=10000&k=1&seed=0``."""
    from sapwood.datasets import STREAMS

    name, _, query = spec.removeprefix("demo:").partition("?")
    generate = STREAMS.get(name.replace("_", "-"))
    if generate is None:
        listed = ", ".join(sorted(STREAMS))
        raise SourceError(
            f"{spec}: there is no built-in stream {name!r}; there are: {listed}{nearest(name, STREAMS)}", file=spec
        )
    allowed = list(inspect.signature(generate).parameters)
    arguments = dict(parse_qsl(query, keep_blank_values=True))
    for argument in arguments:
        if argument not in allowed:
            raise SourceError(
                f"{spec}: no parameter {argument!r}; there are: {', '.join(allowed)}{nearest(argument, allowed)}",
                file=spec,
            )
    try:
        stream = generate(**{argument: _literal(value) for argument, value in arguments.items()})
    except (TypeError, ValueError) as error:
        raise SourceError(f"{spec}: {error}", file=spec) from error
    return ArraysReader(stream.X, stream.y, target, stream.feature_names)


def _literal(text: str) -> int | float | str:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text

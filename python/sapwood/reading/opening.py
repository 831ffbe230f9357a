"""Choosing the reader for a source."""

from __future__ import annotations

import glob
import io
import itertools
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import narwhals as nw

from sapwood.reading.chunk import Reader
from sapwood.reading.errors import SourceError
from sapwood.reading.readers.arrays import ArraysReader, open_demo
from sapwood.reading.readers.csv import TextForm
from sapwood.reading.readers.files import FilesReader, find_files, open_stdin, open_stream
from sapwood.reading.readers.live import FollowingReader
from sapwood.reading.readers.pairs import PairsReader
from sapwood.reading.readers.tables import TablesReader, is_table, names_of

DEFAULT_TARGET = "y"

MAX_COLUMNS = 100_000
"""Wider sources are refused; memory and time of every batch grow with the number of columns."""


def open_reader(
    spec: Any, target: str | None, form: TextForm, look_ahead: int, *, follow: bool = False
) -> tuple[Reader, str | None]:
    """Return a reader for `spec` and the name of its target, which arrays, pairs and generators have by default."""
    own_target = target or DEFAULT_TARGET
    if follow:
        return FollowingReader(_file_to_follow(spec), form), target
    if isinstance(spec, str | os.PathLike):
        text = os.fspath(spec)
        if text == "-":
            return open_stdin(form), target
        if text.startswith("demo:"):
            return open_demo(text, own_target), own_target
        return FilesReader(find_files(text), form), target
    if nw.dependencies.is_polars_lazyframe(spec):
        spec = spec.collect()
    if isinstance(spec, io.IOBase):
        return open_stream(spec, str(getattr(spec, "name", "<file>")), form), target  # type: ignore[arg-type]
    if is_table(spec):
        return TablesReader([spec], len(spec) if hasattr(spec, "__len__") else None), target
    if all(hasattr(spec, part) for part in ("X", "y", "feature_names")):
        return ArraysReader(spec.X, spec.y, own_target, spec.feature_names), own_target
    if isinstance(spec, tuple) and len(spec) == 2 and _has_rows(spec[0]):
        return _arrays(spec[0], spec[1], own_target), None if spec[1] is None else own_target
    if isinstance(spec, Iterable):
        return _iterable(spec, target, own_target, form, look_ahead)
    raise SourceError(
        f"an object of type {type(spec).__name__} cannot be read as a stream; pass a path, a table, arrays (X, y) or "
        "an iterable of (x, y) pairs"
    )


def _file_to_follow(spec: Any) -> Path:
    text = os.fspath(spec) if isinstance(spec, str | os.PathLike) else ""
    path = Path(text).expanduser()
    if text in ("", "-") or text.startswith("demo:") or path.is_dir() or (not path.exists() and glob.has_magic(text)):
        raise SourceError(f"{text or type(spec).__name__}: cannot be followed with follow=; name one CSV file")
    return path


def _has_rows(x: Any) -> bool:
    return hasattr(x, "tocsr") or getattr(x, "ndim", 0) == 2 or is_table(x)


def _arrays(x: Any, y: Any, target: str) -> ArraysReader:
    return ArraysReader(x, y, target, names_of(x) if is_table(x) else None)


def _iterable(
    spec: Iterable[Any], target: str | None, own_target: str, form: TextForm, look_ahead: int
) -> tuple[Reader, str | None]:
    items = iter(spec)
    first = list(itertools.islice(items, 1))
    items = itertools.chain(first, items)
    if first and isinstance(first[0], str | os.PathLike):
        paths = [path for name in items for path in find_files(os.fspath(name))]
        return FilesReader([Path(path) for path in paths], form), target
    if first and is_table(first[0]):
        return TablesReader(items), target
    if first and isinstance(first[0], dict):
        return PairsReader(items, own_target, look_ahead), target
    return PairsReader(items, own_target, look_ahead), own_target


def check_names(reader: Reader) -> None:
    """Refuse columns that share a name, and more columns than can be read."""
    names, label = reader.names, reader.label
    if len(names) > MAX_COLUMNS:
        raise SourceError(
            f"{label}: has {len(names)} columns; at most {MAX_COLUMNS} can be read: leave some out of the file",
            file=label,
        )
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise SourceError(f"{label}: two columns are called {name!r}; rename one", file=label)
        seen.add(name)

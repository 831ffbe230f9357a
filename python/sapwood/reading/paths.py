"""Refusing to write a file over another one of the same run, before anything is opened."""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from sapwood.reading.errors import SourceError
from sapwood.reading.readers.files import find_files, is_data_file

_IGNORES_CASE = sys.platform in ("win32", "darwin")  # by default; files that exist are compared by their identity


def check_paths(sources: Mapping[str, Any], outputs: Mapping[str, Any]) -> None:
    """Raise SourceError if two outputs are the same file, or an output is a file of a source.

    Links are resolved, and two names of one file (hard links, another case) are found to be the same.

    Parameters
    ----------
    sources : mapping from str to anything that `open_source` accepts
        What is read, by role. Only files can be overwritten.
    outputs : mapping from str to path or None
        What is written, by role.

    Examples
    --------
    >>> check_paths({"source": "rows.csv"}, {"predictions": "./rows.csv", "checkpoint": None})
    Traceback (most recent call last):
        ...
    sapwood.reading.errors.SourceError: rows.csv: would be overwritten, since it is both the source and ...
    """
    written = [(role, Path(path)) for role, path in outputs.items() if path is not None]
    for i, (role, path) in enumerate(written):
        for other_role, other in written[:i]:
            if _is_same_file(path, other):
                raise _collision(path, other_role, role)
    for source_role, spec in sources.items():
        for role, path in written:
            for text in _texts(spec):
                _check_output(path, role, text, source_role)


def _check_output(path: Path, role: str, spec: str, source_role: str) -> None:
    """Refuse an output that is read now, or would be read as part of a folder or glob when the run is resumed."""
    source = Path(spec).expanduser()
    if source.is_dir():
        inside = _inside(path, source)
        if inside is not None and is_data_file(inside):
            raise SourceError(
                f"{path}: the {role} would become part of the {source_role}, the folder {spec}; write it to another "
                "folder",
                file=str(path),
            )
    elif not source.exists() and glob.has_magic(spec) and fnmatch(os.path.realpath(path), os.path.realpath(source)):
        raise SourceError(
            f"{path}: the {role} would become part of the {source_role}, {spec}; give it a name that does not match",
            file=str(path),
        )
    try:
        files = find_files(spec)
    except SourceError:
        return  # nothing there to be overwritten; opening it says so
    for file in files:
        if _is_same_file(path, file):
            raise _collision(file, source_role, role)


def _texts(spec: Any) -> Iterator[str]:
    """Yield the paths in a source, of which open files, tables, generators and standard input have none."""
    if isinstance(spec, str | os.PathLike):
        text = os.fspath(spec)
        if text != "-" and not text.startswith("demo:"):
            yield text
    elif isinstance(spec, list | tuple) and all(isinstance(entry, str | os.PathLike) for entry in spec):
        for entry in spec:
            yield from _texts(entry)


def _inside(path: Path, folder: Path) -> Path | None:
    """Return the path relative to a folder that it lies in."""
    try:
        return Path(os.path.realpath(path)).relative_to(os.path.realpath(folder))
    except ValueError:
        return None


def _is_same_file(one: Path, other: Path) -> bool:
    try:
        if os.path.samefile(one, other):
            return True
    except OSError:
        pass  # at least one does not exist yet, so that only the names can be compared
    names = [os.path.normcase(os.path.realpath(path)) for path in (one, other)]
    return names[0] == names[1] or (_IGNORES_CASE and names[0].casefold() == names[1].casefold())


def _collision(path: Path, one: str, other: str) -> SourceError:
    return SourceError(
        f"{path}: would be overwritten, since it is both the {one} and the {other}; give each a file of its own",
        file=str(path),
    )

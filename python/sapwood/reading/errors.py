"""The error of this package, and the hints it gives."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class SourceError(ValueError):
    """A source cannot be read, or a row of it cannot be used.

    The message is one sentence that names the file, the line or row, and the remedy.

    Parameters
    ----------
    message : str
        What was found, where, and the remedy.
    file : str or None
        The file, or another name of the source, if known.
    line : int or None
        The line of a text file, counting from 1.
    row : int or None
        The row of a table, counting from 0.

    Examples
    --------
    >>> from sapwood.stream import SourceError, open_source
    >>> try:
    ...     open_source("nowhere.csv", target="y")
    ... except SourceError as error:
    ...     print(error.file)
    nowhere.csv
    """

    def __init__(
        self, message: str, *, file: str | None = None, line: int | None = None, row: int | None = None
    ) -> None:
        super().__init__(message)
        self.file = file
        self.line = line
        self.row = row


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint with the known name closest to `name`, or an empty string if none is close."""
    lowered = {k.lower(): k for k in known}
    match = difflib.get_close_matches(name.lower(), list(lowered), n=1, cutoff=0.5)
    return f"; did you mean {lowered[match[0]]!r}?" if match else ""


def unknown_column(name: str, role: str, known: list[str], where: str) -> SourceError:
    """Make the error for a column that the user named but the source does not have."""
    listed = ", ".join(known[:50]) + (f", ... ({len(known)} in total)" if len(known) > 50 else "")
    return SourceError(
        f"{where} has no column {name!r} ({role}); its columns are: {listed}{nearest(name, known)}", file=where
    )


def check_columns(where: str, found: list[str], names: list[str], first: str) -> None:
    """Refuse a further file, whose columns are `found`, unless they are those of the first."""
    absent = [name for name in names if name not in found]
    if absent:
        raise SourceError(
            f"{where}: column {absent[0]!r} is missing, which {first} has{nearest(absent[0], found)}; "
            "all files must have the same columns",
            file=where,
        )
    extra = [name for name in found if name not in names]
    if extra:
        raise SourceError(
            f"{where}: column {extra[0]!r} is not in {first}; all files must have the same columns", file=where
        )

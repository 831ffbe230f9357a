"""`open_source`: from what a user names to a `Source`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from sapwood._options import Task
from sapwood.encoding.encoder import SCHEMA_ROWS
from sapwood.encoding.probe import ColumnKind
from sapwood.encoding.schema import Roles, Schema
from sapwood.reading.bad_rows import BadRows, OnBadRow
from sapwood.reading.dialect import DialectOptions
from sapwood.reading.errors import SourceError
from sapwood.reading.opening import open_reader
from sapwood.reading.paths import check_paths
from sapwood.reading.readers.csv import TextForm
from sapwood.reading.resume import Resume
from sapwood.reading.source import Source


# The many parameters are the public interface.
def open_source(
    spec: Any,
    *,
    target: str | None = None,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    types: Mapping[str, ColumnKind] | None = None,
    task: Task | None = None,
    on_bad_row: OnBadRow = "error",
    quarantine: str | os.PathLike[str] | None = None,
    batch_rows: int = 1000,
    max_rows: int | None = None,
    start_row: int = 0,
    delimiter: str | None = None,
    follow: bool = False,
    schema: dict[str, Any] | None = None,
    resume: dict[str, Any] | None = None,
    key: str | None = None,
    keep_unlabelled: bool | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    encoding: str | None = None,
    na_values: Sequence[str] = (),
) -> Source:
    """Open a stream of rows.

    Parameters
    ----------
    spec : str, path, file, table, arrays or iterable
        - a CSV file (plain, gzip or zstd, with a header line), a Parquet file, an Arrow IPC or Feather file:
          recognised by their first bytes, not by their names;
        - a folder or a glob of such files, or a list of paths; folders and globs are read in natural order (part2
          before part10), and all files must have the same columns;
        - ``"-"``: CSV on standard input, compressed or not; or an open binary file;
        - ``"demo:NAME?n=10000&seed=0"``: a generator of :mod:`sapwood.datasets`;
        - a pandas, polars or Arrow table, or an iterable of them;
        - ``(X, y)``: a two-dimensional and a one-dimensional array; or a stream of :mod:`sapwood.datasets`;
        - an iterable of pairs ``(x, y)``, ``x`` being a mapping or a sequence, or of mappings that include the target.
    target : str or None
        The target column. None: no target (but arrays, pairs and generators have their own, called "y").
    drop, categorical : sequence of str
        Columns to leave out; columns to treat as categories even if they look like numbers (the target may be one).
    types : mapping from str to {"number", "boolean", "timestamp", "time", "category"}, or None
        The types of columns that the first rows may not show. All others are inferred.
    task : {"regression", "classification"} or None
        How the target will be used. None: numbers are float64, words are text. "classification" returns integers as
        int64 labels; "regression" returns booleans as 0.0 and 1.0 and refuses text.
    on_bad_row : {"error", "skip", "quarantine"}
        What to do with rows that cannot be used: those with a wrong number of fields, text in a numeric column, a
        missing or infinite target, or an infinite input.
    quarantine : path or None
        The CSV file to write bad rows to, with place and reason, if ``on_bad_row="quarantine"``.
    batch_rows : int
        Number of rows of the source per batch (bad rows are left out of it).
    max_rows : int or None
        Stop after this many rows.
    start_row : int
        Skip this many rows at the start.
    delimiter : str or None
        The field separator of CSV files. None: whichever of comma, semicolon, tab and bar occurs most often in the
        header.
    follow : bool
        Go on as the CSV file `spec` grows, until interrupted. If it is replaced (rotated), truncated or written anew,
        the new file is read from its beginning.
    schema : dict or None
        ``source.state()["schema"]`` of another source: encode exactly like that one, with columns matched by name.
        `drop`, `categorical`, `types` and `task` are then ignored.
    resume : dict or None
        ``source.state()`` of an earlier run over the same data: continue from there. It replaces `schema` and
        `start_row`; the other arguments must be unchanged. The rows before it are read again and compared, by a hash,
        with those of the earlier run; a source that has changed is refused. Rows may have been added at its end.
    key : str or None
        A column that tells rows apart, such as an order number. It is not an input; batches hold it.
    keep_unlabelled : bool or None
        Whether a row without a target is usable: it can be forecast, and its label may come later. None: if there is a
        `key`, and in feeds. Otherwise it is a bad row.
    decimal : {".", ","} or None
        The decimal mark in columns of text. None: found out, column by column.
    thousands : str or None
        The separator of thousands in columns of text. None: the comma or the point, whichever is not the decimal mark,
        blanks and apostrophes.
    encoding : str or None
        The encoding of CSV files. None: UTF-8, unless the first bytes show another one: UTF-16 with a byte order mark,
        or Western European text (cp1252, Latin-1).
    na_values : sequence of str
        Further texts that stand for a missing value.

    Returns
    -------
    Source

    Raises
    ------
    SourceError
        In one sentence that names the file, the line or row, and the remedy.

    Notes
    -----
    The type of each column is inferred once, from the first 1000 rows, and the number of inputs never changes
    afterwards. A text column of which at least 90 % parses as numbers is numeric (a value that does not parse makes a
    bad row); the same holds for true/false, for dates and times in ISO 8601, and for times of day. All other text is
    categorical. Empty fields, NA, N/A, NaN, null and ? are missing values and become NaN. A timestamp becomes days
    since the first one, hour of the day, day of the week and day of the year. A category becomes the number of distinct
    categories seen before it (the docstring of ``sapwood.encoding.features.Category`` explains why); new ones
    may appear at any time.

    Examples
    --------
    >>> from sapwood.stream import open_source
    >>> rows = [({"size": 1.0, "colour": "red"}, 3.5), ({"size": 2.0, "colour": "blue"}, 4.0)]
    >>> source = open_source(rows, target="price")
    >>> source.feature_names, source.task_hint
    (['size', 'colour'], 'regression')
    >>> next(source).X
    array([[1., 0.],
           [2., 1.]])
    """
    for name, count, minimum in (("batch_rows", batch_rows, 1), ("max_rows", max_rows, 0), ("start_row", start_row, 0)):
        if count is not None and count < minimum:
            raise SourceError(f"{name} is {count}; it must be at least {minimum}")
    before = None if resume is None else Resume.of(resume)
    if before is not None:
        schema, start_row = before.schema, before.start
    dialect = DialectOptions(decimal, thousands, na_values)
    dialect.check()
    bad_rows = BadRows(on_bad_row, quarantine)
    check_paths({"source": spec}, {"quarantine file": quarantine})
    asked_for = target
    reader, target = open_reader(spec, target, TextForm(delimiter, encoding), SCHEMA_ROWS, follow=follow)
    if asked_for is None and isinstance(schema, dict) and schema.get("target") is None:
        target = None  # that of arrays and generators, when only predicting
    try:
        source = Source(
            reader,
            roles=Roles(target, [*drop, *([] if key is None else [key])], categorical, task, dict(types or {})),
            bad_rows=bad_rows,
            # A source with a target is learned from, and its new categories with it.
            schema=None if schema is None else Schema.restore(schema, target, grow=bool(target or before)),
            batch_rows=batch_rows,
            start=start_row,
            max_rows=max_rows,
            resume=before,
            key=key,
            keep_unlabelled=keep_unlabelled,
            dialect=dialect,
        )
        bad_rows.start(None if before is None else before.bad)
    except BaseException:
        reader.close()
        raise
    return source

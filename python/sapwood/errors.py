"""The exceptions and the catalogue of errors.

Three subclasses of :class:`ValueError` cover everything that a user can do wrong: :class:`InputError` (the data),
:class:`ConfigError` (a parameter) and :class:`ModelFileError` (a model file). :class:`EngineError`, a
:class:`RuntimeError`, means that Sapwood itself is at fault. Besides its message, each has a stable ``code`` for
programs: ``error.args`` is ``(message, code)``.
"""

from __future__ import annotations

from typing import NamedTuple

from sapwood._core import ConfigError, EngineError, InputError, ModelFileError, error_catalogue

__all__ = ["CatalogueEntry", "ConfigError", "EngineError", "InputError", "ModelFileError", "catalogue"]


class CatalogueEntry(NamedTuple):
    """An error: its stable code, its exception, and its message (a template, or an example)."""

    code: str
    exception: type[ValueError] | type[EngineError]
    template: str


_CLASSES: dict[str, type[ValueError] | type[EngineError]] = {
    cls.__name__: cls for cls in (InputError, ConfigError, ModelFileError, EngineError)
}


def _message(error: Exception) -> str:
    return str(error.args[0]) if error.args else ""


for _class in _CLASSES.values():
    # ValueError would print the arguments (message, code) as a tuple; people should see only the message.
    _class.__str__ = _message  # type: ignore[assignment, method-assign]

# Errors found by scikit-learn's validation keep its wording ("{reason}"), which its users know.
_PYTHON_ENTRIES = (
    CatalogueEntry("x-layout", InputError, "{reason}"),
    CatalogueEntry("x-names", InputError, "{reason}"),
    CatalogueEntry(
        "x-ragged",
        InputError,
        "row {row} of X has {given} columns; row 0 has {expected}. Give every row the same number of columns.",
    ),
    CatalogueEntry(
        "wrong-columns",
        InputError,
        "X has {given} features, but {estimator} is expecting {expected} features as input: "
        "row 0 of X has {given} columns; this model was started with {expected}.",
    ),
    CatalogueEntry(
        "x-text",
        InputError,
        "column {column} of X holds {value!r} (row {row}), which is not a number; "
        "text is read from tables, whose columns have names, such as a data frame or a list of dictionaries.",
    ),
    CatalogueEntry(
        "x-column-type",
        InputError,
        "column {column} of X has type {dtype}, which cannot become an input; allowed are numbers, booleans, text, "
        "categories, dates and times, in a table whose columns have names. Drop the column, or convert it.",
    ),
    CatalogueEntry(
        "x-kind",
        InputError,
        "column {column} of X has type {dtype}, but this model learned it as a column of kind {kind}; "
        "give it the type it had at first.",
    ),
    CatalogueEntry(
        "x-value",
        InputError,
        "column {column} of X holds {value!r} (row {row}), which is not {expected}, as this model learned the column; "
        "correct the value, or leave it missing.",
    ),
    CatalogueEntry(
        "x-unnamed",
        InputError,
        "this model was started from a table, some of whose columns are not numbers, so that it needs their names; "
        "give X as a table or as dictionaries, with the columns {columns}.",
    ),
    CatalogueEntry(
        "infinite-input",
        InputError,
        "row {row} of X has {value} (infinity) in column {column}; inputs must be finite, and NaN where a value is "
        "missing. Replace the value or drop the row.",
    ),
    CatalogueEntry(
        "huge-input",
        InputError,
        "row {row} of X has {value} in column {column}; magnitudes up to 1e100 are allowed. Rescale the column.",
    ),
    CatalogueEntry("x-empty", InputError, "X has no rows; a model needs at least one row to start."),
    CatalogueEntry("y-layout", InputError, "{reason}"),
    CatalogueEntry("y-absent", InputError, "{estimator} requires y to be passed, but the target y is None."),
    CatalogueEntry(
        "y-text", InputError, "row {row} of y is {value!r}, which is not a number; regression needs numbers."
    ),
    CatalogueEntry(
        "bad-target",
        InputError,
        "row {row} of y is {value}; targets must be finite, not NaN or infinity. Drop the row.",
    ),
    CatalogueEntry(
        "huge-target", InputError, "row {row} of y is {value}; magnitudes up to 1e100 are allowed. Rescale y."
    ),
    CatalogueEntry("label-type", InputError, "{reason}"),
    CatalogueEntry(
        "label-missing", InputError, "row {row} of {source} is {value}; every row needs a label. Drop the row."
    ),
    CatalogueEntry(
        "label-kind",
        InputError,
        "row {row} of {source} is {value!r}, {kind}; the other labels are {expected}. Give all labels one type.",
    ),
    CatalogueEntry(
        "wrong-length",
        InputError,
        "X has {n_x} rows and {other} has {n_other}: inconsistent numbers of samples. Give one entry per row.",
    ),
    CatalogueEntry("weight-layout", InputError, "{reason}"),
    CatalogueEntry(
        "bad-weight", InputError, "row {row} of sample_weight is {value}; weights must be 0, or between 1e-12 and 1e12."
    ),
    CatalogueEntry(
        "weight-all-zero",
        InputError,
        "every sample_weight is zero, so there is nothing to start a model from; at least one must be positive.",
    ),
    CatalogueEntry(
        "bad-index",
        InputError,
        "ix holds {value!r}; allowed are positions in active_ (0 to {last}) or a boolean mask of length {n_active}.",
    ),
    CatalogueEntry(
        "density-shape",
        InputError,
        "y has shape {shape}; it must be one number, or one value for each of the {n_rows} rows.",
    ),
    CatalogueEntry(
        "bad-level", InputError, "{name} is {value}; it must lie between 0 and 1, and be a number or 1-dimensional."
    ),
    CatalogueEntry("sample-size", InputError, "n is {value!r}; it must be a whole number, 0 or more."),
    CatalogueEntry(
        "next-row",
        InputError,
        "X has {n_rows} rows; there is one next row, for which the last targets are known. Give that row alone, or use "
        "predict or predict_dist for rows at any distance.",
    ),
    CatalogueEntry(
        "too-many-classes",
        InputError,
        "there are {given} classes; with these columns, leaves and particles a model can tell {allowed} apart, so that "
        "its memory stays bounded. Combine rare labels, or use fewer particles.",
    ),
    CatalogueEntry("unknown-option", ConfigError, "{name}={value!r} is not allowed; choose one of {allowed}."),
    CatalogueEntry("out-of-range", ConfigError, "{name}={value!r} is not allowed; it must be {allowed}."),
    CatalogueEntry(
        "file-description",
        ModelFileError,
        "the description inside the model file is not usable ({reason}). It was not written by this package, or by "
        "a version it cannot read; save the model again.",
    ),
)
_ENTRY_OF_CODE = {entry.code: entry for entry in _PYTHON_ENTRIES}


def catalogue() -> list[CatalogueEntry]:
    """List every error that Sapwood can raise, including those of the native engine.

    Examples
    --------
    >>> from sapwood import errors
    >>> sorted({entry.exception.__name__ for entry in errors.catalogue()})
    ['ConfigError', 'EngineError', 'InputError', 'ModelFileError']
    """
    entries = {code: CatalogueEntry(code, _CLASSES[name], example) for code, name, example in error_catalogue()}
    # Both sides use the same code for the same problem; Python checks first, so users see its message.
    return list({**entries, **_ENTRY_OF_CODE}.values())


def make(code: str, **fields: object) -> ValueError:
    """Return the exception of a catalogue entry, with its template filled in. The caller raises it."""
    entry = _ENTRY_OF_CODE[code]
    exception = entry.exception
    assert issubclass(exception, ValueError)  # the engine's own faults are raised by the engine
    return exception(entry.template.format(**fields), code)

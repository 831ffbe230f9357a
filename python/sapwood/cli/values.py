"""Parsers of option values other than plain numbers and strings."""

from __future__ import annotations

from typing import Any, Literal

import typer


def choice(*names: str, help: str, option: str | None = None, panel: str | None = None) -> Any:
    """Declare an option whose value is one of some names."""

    def read(text: str) -> str:
        if text not in names:
            raise typer.BadParameter(f"{text!r} is not one of {', '.join(map(repr, names))}.")
        return text

    return typer.Option(
        *([] if option is None else [option]),
        help=help,
        parser=read,
        metavar=f"<{'|'.join(names)}>",
        autocompletion=lambda: list(names),
        rich_help_panel=panel,
    )


def pool(text: str) -> int | list[int | None] | Literal["auto"] | None:
    """Parse ``auto``, a size, ``all`` (keep every row), or several sizes separated by commas.

    Examples
    --------
    >>> pool("auto"), pool("200"), pool("all"), pool("25,100,all")
    ('auto', 200, None, [25, 100, None])
    """
    if text == "auto":
        return "auto"
    allowed = "a size of at least 1, 'all' or 'auto'"
    sizes = [None if part.strip() == "all" else _whole(part, allowed, least=1) for part in text.split(",")]
    return sizes if len(sizes) > 1 else sizes[0]


def forgetting(text: str) -> float | Literal["auto"]:
    """Parse ``auto``, or a number from 0 to 1.

    Examples
    --------
    >>> forgetting("auto"), forgetting("0.99")
    ('auto', 0.99)
    """
    if text == "auto":
        return "auto"
    allowed = "a number from 0 to 1, or 'auto'"
    factor = _number(text, allowed)
    if not 0 <= factor <= 1:
        raise _refuse(text, allowed)
    return factor


def lags(text: str) -> int | Literal["auto"]:
    """Parse ``auto``, or a number of lags.

    Examples
    --------
    >>> lags("auto"), lags("2")
    ('auto', 2)
    """
    return "auto" if text == "auto" else _whole(text, "a whole number of at least 0, or 'auto'", least=0)


def threads(count: int) -> int:
    """Check a number of threads; negative numbers count back from the number of cores, as in scikit-learn.

    Examples
    --------
    >>> threads(-1)
    -1
    """
    if count == 0:
        raise _refuse(count, "a number of threads, or -1 for every core")
    return count


def levels(text: str) -> list[float]:
    """Parse quantile levels separated by commas, and sort them.

    Examples
    --------
    >>> levels("0.5,0.05")
    [0.05, 0.5]
    """
    given = sorted({_number(part, "levels between 0 and 1, such as 0.05,0.5,0.95") for part in text.split(",")})
    if not all(0 < level < 1 for level in given):
        raise typer.BadParameter(f"{text!r}: levels lie between 0 and 1, exclusive.")
    return given


def names(given: list[str] | None) -> list[str]:
    """Parse names from an option that may be repeated and may contain commas.

    Examples
    --------
    >>> names(["a,b", "c"])
    ['a', 'b', 'c']
    """
    return [name.strip() for text in given or [] for name in text.split(",") if name.strip()]


def pairs(given: list[str] | None) -> dict[str, str]:
    """Parse ``NAME=VALUE`` from an option that may be repeated and may contain commas.

    Examples
    --------
    >>> pairs(["a=number,b=time", "c=category"])
    {'a': 'number', 'b': 'time', 'c': 'category'}
    """
    found = {}
    for text in names(given):
        name, equals, value = text.rpartition("=")
        if not (name and equals and value):
            raise _refuse(text, "a column and its type, such as colour=category")
        found[name.strip()] = value.strip()
    return found


def _whole(text: str, allowed: str, *, least: int) -> int:
    try:
        number = int(text)
    except ValueError:
        raise _refuse(text, allowed) from None
    if number < least:
        raise _refuse(text, allowed)
    return number


def _number(text: str, allowed: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise _refuse(text, allowed) from None


def _refuse(text: Any, allowed: str) -> typer.BadParameter:
    return typer.BadParameter(f"{text!r} is not allowed; give {allowed}.")

"""Errors of the user as one line, and exit codes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from sapwood._text import visible
from sapwood.cli.option_names import as_options

USER_ERROR = 1
USAGE = 2
SIGNALLED = 128  # plus the number of the signal, as in shells

_INTERRUPT = 2


@contextmanager
def errors_in_one_line() -> Iterator[None]:
    """Turn errors caused by the data, a file or the user into one line on standard error and an exit code."""
    try:
        yield
    except KeyboardInterrupt as signalled:
        typer.echo("interrupted", err=True)
        raise typer.Exit(SIGNALLED + (signalled.args[0] if signalled.args else _INTERRUPT)) from None
    except BrokenPipeError:
        raise typer.Exit(USER_ERROR) from None  # the reader of the output has gone and needs no explanation
    except (ValueError, OSError) as error:
        say_error(_message(error))
        raise typer.Exit(USER_ERROR) from error


def _message(error: ValueError | OSError) -> str:
    """Return the message alone, without the error's code; for errors of the system, the file comes first."""
    if isinstance(error, OSError):
        plain = type(error).__str__ is OSError.__str__ and error.filename is not None
        return f"{error.filename}: {error.strerror}; check the path and its permissions" if plain else str(error)
    return as_options(str(error.args[0]) if error.args else str(error))


def say_error(message: str) -> None:
    """Print an error as one line on standard error."""
    typer.echo(typer.style("error: ", fg="red", bold=True) + visible(" ".join(message.split())), err=True)


def usage_error(message: str, option: str | None = None) -> typer.BadParameter:
    """Return the exception for a wrong call of a command, which ends with exit code 2."""
    return typer.BadParameter(message, param_hint=option)

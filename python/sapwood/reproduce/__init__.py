"""Reproduces every figure and table of the paper, with the paper's numbers beside ours.

``sapwood reproduce`` (or ``python -m sapwood.reproduce``) runs the experiments of :mod:`sapwood.reproduce.experiments`
and writes a folder for each, with the paper's numbers, the settings, our results and the figures, and one page that
compares all numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command ``reproduce`` to a typer application.

    Examples
    --------
    >>> import typer  # doctest: +SKIP
    >>> app = typer.Typer()  # doctest: +SKIP
    >>> register(app)  # doctest: +SKIP
    """
    from sapwood.reproduce._command import reproduce

    app.command()(reproduce)

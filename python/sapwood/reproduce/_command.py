"""The command ``sapwood reproduce``."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Optional

import typer

from sapwood.cli.failures import errors_in_one_line
from sapwood.reproduce._experiment import Scale
from sapwood.reproduce._report import write_report
from sapwood.reproduce._runner import run
from sapwood.reproduce.experiments import EXPERIMENTS


def reproduce(
    names: Annotated[
        Optional[list[str]],  # noqa: UP045  (typer reads annotations at run time, also on Python 3.10)
        typer.Argument(metavar="NAME", help=f"Experiments to run: {', '.join(EXPERIMENTS)}. Default: all of them."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few repeats; all experiments in under five minutes. [default]")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="As many repeats as the paper; takes hours.")] = False,
    draw_only: Annotated[
        bool,
        typer.Option("--draw-only", help="Run nothing; draw the figures and write the page from existing results."),
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Number of processes.")] = min(2, os.cpu_count() or 1),
    out: Annotated[Optional[Path], typer.Option(help="Folder for the results.")] = None,  # noqa: UP045
    data: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="Folder of the real data sets, instead of the environment variable SAPWOOD_DATA."),
    ] = None,
) -> None:
    """Run the paper's experiments and compare its numbers with ours.

    If interrupted, run the same command again to continue where it stopped.
    """
    if quick and full:
        raise typer.BadParameter("--quick and --full cannot be combined.")
    unknown = [name for name in names or [] if name not in EXPERIMENTS]
    if unknown:
        raise typer.BadParameter(f"there is no experiment {unknown[0]!r}; the names are {', '.join(EXPERIMENTS)}.")
    if find_spec("matplotlib") is None:
        raise typer.BadParameter("figures need matplotlib, which is not installed: pip install 'sapwood[plot]'.")
    folder = out or default_folder()
    page = page_of(folder)
    scale: Scale = "full" if full else "quick"
    absent: dict[str, str] = {}
    with errors_in_one_line():
        if not draw_only:
            chosen = [EXPERIMENTS[name] for name in names or EXPERIMENTS]
            absent = run(chosen, scale, folder, n_processes=jobs, data_home=data, say=typer.echo)
        write_report(folder, page)
    typer.echo(f"figures and results are in {folder}, the comparison is in {page}")
    for name, missing in absent.items():
        typer.echo(f"{name} was not run: {missing}", err=True)
    if absent:
        raise typer.Exit(1)


def default_folder() -> Path:
    """``experiments`` in a checkout of the project, otherwise ``sapwood-paper``."""
    checkout = Path("experiments")
    return checkout if (checkout / "friedman").is_dir() else Path("sapwood-paper")


def page_of(folder: Path) -> Path:
    """``docs/paper.md`` in a checkout of the project, otherwise a page beside the results."""
    documentation = folder.parent / "docs" / "paper.md"
    return documentation if documentation.exists() else folder / "paper.md"

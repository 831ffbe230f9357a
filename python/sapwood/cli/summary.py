"""The summary that ``sapwood learn`` prints: a table for people, a line of JSON for machines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.table import Table

from sapwood._formats import duration, number
from sapwood._text import visible
from sapwood.cli.json_line import json_line
from sapwood.metrics._registry import METRIC_INFO
from sapwood.prequential.result import forecaster_title
from sapwood.stream import EvaluationResult

if TYPE_CHECKING:
    from sapwood.cli.learn_job import Job


def print_json(result: EvaluationResult, job: Job) -> None:
    """Print one line of JSON on standard output."""
    overall, recent = result.overall(), result.recent()
    report: dict[str, Any] = {
        "rows": result.n_rows,
        "rows_per_second": result.timings.rows_per_second,
        "metrics": overall["model"],
        "baselines": {name: overall[name] for name in result.baselines},
        "window": {"rows": job.window, "metrics": recent["model"]},
        "task": result.task,
        "rows_scored": result.n_scored,
        "rows_learned": result.n_learned,
        "bad_rows": dict(result.bad_reasons),
        "interrupted": result.interrupted,
        "notes": list(result.notes),
        **{name: str(path) for name, path in job.written().items()},
    }
    typer.echo(json_line(report))


def print_table(result: EvaluationResult, job: Job, *, stderr: bool) -> None:
    """Print the scores compared with the baselines, and the paths of all outputs."""
    console = Console(highlight=False, stderr=stderr)
    speed = f"{result.timings.rows_per_second:,.0f} rows/s"
    took = duration(result.timings.total)
    of = f"{result.task} of {visible(repr(result.target))}"
    console.print(f"{result.n_rows:,} rows in {took} ({speed}), {of}", markup=False)
    console.print(_scores(result, job.window))
    if result.n_scored < result.n_rows:
        console.print(f"{result.n_scored:,} rows were scored.")
    for reason, count in result.bad_reasons.items():
        console.print(f"{count:,} rows were left out: {visible(reason)}.", markup=False)
    for note in result.notes:
        console.print(f"note: {visible(note)}", markup=False)
    for what, path in job.written().items():
        console.print(f"{what}: {visible(path)}", markup=False, soft_wrap=True)


def _scores(result: EvaluationResult, window: int) -> Table:
    overall, recent = result.overall(), result.recent()
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    table.add_column("Sapwood", justify="right")
    for name in result.baselines:
        table.add_column(forecaster_title(name), justify="right")
    table.add_column(f"Sapwood, last {min(window, result.n_scored):,}", justify="right", style="dim")
    for metric in result.metrics:
        values = {name: overall[name][metric] for name in result.forecasters}
        best = METRIC_INFO[metric].best(values)
        cells = [f"[green]{number(v)}[/green]" if name == best else number(v) for name, v in values.items()]
        table.add_row(metric, *cells, number(recent["model"][metric]))
    return table


def print_how_to_resume(result: EvaluationResult, checkpoint: Path | None) -> None:
    """Print how to resume an interrupted run, on standard error."""
    if checkpoint is None:
        remedy = "a run with --save, --predictions or --checkpoint could be resumed here"
    else:
        remedy = "run the same command with --resume to continue"
    typer.echo(f"stopped after {result.n_rows:,} rows; {remedy}", err=True)

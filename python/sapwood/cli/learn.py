"""The command ``sapwood learn``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Optional, cast

import typer

from sapwood._core import option_names
from sapwood._options import Task
from sapwood.cli import values
from sapwood.cli.failures import errors_in_one_line, usage_error
from sapwood.cli.learn_job import Job, learn_stream
from sapwood.prequential.files.printed import LINE_FORMATS, STANDARD_OUTPUT, LineFormat, PrintedPredictions
from sapwood.reading.bad_rows import ON_BAD_ROW

_MODEL = "The model"
_SOURCE = "The source"
_OUTPUT = "What is written"
_SCORES = "Scores"

EPILOG = """
**Examples**

`sapwood learn demo:drifting-friedman --report report.html`

`sapwood learn prices.csv.gz --target price --save prices.sap --predictions out.parquet`

`sapwood learn "logs/2024-*.parquet" -t clicked --drop id --on-bad-row skip --jobs -1`

`zcat elec2.csv.gz | sapwood learn - --target y --json --quiet`

`sapwood learn --follow feed.csv --target y --task regression --predictions - --save feed.sap`

`sapwood learn big.parquet -t y --save big.sap --resume`   (repeat until it has finished)
"""


# Annotations are read at run time, and on Python 3.10 typer does not understand `X | None`.
def learn(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="A CSV (also gzip or zstd), Parquet or Arrow file, a folder or glob of them, - for standard input, or "
            "a built-in stream such as demo:drifting-friedman.",
        ),
    ],
    target: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--target", "-t", help="The column to predict. Built-in streams have their own.", rich_help_panel=_SOURCE
        ),
    ] = None,
    task: Annotated[
        str,
        values.choice(
            "auto", *option_names("task"), help="What to do with the target; auto looks at it.", panel=_SOURCE
        ),
    ] = "auto",
    drop: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(help="Columns to ignore; repeat the option or use commas.", rich_help_panel=_SOURCE),
    ] = None,
    categorical: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(help="Columns of categories that look like numbers.", rich_help_panel=_SOURCE),
    ] = None,
    types: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            metavar="COLUMN=TYPE",
            help="Types that the first rows may not show: number, boolean, timestamp, time or category.",
            rich_help_panel=_SOURCE,
        ),
    ] = None,
    delimiter: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Field separator of a CSV file; detected by default.", rich_help_panel=_SOURCE),
    ] = None,
    decimal: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="The decimal mark: . or ,; by default it is found out.", rich_help_panel=_SOURCE),
    ] = None,
    thousands: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="The separator of thousands; by default it is found out.", rich_help_panel=_SOURCE),
    ] = None,
    encoding: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="The encoding of a CSV file; by default it is found out.", rich_help_panel=_SOURCE),
    ] = None,
    na_values: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            help="Further texts that stand for a missing value; repeat it, or use commas.", rich_help_panel=_SOURCE
        ),
    ] = None,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow",
            help="SOURCE is a CSV file that grows, and may be rotated: go on until interrupted.",
            rich_help_panel=_SOURCE,
        ),
    ] = False,
    on_bad_row: Annotated[
        str,
        values.choice(*ON_BAD_ROW, help="What to do with a row that cannot be used.", panel=_SOURCE),
    ] = "error",
    quarantine: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            help="Where bad rows go with --on-bad-row quarantine.",
            show_default="quarantine.csv",
            rich_help_panel=_SOURCE,
        ),
    ] = None,
    max_rows: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, metavar="ROWS", help="Stop after this many rows.", rich_help_panel=_SOURCE),
    ] = None,
    label_delay: Annotated[
        int,
        typer.Option(
            min=0, metavar="ROWS", help="Number of rows by which labels arrive late.", rich_help_panel=_SOURCE
        ),
    ] = 0,
    labels: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            metavar="SOURCE",
            help="A second source, which holds the target; needs --task.",
            rich_help_panel=_SOURCE,
        ),
    ] = None,
    key: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="The column that says which label belongs to which row of SOURCE: that of a row of --labels, or of a "
            "later row of SOURCE.",
            rich_help_panel=_SOURCE,
        ),
    ] = None,
    leaf: Annotated[
        str,
        values.choice("auto", *option_names("leaf"), help="The model inside a leaf.", panel=_MODEL),
    ] = "auto",
    particles: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, help="Trees per cloud.", show_default="chosen", rich_help_panel=_MODEL),
    ] = None,
    max_active: Annotated[
        str,
        typer.Option(
            metavar="SIZE",
            help="Pool size; several, separated by commas, make a bank; all keeps every row.",
            rich_help_panel=_MODEL,
        ),
    ] = "auto",
    discard: Annotated[
        str,
        values.choice(
            "auto", *option_names("discard"), help="Which observation retires when the pool is full.", panel=_MODEL
        ),
    ] = "auto",
    forgetting: Annotated[
        str,
        typer.Option(
            metavar="FACTOR",
            help="Factor applied to older statistics at each retirement, 0 to 1; auto learns it.",
            rich_help_panel=_MODEL,
        ),
    ] = "auto",
    lags: Annotated[
        str,
        typer.Option(
            metavar="COUNT",
            help="Number of past targets used as inputs in forecasts of the next row; auto: 1, or 0 if labels arrive "
            "late. The predict command uses none.",
            rich_help_panel=_MODEL,
        ),
    ] = "auto",
    copies: Annotated[int, typer.Option(min=1, help="Independent replicas of the bank.", rich_help_panel=_MODEL)] = 1,
    seed: Annotated[
        int,
        typer.Option(min=0, max=2**64 - 1, help="The same seed and data give the same model.", rich_help_panel=_MODEL),
    ] = 0,
    jobs: Annotated[int, typer.Option(help="Number of threads; -1 for all cores.", rich_help_panel=_MODEL)] = 1,
    save: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="MODEL", help="File for the model.", rich_help_panel=_OUTPUT),
    ] = None,
    predictions: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            metavar="FILE",
            help="The file for all predictions: .parquet, or else CSV; - for standard output, a line as soon as a row "
            "has been forecast.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    line_format: Annotated[
        str, values.choice(*LINE_FORMATS, option="--format", help="Lines of --predictions -.", panel=_OUTPUT)
    ] = "csv",
    report: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="FILE.html", help="File for a report with pictures.", rich_help_panel=_OUTPUT),
    ] = None,
    pictures: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="FOLDER", help="Folder for the report's pictures as PNG files.", rich_help_panel=_OUTPUT),
    ] = None,
    checkpoint: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            metavar="FILE",
            help="File to resume from.",
            show_default="beside the model or the predictions",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    checkpoint_every: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(
            min=1, metavar="ROWS", help="Rows between checkpoints.", show_default="10000", rich_help_panel=_OUTPUT
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Resume from the checkpoint, if there is one. The rows before it are read again, to compare.",
            rich_help_panel=_OUTPUT,
        ),
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print one line of JSON instead of the table.", rich_help_panel=_OUTPUT)
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print neither progress nor the table.", rich_help_panel=_OUTPUT)
    ] = False,
    metrics: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            help="Metrics to compute; repeat the option or use commas.",
            show_default="all of the task",
            rich_help_panel=_SCORES,
        ),
    ] = None,
    warm_up: Annotated[
        int,
        typer.Option(min=0, metavar="ROWS", help="Rows to learn before scoring starts.", rich_help_panel=_SCORES),
    ] = 0,
    window: Annotated[
        int, typer.Option(min=1, metavar="ROWS", help="Rows of the rolling scores.", rich_help_panel=_SCORES)
    ] = 1000,
) -> None:
    """Learn from a stream: every row is predicted, scored, and then learned.

    Ctrl-C stops cleanly: the checkpoint, predictions, model and report so far are written, and --resume continues from
    there. A run that was killed continues from its last checkpoint, and gives the same model and predictions.

    A feed (a pipe, or a file with --follow) is forecast row by row, as it arrives, from the first row on. The types of
    its columns are those of the rows before the first pause. Its checkpoint and model are written with the first rows,
    and then every 10 seconds.
    """
    is_printed = predictions == Path(STANDARD_OUTPUT)
    if json and is_printed:
        raise usage_error("standard output holds the predictions; leave out --json, or name a file.", "--json")
    parameters: dict[str, Any] = {
        "leaf": leaf,
        "n_particles": particles,
        "max_active": values.pool(max_active),
        "discard": discard,
        "forgetting": values.forgetting(forgetting),
        "copies": copies,
        "random_state": seed,
        "n_jobs": values.threads(jobs),
    }
    job = Job(
        source=source,
        target=target,
        task=None if task == "auto" else cast(Task, task),
        source_options={
            "drop": values.names(drop),
            "categorical": values.names(categorical),
            "types": values.pairs(types),
            "delimiter": delimiter,
            "decimal": decimal,
            "thousands": thousands,
            "encoding": encoding,
            "na_values": values.names(na_values),
            "follow": follow,
            "on_bad_row": on_bad_row,
            "quarantine": str(quarantine or "quarantine.csv") if on_bad_row == "quarantine" else None,
        },
        max_rows=max_rows,
        parameters=parameters,
        lags=values.lags(lags),
        label_delay=label_delay,
        labels=labels,
        key=key,
        metrics=values.names(metrics) or None,
        warm_up=warm_up,
        window=window,
        save=save,
        predictions=None if is_printed else predictions,
        printed=PrintedPredictions(line_format=cast(LineFormat, line_format)) if is_printed else None,
        report=report,
        pictures=pictures,
        checkpoint=checkpoint,
        checkpoint_every=checkpoint_every,
        resume=resume,
    )
    job.check()
    with errors_in_one_line():
        learn_stream(job, json=json, quiet=quiet)


def register(app: typer.Typer) -> None:
    """Add the command to an application."""
    app.command(epilog=EPILOG)(learn)

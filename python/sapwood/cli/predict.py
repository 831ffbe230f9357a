"""The command ``sapwood predict``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any, Optional, cast

import numpy as np
import typer
from numpy.typing import NDArray

from sapwood import DynamicTreeClassifier, DynamicTreeRegressor
from sapwood._base import DynamicTreeEstimator
from sapwood._fitted import distribution_at, fitted, native
from sapwood._text import visible
from sapwood.cli import model_file, values
from sapwood.cli.failures import SIGNALLED, errors_in_one_line
from sapwood.cli.json_line import json_line
from sapwood.prequential.files.predictions import PredictionFile, open_predictions
from sapwood.prequential.files.printed import LINE_FORMATS, STANDARD_OUTPUT, LineFormat, PrintedPredictions
from sapwood.reading.bad_rows import ON_BAD_ROW
from sapwood.stream import Batch, Source, SourceError, StopRequest, open_source

EPILOG = """
**Examples**

`sapwood predict prices.sap tomorrow.csv --predictions out.parquet`

`cat rows.csv | sapwood predict prices.sap - --quantiles 0.1,0.5,0.9 > out.csv`
"""


# Annotations are read at run time, and on Python 3.10 typer does not understand `X | None`.
def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file that learn --save or model.save wrote.")],
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="What to predict: the same kinds of source as for learn.")
    ],
    predictions: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="FILE", help="A .parquet or CSV file.", show_default="CSV on standard output"),
    ] = None,
    line_format: Annotated[
        str, values.choice(*LINE_FORMATS, option="--format", help="Lines on standard output.")
    ] = "csv",
    quantiles: Annotated[
        str, typer.Option(metavar="LEVELS", help="Regression: quantile levels, separated by commas.")
    ] = "0.05,0.5,0.95",
    delimiter: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Field separator of a CSV file; detected by default."),
    ] = None,
    decimal: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="The decimal mark: . or ,; by default it is found out."),
    ] = None,
    thousands: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="The separator of thousands; by default it is found out."),
    ] = None,
    encoding: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="The encoding of a CSV file; by default it is found out."),
    ] = None,
    na_values: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(help="Further texts that stand for a missing value; repeat it, or use commas."),
    ] = None,
    follow: Annotated[
        bool,
        typer.Option("--follow", help="SOURCE is a CSV file that grows, and may be rotated: go on until interrupted."),
    ] = False,
    on_bad_row: Annotated[
        str,
        values.choice(*ON_BAD_ROW, help="What to do with a row that cannot be used."),
    ] = "error",
    quarantine: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="Where bad rows go with --on-bad-row quarantine.", show_default="quarantine.csv"),
    ] = None,
    max_rows: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, metavar="ROWS", help="Stop after this many rows."),
    ] = None,
    jobs: Annotated[int, typer.Option(help="Number of threads; -1 for all cores.")] = 1,
    json: Annotated[
        bool, typer.Option("--json", help="Print one line of JSON at the end; needs --predictions.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no summary.")] = False,
) -> None:
    """Predict a stream with a saved model, which learns nothing from it.

    The rows may lie at any distance from those learned, and are answered alike alone and in company: no target is taken
    as known, so the members of the model that need the last one (--lags of learn) take no part.

    Regression gives mean, standard deviation and quantiles of every row; classification the most probable class and
    the probability of each. The column "row" counts the rows of the source from 0. The rows of a feed (a pipe, or a
    file with --follow) are predicted as they arrive.
    """
    levels = values.levels(quantiles)
    predictions = None if predictions == Path(STANDARD_OUTPUT) else predictions
    if json and predictions is None:
        raise typer.BadParameter("standard output holds the predictions; name a file with --predictions.")
    with errors_in_one_line():
        estimator = model_file.read(model)
        estimator.set_params(n_jobs=jobs)
        options: dict[str, Any] = {
            "delimiter": delimiter,
            "decimal": decimal,
            "thousands": thousands,
            "encoding": encoding,
            "na_values": values.names(na_values),
            "follow": follow,
            "max_rows": max_rows,
            "on_bad_row": on_bad_row,
            "quarantine": (quarantine or "quarantine.csv") if on_bad_row == "quarantine" else None,
        }
        began = time.perf_counter()
        with StopRequest() as stop, _open(source, estimator, options) as rows:
            printed = PrintedPredictions(line_format=cast(LineFormat, line_format))
            file = printed if predictions is None else open_predictions(predictions)
            n_rows = _predict(estimator, rows, levels, file, stop)
            n_bad, notes = rows.n_bad, rows.notes
        seconds = time.perf_counter() - began
    if json:
        speed = n_rows / seconds
        summary = {"rows": n_rows, "rows_per_second": speed, "bad_rows": n_bad, "predictions": str(predictions)}
        typer.echo(json_line(summary))
    elif not quiet:
        for note in notes:
            typer.echo(f"note: {visible(note)}", err=True)
        left_out = f", {n_bad:,} rows left out" if n_bad else ""
        place = "" if predictions is None else f" into {visible(predictions)}"
        typer.echo(f"{n_rows:,} rows predicted{place} ({n_rows / seconds:,.0f} rows/s){left_out}", err=True)
    if stop.signal is not None:
        raise typer.Exit(SIGNALLED + stop.signal)


def _open(spec: str, model: DynamicTreeEstimator, options: dict[str, Any]) -> Source:
    encoder = fitted(model).encoder
    if encoder is not None:
        return open_source(spec, schema={"features": encoder.state(), "target": None}, **options)
    source = open_source(spec, **options)
    if len(source.feature_names) != native(model).n_inputs:
        raise SourceError(
            f"{spec}: has the columns {', '.join(source.feature_names)}; the model was started from arrays of "
            f"{native(model).n_inputs} columns without names; give these, in this order",
            file=spec,
        )
    return source


def _predict(
    model: DynamicTreeEstimator, source: Source, levels: list[float], file: PredictionFile, stop: StopRequest
) -> int:
    n_rows = 0
    try:
        while stop.signal is None and (batch := _next_batch(source, stop)) is not None:
            file.append({"row": batch.rows, **_columns(model, batch.X, levels)})
            if source.is_live:
                file.flush()
            n_rows += len(batch)
        file.publish()
    finally:
        file.close(finished=True)
    return n_rows


def _next_batch(source: Source, stop: StopRequest) -> Batch | None:
    """Return None at the end of the source, or when a signal asks to stop."""
    try:
        with stop.reading():
            return next(source, None)
    except KeyboardInterrupt:
        if stop.signal is None:
            raise
        return None


def _columns(model: DynamicTreeEstimator, x: NDArray[np.float64], levels: list[float]) -> dict[str, NDArray[Any]]:
    if isinstance(model, DynamicTreeClassifier):
        forecast = distribution_at(model, x)
        proba = forecast.proba()
        classes = forecast.classes.tolist()
        return {"prediction": forecast.mode(), **{f"p_{label}": proba[:, ix] for ix, label in enumerate(classes)}}
    assert isinstance(model, DynamicTreeRegressor)
    distribution = distribution_at(model, x)
    quantiles = distribution.ppf(levels)
    return {
        "mean": distribution.mean(),
        "std": distribution.std(),
        **{f"q{level:g}": quantiles[:, ix] for ix, level in enumerate(levels)},
    }


def register(app: typer.Typer) -> None:
    """Add the command to an application."""
    app.command(epilog=EPILOG)(predict)

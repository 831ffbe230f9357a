"""The command ``sapwood bench``."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from sapwood import DynamicTreeClassifier, DynamicTreeRegressor
from sapwood._formats import number
from sapwood.cli.json_line import json_line
from sapwood.datasets import STREAMS, Stream
from sapwood.stream import evaluate

_SEED = 0
_STREAMS = {"drifting-friedman": "rmse", "moving-target": "brier"}
"""The streams, one per task, with the score shown for each: one that a probability of zero does not make infinite."""

EPILOG = """
**Examples**

`sapwood bench`

`sapwood bench --rows 5000 --json`
"""


def bench(
    rows: Annotated[int, typer.Option(min=100, metavar="ROWS", help="Rows of each stream.")] = 1000,
    json: Annotated[bool, typer.Option("--json", help="Print one line of JSON instead of tables.")] = False,
) -> None:
    """Check speed and quality on this machine: all defaults, compared with the peers that are installed.

    Each method forecasts every row of a built-in stream and then learns it, in one thread. Rates are rows per second of
    processor time; a busy machine lowers all of them, and affects the ratios less. River's learners are run if river is
    installed, and scikit-learn's linear model always.
    """
    report = {name: _compare(STREAMS[name](n=rows, seed=_SEED), metric) for name, metric in _STREAMS.items()}
    if json:
        typer.echo(json_line(report))
        return
    console = Console(highlight=False)
    for name, lines in report.items():
        console.print(_table(name, rows, lines))
    if find_spec("river") is None:
        console.print("\nriver is not installed: pip install river, to see its learners here", style="dim")


def register(app: typer.Typer) -> None:
    """Add the command to an application."""
    app.command(epilog=EPILOG)(bench)


def _compare(stream: Stream, metric: str) -> list[dict[str, Any]]:
    """Return one entry per method; ratios are relative to the first, which is ours."""
    lines: list[dict[str, Any]] = []
    for name, make in _methods(stream.task).items():
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # from peers, such as scikit-learn's about an overflow
            result = evaluate(make(), stream, [metric])
        rate = result.n_rows / (time.process_time() - began)
        ours = lines[0]["rows_per_second"] if lines else rate
        score = result.overall()["model"][metric]
        lines.append({"method": name, "sapwood_times_as_fast": ours / rate, "rows_per_second": rate, metric: score})
    return lines


def _methods(task: str) -> dict[str, Callable[[], Any]]:
    from sklearn.linear_model import SGDClassifier, SGDRegressor

    numbers = task == "regression"
    ours = DynamicTreeRegressor if numbers else DynamicTreeClassifier
    linear = SGDRegressor if numbers else SGDClassifier
    options: dict[str, Any] = {} if numbers else {"loss": "log_loss"}
    methods: dict[str, Callable[[], Any]] = {
        "Sapwood": lambda: ours(random_state=_SEED),
        f"scikit-learn {linear.__name__}": lambda: linear(random_state=_SEED, **options),
    }
    if find_spec("river") is not None:
        from river import forest

        adaptive = forest.ARFRegressor if numbers else forest.ARFClassifier
        mondrian = forest.AMFRegressor if numbers else forest.AMFClassifier
        methods["river ARF(10)"] = lambda: adaptive(n_models=10, seed=_SEED)
        methods["river AMF(10)"] = lambda: mondrian(n_estimators=10, seed=_SEED)
    return methods


def _table(name: str, rows: int, lines: list[dict[str, Any]]) -> Table:
    metric = _STREAMS[name]
    title = f"\n{name}, {rows:,} rows"
    table = Table(box=None, pad_edge=False, header_style="bold", title=title, title_justify="left")
    table.add_column("method")
    for heading in ("Sapwood, times as fast", "rows/s", metric):
        table.add_column(heading, justify="right")
    for line in lines:
        ratio, rate = line["sapwood_times_as_fast"], line["rows_per_second"]
        table.add_row(line["method"], f"{ratio:.2f}", f"{rate:,.0f}", number(line[metric]))
    return table

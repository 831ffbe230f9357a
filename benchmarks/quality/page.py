"""docs/benchmarks.md, written from the stored results."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.machine import REPOSITORY
from benchmarks.quality import results
from benchmarks.quality.picture import draw
from benchmarks.quality.problems import SUITE
from benchmarks.quality.table import COLUMNS, StreamTable, is_ours, loss, tables
from benchmarks.quality.targets import TARGETS, TRIED

PAGE = REPOSITORY / "docs" / "benchmarks.md"
PICTURE = REPOSITORY / "docs" / "benchmarks.png"

_INTRODUCTION = """\
# Benchmarks

Written by `python -m benchmarks.quality page` from the results in `benchmarks/quality/results/`; do not edit.

Every row is forecast and then learned, once, in order. The first 20,000 rows of each stream (all rows of
`elec2_paper`) are run, and all but the first 200 are scored. Regression targets are centred and in units of their
standard deviation. Sapwood runs with all defaults and one seed fixed in advance, as its prequential loop runs it.
Peers run with their own defaults.

- Each peer gets raw inputs; those to which scale matters get standardised ones too (running mean and standard
  deviation); on streams in time order each is also given the last target as an input ("+last"). The tables show the
  form that gave the best log score; the other forms are in the results folder.
- A peer that gives only a point is lent the distribution of its own last 500 errors, and so is Sapwood's mean
  ("mean only"): the whole distribution must beat that row.
- Most peers announce probabilities of exactly zero now and then. Theirs are raised to .001, or one such row would make
  the log loss infinite. Sapwood's are scored as they are.
- Rates are rows per second of processor time on a shared machine, forecasting and learning, inputs ready in the
  library's own form. Bytes are those of the saved model at the end; "–": it cannot be saved.
"""


def write() -> Path:
    """Write the page and its picture, and return the page's path."""
    made = tables(results.stored(), SUITE)
    draw(made, PICTURE)
    parts = [_INTRODUCTION, *_standing(made), *_targets(made), *_engine()]
    for table in made:
        parts += _stream(table)
    PAGE.write_text("\n".join(parts) + "\n", encoding="utf-8")
    return PAGE


def _standing(made: list[StreamTable]) -> Iterator[str]:
    yield "## Where Sapwood stands\n"
    yield f"![Log score of every method less that of Sapwood]({PICTURE.name})\n"
    yield "| stream | score | Sapwood | best other | its method and inputs | Sapwood is |"
    yield "|---|---|---|---|---|---|"
    for table in made:
        scores = (table.main, "crps") if table.is_regression else (table.main,)
        for score in scores:
            ours, peer = table.ours, table.best_peer(score)
            if ours is None or peer is None:
                continue
            lead = loss(peer, score) - loss(ours, score)
            verdict = f"better by {lead:.3f}" if lead >= 0 else f"**worse by {-lead:.3f}**"
            yield (
                f"| {table.stream} | {COLUMNS[table.is_regression][score]} | {_number(ours['scores'][score])} "
                f"| {_number(peer['scores'][score])} | {peer['method']}, {peer['inputs']} | {verdict} |"
            )
    yield ""


def _targets(made: list[StreamTable]) -> Iterator[str]:
    yield "## Targets\n"
    yield "| stream | score | target | Sapwood | |"
    yield "|---|---|---|---|---|"
    for table in made:
        if table.ours is None:
            continue
        for score, target in TARGETS[table.stream].items():
            value = table.ours["scores"].get(score, table.ours.get(score))
            verdict = "reached" if value is not None and target.met(value) else "**missed**"
            yield f"| {table.stream} | {score} | {target} | {_number(value)} | {verdict} |"
    yield ""


def _engine() -> Iterator[str]:
    path = results.FOLDER / "engine.json"
    if not path.exists():
        return
    yield "## The engine's own targets\n"
    yield "| what | measured | target | |"
    yield "|---|---|---|---|"
    for part in json.loads(path.read_text(encoding="utf-8")).values():
        for line in part["verdicts"]:
            low, high = line["target"]["low"], line["target"]["high"]
            target = " ".join(f"{sign} {end:g}" for sign, end in ((">=", low), ("<=", high)) if end is not None)
            error = f" ± {line['standard_error']:.3f}" if len(line["values"]) > 1 else ""
            verdict = "reached" if line["passed"] else "**missed**"
            yield f"| {line['what']} | {line['mean']:.3f}{error} | {target} | {verdict} |"
    yield ""


def _stream(table: StreamTable) -> Iterator[str]:
    columns = COLUMNS[table.is_regression]
    yield f"## {table.stream}\n"
    yield "| method | inputs | " + " | ".join(columns.values()) + " | rows/s | bytes |"
    yield "|---" * (len(columns) + 4) + "|"
    for row in table.rows:
        name = f"**{row['method']}**" if is_ours(row) else row["method"]
        cells = [_number(row["scores"][score]) for score in columns]
        size = "–" if row["model_bytes"] is None else f"{row['model_bytes']:,}"
        yield f"| {name} | {row['inputs']} | {' | '.join(cells)} | {row['rows_per_cpu_second']:,} | {size} |"
    yield ""
    for result in table.failed:
        yield f"{result['method']} ({result['inputs']}) broke down: `{result['failed']}`\n"
    if table.stream in TRIED:
        yield f"{TRIED[table.stream]}\n"


def _number(value: Any) -> str:
    if value is None:
        return "diverged"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4f}" if abs(value) < 0.1 else f"{value:.3f}"

"""The command ``sapwood inspect``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from sapwood import _views
from sapwood._base import DynamicTreeEstimator
from sapwood._core import Model, TreeDump
from sapwood._fitted import fitted, input_names, native, score_names, task_of
from sapwood._formats import number
from sapwood._text import visible
from sapwood.cli import model_file
from sapwood.cli.failures import errors_in_one_line
from sapwood.cli.json_line import json_line

EPILOG = """
**Examples**

`sapwood inspect prices.sap`

`sapwood inspect prices.sap --tree`

`sapwood inspect prices.sap --json | jq .relevance`
"""


def inspect(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file that learn --save or model.save wrote.")],
    tree: Annotated[
        bool, typer.Option("--tree", help="Also draw a tree of the cloud with the largest weight.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one line of JSON instead of tables.")] = False,
) -> None:
    """Show what a model knows: its bank, trees, pool and forgetting, and which columns it splits on."""
    with errors_in_one_line():
        estimator = model_file.read(model)
    core, names = native(estimator), _names(estimator)
    members = [_member(core, ix) for ix in range(core.n_members)]
    relevance = _relevance(core, names)
    if json:
        summary = _summary(estimator) | {"bank": members, "relevance": relevance}
        typer.echo(json_line(summary))
        return
    console = Console(highlight=False)
    _show_summary(console, _summary(estimator))
    _show_bank(console, members)
    _show_relevance(console, relevance)
    if tree:
        best = _views.heaviest_cloud(core)
        console.print(_drawn(core.tree(best, 0), names, getattr(estimator, "classes_", None)))


def register(app: typer.Typer) -> None:
    """Add the command to an application."""
    app.command(epilog=EPILOG)(inspect)


def _names(model: DynamicTreeEstimator) -> list[str]:
    """Return the names of the inputs, followed by those of the lagged targets."""
    core, known = native(model), input_names(model)
    names = [f"x{ix + 1}" for ix in range(core.n_inputs)] if known is None else [*known, *score_names(model)]
    target = fitted(model).target or "y"
    lags = max(core.member_config(ix).lags for ix in range(core.n_members))
    return [*names, *(f"{target}, {lag} row{'s' * (lag > 1)} ago" for lag in range(1, lags + 1))]


def _summary(model: DynamicTreeEstimator) -> dict[str, Any]:
    core, forgetting, encoder = native(model), model.forgetting_, fitted(model).encoder
    classes = getattr(model, "classes_", None)
    return {
        "task": task_of(model),
        "target": fitted(model).target,
        "rows_learned": core.n_seen,
        "columns": None if encoder is None else encoder.state(),
        "inputs": _names(model)[: core.n_inputs],
        "classes": None if classes is None else classes.tolist(),
        "log_evidence": core.ln_evidence,
        "forgetting": float(forgetting.values @ forgetting.weights),
        "sharpness": core.sharpness,
        "active": len(model.active_),
    }


def _member(core: Model, ix: int) -> dict[str, Any]:
    config, weight = core.member_config(ix), float(core.weights()[ix])
    if config.kind != "cloud":
        return {"member": _views.in_words(config), "weight": weight}
    trees, pool = core.tree_stats(ix), core.active(ix)
    values, share = core.forgetting(ix)
    return {
        "member": _views.in_words(config),
        "leaf": config.leaf,
        "pool": config.max_active,
        "lags": config.lags,
        "discard": config.discard,
        "weight": weight,
        "particles": config.n_particles,
        "distinct_trees": trees.n_distinct,
        "height": float(np.mean(trees.height)),
        "leaves": float(np.mean(trees.n_leaves)),
        "active": len(pool.y),
        "active_per_leaf": float(np.mean(trees.active_per_leaf)),
        "retired_per_leaf": float(np.mean(trees.retired_per_leaf)),
        "forgetting": float(values @ share),
    }


def _relevance(core: Model, names: list[str]) -> dict[str, float]:
    """Return each input's share of the splits, with clouds counted by their weight."""
    used = np.zeros(len(names))
    for ix, weight in enumerate(_views.cloud_weights(core)):
        splits = core.split_use(ix)
        used[: len(splits)] += weight * splits
    total = used.sum()
    shares = used / total if total > 0 else used
    return {names[ix]: float(shares[ix]) for ix in np.argsort(-shares, kind="stable")}


def _show_summary(console: Console, summary: dict[str, Any]) -> None:
    of = "" if summary["target"] is None else f" of {visible(repr(summary['target']))}"
    console.print(f"{summary['task']}{of}, {summary['rows_learned']:,} rows learned", style="bold", markup=False)
    columns, inputs = summary["columns"], summary["inputs"]
    described = inputs if columns is None else [_described(column) for column in columns]
    console.print(f"{'inputs' if columns is None else 'columns'}: {_shortened(described, 40)}", markup=False)
    if summary["classes"] is not None:
        console.print(f"classes: {', '.join(map(visible, summary['classes']))}", markup=False)
    console.print(
        f"active observations: {summary['active']:,}   forgetting factor: {summary['forgetting']:.4f}   "
        f"sharpness: {summary['sharpness']:.2f}"
    )
    console.print(f"log evidence: {summary['log_evidence']:,.1f}")


def _described(column: dict[str, Any]) -> str:
    """The name of a column, and what it is unless that is a number."""
    if column["kind"] == "number":
        return visible(column["name"])
    if column["kind"] == "category":
        categories = column["categories"]
        return f"{visible(column['name'])} ({len(categories)} categories: {_shortened(categories, 5)})"
    return f"{visible(column['name'])} ({column['kind']})"


def _shortened(texts: list[str], most: int) -> str:
    return ", ".join(map(visible, texts[:most])) + (f", ... ({len(texts)} in all)" if len(texts) > most else "")


def _show_bank(console: Console, members: list[dict[str, Any]]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold", title="\nThe bank", title_justify="left")
    for heading in ("member", "weight", "forgetting", "trees", "height", "leaves", "active", "retired"):
        table.add_column(heading, justify="left" if heading == "member" else "right")
    for member in members:
        about_trees = (
            (
                f"{member['forgetting']:.4f}",
                f"{member['distinct_trees']:,} of {member['particles']:,}",
                f"{member['height']:.1f}",
                f"{member['leaves']:.1f}",
                f"{member['active_per_leaf']:.1f}",
                f"{member['retired_per_leaf']:.0f}",
            )
            if "leaf" in member
            else ()
        )
        table.add_row(Text(member["member"]), f"{member['weight']:.3f}", *about_trees)
    console.print(table)
    console.print("active and retired: observations per leaf", style="dim")


def _show_relevance(console: Console, relevance: dict[str, float]) -> None:
    if not any(relevance.values()):
        console.print("\nno tree has split yet")
        return
    table = Table(box=None, pad_edge=False, header_style="bold", title="\nShare of splits", title_justify="left")
    table.add_column("input")
    table.add_column("share", justify="right")
    table.add_column("")
    for name, share in list(relevance.items())[:15]:
        table.add_row(Text(visible(name)), f"{share:.1%}", "█" * round(40 * share))
    console.print(table)


def _drawn(dump: TreeDump, names: list[str], classes: NDArray[Any] | None) -> Tree:
    root = Tree("one tree of the cloud with the largest weight")
    _draw(root, dump, 0, names, "", classes)
    return root


def _draw(parent: Tree, dump: TreeDump, node: int, names: list[str], lead: str, classes: NDArray[Any] | None) -> None:
    split = int(dump.split_dim[node])
    if split < 0:
        value = dump.value[node]
        label = f"mean {number(float(value[0]))}" if classes is None else visible(classes[int(np.argmax(value))])
        parent.add(Text(f"{lead}{label}  ({dump.n_active[node]:.0f} active, {dump.n_retired[node]:.0f} retired)"))
        return
    missing = "left" if dump.nan_left[node] else "right"
    question = f"{visible(names[split])} < {number(float(dump.cut[node]))}?  (missing: {missing})"
    here = parent.add(Text(lead + question))  # not markup: a column may be called "[/]"
    _draw(here, dump, int(dump.left[node]), names, "yes: ", classes)
    _draw(here, dump, int(dump.right[node]), names, "no: ", classes)

"""Figure 6 and table 1: a rotating XOR, where old data mislead."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from sapwood.datasets import moving_target
from sapwood.reproduce import _figures
from sapwood.reproduce._experiment import Record, Scale
from sapwood.reproduce._models import Floats
from sapwood.reproduce.experiments._table1 import Table1, scale

#: The paper gives neither; with these values our trees score as in the paper.
PERIOD, SPREAD = 4000, 0.5
_TREES = ("lambda=1", "lambda=0.8")
_ALL = (*_TREES, "QDA-AF", "OLDA-ALR")
_VARIANTS = ["spread 0.35", "period 1000", "w 25", "w 200", "not forgetting"]


class MovingTarget(Table1):
    """The paper does not give period, spread and pool size: they are chosen, and varied."""

    name = "moving-target"
    title = "MOVINGTARGET: a rotating XOR"
    shows = "figure 6 and table 1"
    longest_job_seconds = 50.0
    scales: ClassVar[Mapping[Scale, Record]] = {
        "miniature": scale(1200, 600, n_particles=40, repeats=1, seed=3000),
        "quick": scale(6000, 10_000, n_particles=100, repeats=1, seed=3000, variants=_VARIANTS),
        "full": scale(10_000, 10_000, n_particles=1000, repeats=10, seed=3000, variants=_VARIANTS),
    }
    variants: ClassVar[Mapping[str, tuple[tuple[str, ...], Record]]] = {
        "spread 0.35": ((*_ALL, "defaults"), {"spread": 0.35}),
        "period 1000": (_ALL, {"period": 1000}),
        "w 25": (_TREES, {"w": 25}),
        "w 200": (_TREES, {"w": 200}),
        "not forgetting": (("QDA-AF",), {"parameters": {"step": 0.0}}),
    }
    orders = (
        ("forgetting overcomes the bottleneck of OLDA-ALR", "lambda=0.8", "OLDA-ALR"),
        ("QDA-AF is inferior here", "lambda=0.8", "QDA-AF"),
    )
    why: ClassVar[Mapping[str, str]] = {
        "QDA-AF is inferior here": "The two clusters of a class lie opposite each other, so the covariances of the "
        "classes differ and rotate. A quadratic discriminant that forgets fast can follow them, and ours does. Without "
        "forgetting (see the README) it performs as badly as the paper's.",
        **dict.fromkeys(
            ("lambda=1", "OLDA-ALR"),
            "A model without skill has the share of the larger class as its rate: about 0.656 in the paper, 0.6 here.",
        ),
        "OFFLINE": "A model without skill has the share of the larger class as its rate: about 0.656 in the paper, 0.6 "
        "here. Its AUC falls with every turn of old data, and the paper does not state the number of turns.",
        "defaults": "A quadratic discriminant is nearly the true model for two Gaussian clusters per class; trees must "
        "approximate an oblique boundary by steps.",
    }

    def stream(self, arguments: Record, data_home: Path | None) -> tuple[Floats, Floats]:
        found = moving_target(
            arguments["rows"],
            period=arguments.get("period", PERIOD),
            spread=arguments.get("spread", SPREAD),
            seed=arguments["seed"],
        )
        return found.X, found.y.astype(np.float64)

    def draw(self, summary: Record, paper: Record, folder: Path) -> None:
        super().draw(summary, paper, folder)
        figure, axes = _figures.panels(1, 4, 12.0, 3.3, sharex=True, sharey=True)
        found = moving_target(4000, PERIOD, SPREAD, seed=summary["settings"]["seed"])
        for axis, begin in zip(axes[0], (0, 500, 1000, 1500), strict=True):
            _snapshot(axis, found.X[begin : begin + 200], found.y[begin : begin + 200], begin)
        _figures.save(figure, folder / "snapshots.png")


def _snapshot(axis: Any, x: Floats, y: Any, begin: int) -> None:
    for label, (colour, marker) in enumerate((("#0072B2", "o"), ("#D55E00", "^"))):
        axis.plot(*x[y == label].T, marker, ms=4, color=colour, alpha=0.7, label=f"class {label}")
    axis.set_title(f"rows {begin} to {begin + len(y)}")
    axis.set_aspect("equal")
    if begin == 0:
        axis.legend(fontsize=8, loc="upper right")

"""Retiring points changes neither predictions nor evidence, only what can be learned afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from sapwood import DynamicTreeClassifier, DynamicTreeRegressor
from sapwood._core import Model
from sapwood.reproduce import _figures
from sapwood.reproduce._claims import Claim, statement
from sapwood.reproduce._experiment import Experiment, Record, Scale
from sapwood.reproduce._models import PAPER_CLASSIFICATION, PAPER_REGRESSION, Floats, start

LEAVES = ("linear", "constant", "multinomial")
_GRID = np.linspace(0.0, 1.0, 151)
#: The setting shown in the figure; the other looks the same.
_SHOWN = "ours"
_STAGES = ("before", "after", "later", "never")


class Retirement(Experiment):
    """Learn, retire half of the points, predict again, learn on; compared with a model that retires nothing."""

    name = "retirement"
    title = "Retirement preserves what was learned"
    shows = "sections 3.1 and 3.2 (the paper has no figure)"
    scales: ClassVar[Mapping[Scale, Record]] = {
        "miniature": {"rows": 100, "more_rows": 50, "n_particles": 100, "seed": 4},
        "quick": {"rows": 200, "more_rows": 200, "n_particles": 1000, "seed": 4},
        "full": {"rows": 200, "more_rows": 200, "n_particles": 1000, "seed": 4},
    }

    def jobs(self, settings: Record) -> dict[str, Record]:
        return {
            f"{leaf}/{setting}": {"leaf": leaf, "setting": setting, **settings}
            for leaf in LEAVES
            for setting in ("paper", "ours")
        }

    def run(self, arguments: Record, data_home: Path | None) -> Record:
        leaf, n = arguments["leaf"], arguments["rows"]
        r = np.random.default_rng(arguments["seed"])
        x = r.random((n + arguments["more_rows"], 1))
        curve = _truth(x[:, 0])
        if leaf == "multinomial":
            y = (r.random(len(x)) < 1.0 / (1.0 + np.exp(-3.0 * curve))).astype(np.float64)
        else:
            y = curve + 0.2 * r.standard_normal(len(x))
        model = start(_estimator(arguments), n_inputs=1, n_classes=2 if leaf == "multinomial" else 0)
        model.learn(x[:n], y[:n])
        predictives = {"before": _predictive(model)}
        untouched = model.copy()
        retired = sorted(r.choice(n, n // 2, replace=False).tolist())
        points = model.active(0)
        model.retire(0, retired)
        predictives["after"] = _predictive(model)
        for stage, one in (("later", model), ("never", untouched)):
            one.learn(x[n:], y[n:])
            predictives[stage] = _predictive(one)
        differences = {
            "difference": _difference(predictives["before"], predictives["after"]),
            "difference_after_learning": _difference(predictives["later"], predictives["never"]),
        }
        if arguments["setting"] != _SHOWN:
            return differences
        return {
            **differences,
            "surfaces": {stage: [part.tolist() for part in parts] for stage, parts in predictives.items()},
            "points": {"x": points.x[:, 0].tolist(), "y": points.y.tolist(), "retired": retired},
        }

    def summarise(self, settings: Record, records: Mapping[str, Record]) -> Record:
        return {"cases": dict(records)}

    def claims(self, summary: Record, paper: Record) -> list[Claim]:
        claims = []
        for leaf in LEAVES:
            ours, defaults = (summary["cases"][f"{leaf}/{setting}"]["difference"] for setting in ("paper", "ours"))
            claims.append(
                statement(
                    "sec. 3.1",
                    f"largest relative change of the predictive when half of the points are retired, {leaf} leaves",
                    "none",
                    f"{ours:.1g}",
                    # Only rounding errors remain, in statistics of 200 points.
                    max(ours, defaults) < 1e-9,
                    f"{defaults:.1g}",
                )
            )
        return claims

    def draw(self, summary: Record, paper: Record, folder: Path) -> None:
        figure, axes = _figures.panels(len(LEAVES), 3, 12.0, 8.4, sharex=True, sharey="row")
        titles = ("before and after retiring half", "after learning as many rows again", "differences")
        for row, leaf in enumerate(LEAVES):
            case = summary["cases"][f"{leaf}/{_SHOWN}"]
            surface = {stage: [np.array(part) for part in case["surfaces"][stage]] for stage in _STAGES}
            self._surfaces(axes[row], leaf, case, surface)
            for axis, title in zip(axes[row], titles, strict=True):
                if row == 0:
                    axis.set_title(title)
        for axis in axes[-1]:
            axis.set_xlabel("x")
        axes[0][0].legend(fontsize=8)
        axes[0][1].legend(fontsize=8)
        axes[0][2].legend(fontsize=8, loc="lower left")
        _figures.save(figure, folder / "surfaces.png")

    def _surfaces(self, axes: Any, leaf: str, case: Record, surface: dict[str, list[Floats]]) -> None:
        points = case["points"]
        x, y = np.array(points["x"]), np.array(points["y"])
        retired = np.zeros(len(x), dtype=bool)
        retired[points["retired"]] = True
        axes[0].plot(x[~retired], y[~retired], ".", color="#D55E00", ms=5, label="active")
        axes[0].plot(x[retired], y[retired], ".", color="#CCCCCC", ms=5, label="retired")
        _band(axes[0], surface["before"], "#222222", "before", "-", 3.0)
        _band(axes[0], surface["after"], "#56B4E9", "after", "--", 1.5)
        _band(axes[1], surface["never"], "#222222", "nothing retired", "-", 1.5)
        _band(axes[1], surface["later"], "#0072B2", "half retired before", "-", 1.5)
        by_retiring, later = surface["after"][0] - surface["before"][0], surface["later"][0] - surface["never"][0]
        axes[2].plot(_GRID, later, color="#999999", lw=1, label="between the two on the left, after learning")
        axes[2].plot(_GRID, by_retiring, color="#0072B2", lw=2, label="made by retiring")
        axes[2].annotate(
            f"largest relative change by retiring: {case['difference']:.1g}",
            (0.5, 0.9),
            xycoords="axes fraction",
            ha="center",
            va="top",
        )
        axes[0].set_ylabel("probability of class 1" if leaf == "multinomial" else f"y, {leaf} leaves")


def _truth(x: Floats) -> Floats:
    curve: Floats = np.where(x < 0.35, 1.0 - 4.0 * x, np.sin(9.0 * x))
    return curve


def _estimator(arguments: Record) -> DynamicTreeRegressor | DynamicTreeClassifier:
    common = {
        "leaf": arguments["leaf"],
        "n_particles": arguments["n_particles"],
        "max_active": None,
        "forgetting": 1.0,
        "random_state": arguments["seed"],
    }
    if arguments["leaf"] == "multinomial":
        return DynamicTreeClassifier(**{**common, **(PAPER_CLASSIFICATION if arguments["setting"] == "paper" else {})})
    return DynamicTreeRegressor(**{**common, **(PAPER_REGRESSION if arguments["setting"] == "paper" else {})})


def _predictive(model: Model) -> list[Floats]:
    """The predictive over the grid: mean and variance, or the probability of class 1."""
    predictive = model.predictive(_GRID[:, np.newaxis])
    if model.task == "classification":
        return [predictive.proba()[:, 1]]
    return [predictive.mean(), predictive.var()[0]]


def _difference(one: list[Floats], other: list[Floats]) -> float:
    return max(float(np.max(np.abs(a - b)) / np.max(np.abs(a))) for a, b in zip(one, other, strict=True))


def _band(axis: Any, surface: list[Floats], colour: str, label: str, line: str, width: float) -> None:
    axis.plot(_GRID, surface[0], color=colour, ls=line, lw=width, label=label)
    if len(surface) == 2:
        for sign in (-1.645, 1.645):
            axis.plot(_GRID, surface[0] + sign * np.sqrt(surface[1]), color=colour, ls=line, lw=0.5 * width, alpha=0.7)

"""Figure 4: how much to forget when Friedman's function drifts, fast (k=1) and slowly (k=0.1)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from sapwood import DynamicTreeRegressor
from sapwood._core import Model
from sapwood.datasets import drifting_friedman
from sapwood.metrics import rmse
from sapwood.reproduce import _figures
from sapwood.reproduce._claims import Claim, improvement, number, statement
from sapwood.reproduce._experiment import Experiment, Record, Scale
from sapwood.reproduce._models import PAPER_REGRESSION, Floats, start

SPEEDS = (1.0, 0.1)
ROWS_PER_STEP = 5
_SWEEP = [0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.97, 0.99, 1.0]
_FULL_SWEEP = [0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99, 1.0]
#: The pool size and how many of the five rows per step are learned. The paper gives neither; the first is our reading.
_READINGS = [{"w": 100, "learned": 5}, {"w": 50, "learned": 5}, {"w": 200, "learned": 5}, {"w": 100, "learned": 1}]
_SPEED_NAMES = {1.0: "fast drift, k=1", 0.1: "slow drift, k=0.1"}


class DriftRegression(Experiment):
    """A sweep of the forgetting factor, compared with the factor learned from the stream and with the bank."""

    name = "drift-regression"
    title = "How much to forget under drift"
    shows = "figure 4"
    longest_job_seconds = 4.0
    scales: ClassVar[Mapping[Scale, Record]] = {
        "miniature": {
            "forgetting": [0.0, 0.8, 0.97, 1.0],
            "readings": _READINGS[:1],
            "repeats": 1,
            "steps": 1000,
            "n_particles": 100,
            "seed": 1,
        },
        "quick": {
            "forgetting": _SWEEP,
            "readings": _READINGS,
            "repeats": 2,
            "steps": 1000,
            "n_particles": 100,
            "seed": 1,
        },
        "full": {
            "forgetting": _FULL_SWEEP,
            "readings": _READINGS,
            "repeats": 100,
            "steps": 1000,
            "n_particles": 1000,
            "seed": 1,
        },
    }

    def jobs(self, settings: Record) -> dict[str, Record]:
        jobs = {}
        for repeat, k in product(range(settings["repeats"]), SPEEDS):
            common = {"k": k, "steps": settings["steps"], "n_particles": settings["n_particles"]}
            common["seed"] = settings["seed"] + repeat
            # The other readings show how far the best factor moves, for which one run each is enough.
            readings = settings["readings"] if repeat == 0 else settings["readings"][:1]
            for reading, forgetting in product(readings, settings["forgetting"]):
                jobs[f"{_group(k, reading)}/{forgetting:g}/{repeat}"] = {**common, **reading, "forgetting": forgetting}
            for kind in ("learned", "learned, ours", "defaults"):
                jobs[f"{k:g}/{kind}/{repeat}"] = {**common, **settings["readings"][0], "kind": kind}
        return jobs

    def run(self, arguments: Record, data_home: Path | None) -> Record:
        n = ROWS_PER_STEP * arguments["steps"]
        stream = drifting_friedman(n, k=arguments["k"], per_step=ROWS_PER_STEP, seed=arguments["seed"])
        model = start(_estimator(arguments), n_inputs=stream.X.shape[1])
        mean, ln_density = _step_by_step(model, stream.X, stream.y, arguments["learned"])
        scored = slice(n // 10, None)  # before that, the model has seen almost nothing
        return {
            "rmse": rmse(stream.y[scored], mean[scored]),
            "density": float(np.mean(np.exp(ln_density[scored]))),
            "log_score": float(np.mean(ln_density[scored])),
        }

    def summarise(self, settings: Record, records: Mapping[str, Record]) -> Record:
        groups: dict[str, list[Record]] = {}
        for key, record in records.items():
            groups.setdefault(key.rsplit("/", 1)[0], []).append(record)
        scores = {
            group: {measure: float(np.mean([r[measure] for r in found])) for measure in found[0]}
            for group, found in groups.items()
        }
        groups_of_sweeps = [_group(k, reading) for k, reading in product(SPEEDS, settings["readings"])]
        best = {
            group: {measure: _best(scores, settings["forgetting"], group, measure) for measure in _MEASURES}
            for group in groups_of_sweeps
        }
        return {"scores": scores, "best": best}

    def claims(self, summary: Record, paper: Record) -> list[Claim]:
        scores, best = summary["scores"], summary["best"]
        group = {k: _group(k, summary["settings"]["readings"][0]) for k in SPEEDS}
        claims = []
        for k in SPEEDS:
            what = f"best forgetting factor by RMSE, {_SPEED_NAMES[k]} (by density, by log score: "
            what += f"{best[group[k]]['density']:g}, {best[group[k]]['log_score']:g})"
            printed, ours = paper["best_forgetting"][f"{k:g}"], best[group[k]]["rmse"]
            claims.append(number("sec. 5.1", what, printed, ours, better=None, tolerance=0.1, digits=2, why=_BEST_WHY))
        for measure, named in (("rmse", "RMSE"), ("density", "predictive density")):
            claims.append(_u_shape(scores, best, group, measure, named))
        fast, slow = (best[group[k]]["rmse"] for k in SPEEDS)
        what = "the best factor is smaller under fast drift than under slow drift"
        shown = f"{fast:g} < {slow:g}"
        claims.append(statement("sec. 5.1", what, "0.8 < 0.97", shown, fast < slow, why=_BEST_WHY))
        return [*claims, *(_learned(scores, best, group[k], k) for k in SPEEDS)]

    def choices(self, summary: Record) -> list[tuple[str, str, str]]:
        rows = []
        for reading in summary["settings"]["readings"]:
            found = []
            for k in SPEEDS:
                group = _group(k, reading)
                chosen = summary["best"][group]["rmse"]
                found.append(f"k={k:g}: best {chosen:g}, RMSE {summary['scores'][f'{group}/{chosen:g}']['rmse']:.2f}")
            answer = f"w={reading['w']}, {reading['learned']} of the five rows learned"
            rows.append(("pool, rows learned per step", answer, "; ".join(found)))
        return rows

    def draw(self, summary: Record, paper: Record, folder: Path) -> None:
        settings, scores = summary["settings"], summary["scores"]
        figure, axes = _figures.panels(2, 2, 10.0, 6.6)
        for column, k in enumerate(reversed(SPEEDS)):
            for row, (measure, named) in enumerate((("density", "predictive density"), ("rmse", "RMSE"))):
                printed = _place(paper["best_forgetting"][f"{k:g}"])
                _draw_panel(axes[row][column], scores, settings, k, measure)
                axes[row][column].axvline(printed, color="#BBBBBB", lw=6, alpha=0.5, zorder=0)
                axes[row][0].set_ylabel(named)
            axes[0][column].set_title(_SPEED_NAMES[k])
            axes[1][column].set_xlabel("forgetting factor $\\lambda$ (grey: best in the paper)")
        figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        _figures.save(figure, folder / "sweep.png")


_MEASURES = ("rmse", "density", "log_score")
_BEST_WHY = (
    "The paper gives neither the pool size nor the length of the stream, and the curve is flat near its optimum, so "
    "the repeats decide between neighbouring factors. The other readings in the figure show how far the best factor "
    "moves."
)
_LEARNED_WHY = (
    "Particles carry factors from a grid and must learn the speed of the drift; on a short stream the factor that is "
    "best in hindsight keeps an advantage."
)


def _group(k: float, reading: Record) -> str:
    return f"{k:g}/w={reading['w']}, {reading['learned']} a step"


def _estimator(arguments: Record) -> DynamicTreeRegressor:
    kind = arguments.get("kind", "fixed")
    if kind == "defaults":
        return DynamicTreeRegressor(random_state=arguments["seed"])
    prior = {} if kind == "learned, ours" else PAPER_REGRESSION
    return DynamicTreeRegressor(
        leaf="linear",
        n_particles=arguments["n_particles"],
        max_active=arguments["w"],
        discard="oldest",
        forgetting=arguments.get("forgetting", "auto"),
        random_state=arguments["seed"],
        **prior,
    )


def _step_by_step(model: Model, x: Floats, y: Floats, n_learned: int) -> tuple[Floats, Floats]:
    """Forecast the rows of each step with the model of the step before, then learn all or some of them."""
    mean, ln_density = np.empty(len(y)), np.empty(len(y))
    for begin in range(0, len(y), ROWS_PER_STEP):
        step = slice(begin, begin + ROWS_PER_STEP)
        predictive = model.predictive(x[step])
        mean[step], ln_density[step] = predictive.mean(), predictive.ln_density(y[step])
        model.learn(x[begin : begin + n_learned], y[begin : begin + n_learned])
    return mean, ln_density


def _best(scores: Record, sweep: list[float], group: str, measure: str) -> float:
    sign = 1.0 if measure == "rmse" else -1.0
    return min(sweep, key=lambda forgetting: sign * scores[f"{group}/{forgetting:g}"][measure])


def _u_shape(scores: Record, best: Record, group: Mapping[float, str], measure: str, named: str) -> Claim:
    shown, holds = [], True
    for k in SPEEDS:
        chosen = best[group[k]][measure]
        none, some, everything = (scores[f"{group[k]}/{value:g}"][measure] for value in (0.0, chosen, 1.0))
        shown.append(f"k={k:g}: {none:.3f}, {some:.3f}, {everything:.3f}")
        holds = holds and 0.0 < chosen < 1.0
    what = f"U-shape of {named}: at 0, at the best factor, at 1"
    return statement("fig. 4", what, "best between 0 and 1", "; ".join(shown), holds, why=_BEST_WHY)


def _learned(scores: Record, best: Record, group: str, k: float) -> Claim:
    chosen = best[group]["log_score"]
    fixed = scores[f"{group}/{chosen:g}"]["log_score"]
    learned, ours, bank = (scores[f"{k:g}/{kind}"]["log_score"] for kind in ("learned", "learned, ours", "defaults"))
    return improvement(
        f"log score of learned forgetting within 2 % of the best fixed factor, {_SPEED_NAMES[k]}",
        f"best fixed ({chosen:g}) {fixed:.3f}; learned {learned:.3f}",
        f"learned, w=100 {ours:.3f}; bank {bank:.3f}",
        min(ours, bank) >= fixed - 0.02 * abs(fixed),
        why=_LEARNED_WHY,
    )


_READING_COLOURS = ("#0072B2", "#56B4E9", "#009E73", "#999999")
_LINES = {
    "learned": ("learned, w=100, the paper's prior", "#E69F00"),
    "learned, ours": ("learned, w=100, our prior", "#CC79A7"),
    "defaults": ("our defaults (bank)", _figures.COLOURS["defaults"]),
}


def _place(forgetting: float) -> float:
    """Position on an axis that separates 0.9, 0.99 and 1."""
    return float(-np.log10(1.0 - forgetting + 0.005))


def _draw_panel(axis: Any, scores: Record, settings: Record, k: float, measure: str) -> None:
    sweep = settings["forgetting"]
    for reading, colour in zip(settings["readings"], _READING_COLOURS, strict=False):
        values = [scores[f"{_group(k, reading)}/{forgetting:g}"][measure] for forgetting in sweep]
        label = f"fixed, w={reading['w']}, {reading['learned']} learned per step"
        first = reading is settings["readings"][0]
        axis.plot([_place(f) for f in sweep], values, "o-", ms=4, lw=2 if first else 1, color=colour, label=label)
    for kind, (label, colour) in _LINES.items():
        axis.axhline(scores[f"{k:g}/{kind}"][measure], color=colour, ls="--", lw=1.5, label=label)
    ticks = [0.0, 0.5, 0.8, 0.9, 0.97, 0.99, 1.0]
    axis.set_xticks([_place(tick) for tick in ticks], [f"{tick:g}" for tick in ticks])

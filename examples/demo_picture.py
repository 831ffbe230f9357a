"""The demo's picture: scores through time, the last rows with their intervals, and what the model believed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # a file, whether or not there is a screen

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from sapwood.stream import Beliefs, EvaluationResult

LAST = 60  # rows drawn one by one
BEST = {"rmse": 1.0, "log_score": -0.5 * np.log(2.0 * np.pi * np.e)}  # of one who knows everything but the unit noise

# From the palette of Okabe and Ito, which readers with any colour vision can tell apart.
BLUE, ORANGE, GREY, RED = "#0072B2", "#E69F00", "#8C8C8C", "#D55E00"
STYLES = {
    "model": ("Sapwood", BLUE, "-", 2.0),
    "no_change": ("no change", ORANGE, "--", 1.4),
    "running_mean": ("running mean", GREY, "-.", 1.4),
}


def draw(path: Path, result: EvaluationResult, changes: Sequence[tuple[int, str]]) -> None:
    """Draw the picture; ``changes`` holds the first row and the name of each stretch of the stream."""
    figure, axes = plt.subplot_mosaic(
        [["rmse", "log_score"], ["rows", "rows"], ["weights", "forgetting"]], figsize=(12, 11), layout="constrained"
    )
    window = result.settings["window"]
    _score(axes["rmse"], result, "rmse")
    axes["rmse"].set(title=f"Error of the prediction, last {window} rows (lower is better)", ylabel="RMSE")
    axes["rmse"].set_ylim(bottom=0)
    axes["rmse"].legend(loc="upper right", fontsize=9)
    _score(axes["log_score"], result, "log_score")
    axes["log_score"].set(
        title=f"Log density of what came, last {window} rows (higher is better)", ylabel="log score (nats a row)"
    )
    _last_rows(axes["rows"], result)
    _weights(axes["weights"], result.beliefs)
    _forgetting(axes["forgetting"], result.beliefs)
    for name in ("rmse", "log_score", "weights", "forgetting"):
        _stretches(axes[name], changes, result.n_rows)
    figure.suptitle("Sapwood on a drifting stream, every row predicted before it was learned", fontsize=14)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def _score(ax: Axes, result: EvaluationResult, metric: str) -> None:
    for forecaster, (label, colour, dash, width) in STYLES.items():
        ax.plot(*result.curve(metric, forecaster), color=colour, linestyle=dash, linewidth=width, label=label)
    ax.axhline(BEST[metric], color="black", linestyle=":", linewidth=1.2, label="best possible")


def _last_rows(ax: Axes, result: EvaluationResult) -> None:
    row, y, mean, lower, upper = (result.predictions[name][-LAST:] for name in ("row", "y", "mean", "lower", "upper"))
    inside = (lower <= y) & (y <= upper)
    ax.vlines(row, lower, upper, color=BLUE, alpha=0.35, linewidth=5, label="90 % interval")
    ax.plot(row, mean, "_", color=BLUE, markersize=8, markeredgewidth=2, label="mean")
    ax.plot(row[inside], y[inside], "o", color="black", markersize=4, label="what came, inside")
    ax.plot(row[~inside], y[~inside], "X", color=RED, markersize=8, label="what came, outside")
    ax.set(title=f"The last {LAST} rows, one by one", xlabel="row", ylabel="target", xlim=(row[0] - 1, row[-1] + 1))
    ax.legend(ncols=4, fontsize=9, loc="upper center", bbox_to_anchor=(0.5, -0.13), frameon=False)


def _weights(ax: Axes, beliefs: Beliefs) -> None:
    shades = plt.get_cmap("cividis")(np.linspace(0.05, 0.95, len(beliefs.members)))
    ax.stackplot(beliefs.row, beliefs.weights.T, colors=shades, labels=beliefs.members)
    ax.set(title="Which cloud of the bank is trusted", ylabel="weight in the prediction", ylim=(0, 1))
    ax.legend(ncols=2, fontsize=9, loc="upper center", bbox_to_anchor=(0.5, -0.13), frameon=False)


def _forgetting(ax: Axes, beliefs: Beliefs) -> None:
    ax.plot(beliefs.row, beliefs.forgetting_mean, color=BLUE)
    ax.set(title="How much the trees remember", ylabel="forgetting factor, mean (1 keeps all)", ylim=(0, 1.02))


def _stretches(ax: Axes, changes: Sequence[tuple[int, str]], n_rows: int) -> None:
    ax.set(xlabel="row", xlim=(0, n_rows))
    ax.set_title(ax.get_title(), pad=18)  # room for the names of the stretches
    ends = [first for first, _ in changes[1:]] + [n_rows]
    for (first, name), end in zip(changes, ends, strict=True):
        if first:
            ax.axvline(first, color="black", linewidth=0.8, alpha=0.6)
        ax.annotate(
            name,
            ((first + end) / 2, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            fontsize=9,
            color="dimgrey",
        )

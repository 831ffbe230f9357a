"""The demo's picture: scores through time, the last rows with their intervals, and what the model believed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # a file, whether or not there is a screen

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from demo_forecasts import WARM_UP, Beliefs, Floats, Forecasts

WINDOW = 250  # rows in a rolling score
LAST = 60  # rows drawn one by one

# From the palette of Okabe and Ito, which readers with any colour vision can tell apart.
BLUE, ORANGE, GREY, RED = "#0072B2", "#E69F00", "#8C8C8C", "#D55E00"


def draw(
    path: Path,
    y: Floats,
    forecasters: Sequence[Forecasts],
    best: Forecasts,
    beliefs: Beliefs,
    changes: Sequence[tuple[int, str]],
) -> None:
    """Draw the picture; ``forecasters[0]`` is the model, ``changes`` the first row and the name of each stretch."""
    figure, axes = plt.subplot_mosaic(
        [["rmse", "log_score"], ["rows", "rows"], ["weights", "forgetting"]], figsize=(12, 11), layout="constrained"
    )
    _rolling(axes["rmse"], [np.sqrt(_smooth(f.squared_error(y))) for f in (*forecasters, best)], forecasters, best)
    axes["rmse"].set(
        title=f"Error of the prediction, last {WINDOW} rows (lower is better)", ylabel="RMSE", ylim=(0, None)
    )
    axes["rmse"].legend(loc="upper right", fontsize=9)
    _rolling(axes["log_score"], [_smooth(f.ln_density) for f in (*forecasters, best)], forecasters, best)
    axes["log_score"].set(
        title=f"Log density of what came, last {WINDOW} rows (higher is better)", ylabel="log score (nats a row)"
    )
    _intervals(axes["rows"], y, forecasters[0])
    _weights(axes["weights"], beliefs)
    axes["forgetting"].plot(beliefs.rows, beliefs.forgetting, color=BLUE)
    axes["forgetting"].set(
        title="How much the trees remember", ylabel="forgetting factor, mean (1 keeps all)", ylim=(0, 1.02)
    )
    for name in ("rmse", "log_score", "weights", "forgetting"):
        _stretches(axes[name], changes, len(y))
    figure.suptitle("Sapwood on a drifting stream, every row predicted before it was learned", fontsize=14)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def _smooth(values: Floats) -> Floats:
    """Mean of the last WINDOW rows, for every row that has so many scored rows behind it."""
    total = np.concatenate([[0.0], np.cumsum(values[WARM_UP:])])
    return (total[WINDOW:] - total[:-WINDOW]) / WINDOW


def _rolling(ax: Axes, curves: Sequence[Floats], forecasters: Sequence[Forecasts], best: Forecasts) -> None:
    styles = [(BLUE, "-", 2.0), (ORANGE, "--", 1.4), (GREY, "-.", 1.4), ("black", ":", 1.2)]
    for curve, forecasts, (colour, dash, width) in zip(curves, (*forecasters, best), styles, strict=True):
        rows = WARM_UP + WINDOW + np.arange(len(curve))
        ax.plot(rows, curve, color=colour, linestyle=dash, linewidth=width, label=forecasts.name)


def _intervals(ax: Axes, y: Floats, model: Forecasts) -> None:
    rows = np.arange(len(y) - LAST, len(y))
    inside = model.covered(y)[rows]
    ax.vlines(rows, model.lower[rows], model.upper[rows], color=BLUE, alpha=0.35, linewidth=5, label="90 % interval")
    ax.plot(rows, model.mean[rows], "_", color=BLUE, markersize=8, markeredgewidth=2, label="mean")
    ax.plot(rows[inside], y[rows][inside], "o", color="black", markersize=4, label="what came, inside")
    ax.plot(rows[~inside], y[rows][~inside], "X", color=RED, markersize=8, label="what came, outside")
    ax.set(title=f"The last {LAST} rows, one by one", xlabel="row", ylabel="target", xlim=(rows[0] - 1, rows[-1] + 1))
    ax.legend(ncols=4, fontsize=9, loc="upper center", bbox_to_anchor=(0.5, -0.13), frameon=False)


def _weights(ax: Axes, beliefs: Beliefs) -> None:
    n_members = len(beliefs.members)
    shades = plt.get_cmap("cividis")(np.linspace(0.05, 0.95, n_members))
    ax.stackplot(beliefs.rows, beliefs.weights.T, colors=shades, labels=beliefs.members)
    ax.set(title="Which pool of active points the bank trusts", ylabel="weight in the prediction", ylim=(0, 1))
    handles, labels = ax.get_legend_handles_labels()
    ax.legend(handles[::-1], labels[::-1], title="pool", loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=9)


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

"""The scaling curves as one figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.speed.scaling import Curve
from sapwood.plot._canvas import BLUE, GREY, look

_COLUMNS = 4


def draw(curves: list[Curve], path: Path) -> None:
    """One panel per curve on log-log axes, with the allowed growth for comparison."""
    from matplotlib.figure import Figure

    n_rows = -(-len(curves) // _COLUMNS)
    with look():
        figure = Figure(figsize=(3.3 * _COLUMNS, 2.9 * n_rows), layout="constrained")
        panels = list(figure.subplots(n_rows, _COLUMNS, squeeze=False).flat)
        for axes, curve in zip(panels, curves, strict=False):
            _panel(axes, curve)
        for axes in panels[len(curves) :]:
            axes.set_axis_off()
        figure.savefig(path, dpi=90, metadata={"Software": None})


def _panel(axes: Any, curve: Curve) -> None:
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    x, cost = np.array(curve.x), np.array(curve.microseconds)
    axes.loglog(x, cost, "o-", color=BLUE, label=f"measured, exponent {curve.slope:.2f}")
    if curve.most is not None:
        promised = cost[0] * (x / x[0]) ** curve.most
        axes.loglog(x, promised, "--", color=GREY, label=f"exponent {curve.most:g}")
    axes.set_xticks(x, [short(value) for value in x])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_title(curve.name, fontsize=9)
    axes.set_xlabel(curve.against)
    axes.set_ylabel("CPU microseconds a row")
    axes.set_ylim(bottom=cost.min() / 3, top=cost.max() * 4)
    axes.legend(loc="upper left", fontsize=7)


def short(value: float) -> str:
    """A count in few characters.

    Examples
    --------
    >>> from benchmarks.speed.picture import short
    >>> short(50), short(3000), short(1e6)
    ('50', '3k', '1M')
    """
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"

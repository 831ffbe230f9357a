"""The scaling curves as one picture."""

from __future__ import annotations

from pathlib import Path

from benchmarks.speed.scaling import Curve


def draw(curves: list[Curve], path: Path) -> None:
    """One panel a curve, both axes logarithmic, with the fitted exponent."""
    from matplotlib.figure import Figure

    columns = 4
    rows = -(-len(curves) // columns)
    figure = Figure(figsize=(3.2 * columns, 2.7 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).flat
    for axes, curve in zip(panels, curves, strict=False):
        axes.loglog(curve.x, curve.microseconds, "o-")
        axes.set_title(f"{curve.name}: exponent {curve.slope:.2f}", fontsize="small")
        axes.set_xlabel(curve.against)
        axes.set_ylabel("microseconds")
        axes.set_ylim(bottom=min(curve.microseconds) / 3, top=max(curve.microseconds) * 3)
        axes.grid(True, which="major", alpha=0.3)
    for axes in list(panels)[len(curves) :]:
        axes.set_axis_off()
    figure.savefig(path, dpi=110, metadata={"Software": None})

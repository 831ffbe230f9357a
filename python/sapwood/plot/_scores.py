"""Scores over time, compared with the baselines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from sapwood._base import DynamicTreeEstimator
from sapwood.metrics._registry import METRIC_INFO
from sapwood.plot._canvas import BLUE, GREEN, GREY, ORANGE, PURPLE, Display, legend_above, thousands
from sapwood.prequential.result import forecaster_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sapwood.prequential.result import EvaluationResult

_STYLES = ((BLUE, "-", 2.2), (ORANGE, "--", 1.5), (GREY, "-.", 1.5), (GREEN, ":", 1.8), (PURPLE, (0, (5, 1)), 1.5))


class ScoresDisplay(Display):
    """A score in the course of the stream, for the model and the baselines.

    Parameters
    ----------
    metric : str
        Name of the score, as in :data:`sapwood.metrics.METRICS`.
    curves : mapping of str to (rows, values)
        One entry per forecaster, the model first.
    window : int, default=None
        Number of rows per score; None for all rows so far.

    Examples
    --------
    >>> from sapwood.plot import ScoresDisplay
    >>> curves = {"model": ([100, 200], [0.5, 0.4]), "no_change": ([100, 200], [0.9, 0.8])}
    >>> ScoresDisplay("rmse", curves, window=100).plot().ax_.get_ylabel()
    'RMSE (units of the target)'
    """

    def __init__(
        self, metric: str, curves: Mapping[str, tuple[ArrayLike, ArrayLike]], window: int | None = None
    ) -> None:
        self.metric = metric
        self.curves = {name: (np.asarray(rows), np.asarray(values)) for name, (rows, values) in curves.items()}
        self.window = window

    @classmethod
    def from_result(
        cls, result: EvaluationResult, metric: str | None = None, *, ax: Axes | None = None
    ) -> ScoresDisplay:
        """Draw a rolling score of a prequential run; by default the first of its metrics."""
        name = result.metrics[0] if metric is None else metric
        curves: dict[str, Any] = {who: result.curve(name, who) for who in result.forecasters}
        if not isinstance(result.model, DynamicTreeEstimator):
            curves = {type(result.model).__name__: curves.pop(result.forecasters[0]), **curves}
        return cls(name, curves, result.settings.get("window")).plot(ax)

    def plot(self, ax: Axes | None = None) -> ScoresDisplay:
        """Draw, on the given axes or in a new figure."""
        info = METRIC_INFO[self.metric]
        with self._canvas(ax) as canvas:
            for ix, (who, (rows, values)) in enumerate(self.curves.items()):
                colour, dash, width = _STYLES[ix % len(_STYLES)]
                canvas.plot(
                    rows,
                    values,
                    color=colour,
                    linestyle=dash,
                    linewidth=width,
                    marker="." if len(rows) < 3 else None,
                    zorder=3 if ix == 0 else 2,
                    label=forecaster_title(who),
                )
            over = "all rows so far" if self.window is None else f"the last {self.window:,} rows"
            canvas.set(xlabel="row of the stream", ylabel=info.axis_label, title=f"{info.title} over {over}")
            if info.goal is not None:
                canvas.axhline(info.goal, color="#555555", linewidth=1, linestyle=":", label=f"goal {info.goal:g}")
            canvas.margins(x=0.01)
            thousands(canvas)
            legend_above(canvas)
        return self

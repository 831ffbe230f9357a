"""The last rows of a stream individually: forecasts and observed targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sapwood.plot._canvas import BLUE, INK, RED, Display, legend_above, thousands
from sapwood.plot._labels import literal
from sapwood.plot._model import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sapwood.prequential.result import EvaluationResult


class PredictionsDisplay(Display):
    """Forecast intervals of the last rows, and whether the observed targets fell inside.

    Parameters
    ----------
    row, y, mean, lower, upper : array-like of shape (n,)
        Row numbers, observed targets (NaN if unknown), and the forecasts made before.
    target : str
        Name of the target.

    Examples
    --------
    >>> from sapwood.plot import PredictionsDisplay
    >>> display = PredictionsDisplay.from_predictions([0, 1], [1.0, 9.0], [1.1, 2.0], [0.0, 1.0], [2.0, 3.0])
    >>> display.inside.tolist()
    [True, False]
    """

    def __init__(
        self, row: ArrayLike, y: ArrayLike, mean: ArrayLike, lower: ArrayLike, upper: ArrayLike, target: str = "target"
    ) -> None:
        self.row: Floats = np.asarray(row, dtype=np.float64)
        self.y: Floats = np.asarray(y, dtype=np.float64)
        self.mean: Floats = np.asarray(mean, dtype=np.float64)
        self.lower: Floats = np.asarray(lower, dtype=np.float64)
        self.upper: Floats = np.asarray(upper, dtype=np.float64)
        self.target = target

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Whether each target is inside its interval."""
        covered: NDArray[np.bool_] = (self.lower <= self.y) & (self.y <= self.upper)
        return covered

    @classmethod
    def from_predictions(
        cls,
        row: ArrayLike,
        y: ArrayLike,
        mean: ArrayLike,
        lower: ArrayLike,
        upper: ArrayLike,
        *,
        target: str = "target",
        ax: Axes | None = None,
    ) -> PredictionsDisplay:
        """Draw forecasts from arrays."""
        return cls(row, y, mean, lower, upper, target).plot(ax)

    @classmethod
    def from_result(cls, result: EvaluationResult, n_rows: int = 60, *, ax: Axes | None = None) -> PredictionsDisplay:
        """Draw the last rows of a prequential run of a regression."""
        if result.task != "regression":
            raise ValueError("this picture shows intervals of numbers; for classes draw a ReliabilityDisplay.")
        row, y, mean, lower, upper = (
            result.predictions[name][-n_rows:] for name in ("row", "y", "mean", "lower", "upper")
        )
        return cls(row, y, mean, lower, upper, result.target or "target").plot(ax)

    def plot(self, ax: Axes | None = None) -> PredictionsDisplay:
        """Draw, on the given axes or in a new figure."""
        with self._canvas(ax, (8.4, 3.6)) as canvas:
            width = float(np.clip(300 / max(len(self.row), 1), 1.5, 6.0))
            canvas.plot(self.row, self.mean, "_", color=BLUE, markersize=width + 3, markeredgewidth=2, label="mean")
            if np.isnan(self.lower).all():  # the model forecasts only a mean
                canvas.plot(self.row, self.y, "o", color=INK, markersize=3.5, label="observed target")
            else:
                self._draw_intervals(canvas, width)
            canvas.set(xlabel="row of the stream", ylabel=literal(self.target))
            canvas.set_title(f"The last {len(self.row):,} rows, each forecast before it was seen")
            canvas.margins(x=0.01)
            thousands(canvas)
            legend_above(canvas)
        return self

    def _draw_intervals(self, canvas: Axes, width: float) -> None:
        inside, outside = self.inside, (self.y < self.lower) | (self.y > self.upper)
        canvas.vlines(self.row, self.lower, self.upper, color=BLUE, alpha=0.3, linewidth=width, label="90 % interval")
        canvas.plot(self.row[inside], self.y[inside], "o", color=INK, markersize=3.5, label="target inside")
        canvas.plot(self.row[outside], self.y[outside], "X", color=RED, markersize=7, label="target outside")

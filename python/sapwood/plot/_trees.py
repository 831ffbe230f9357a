"""The size of the trees: now, and through the stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from sapwood.plot._canvas import BLUE, ORANGE, Display, legend_above, thousands
from sapwood.plot._model import Floats, native

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sapwood.prequential.result import EvaluationResult


class TreeHeightDisplay(Display):
    """Distribution of the height of the trees, with clouds counted by their weight in the bank.

    Parameters
    ----------
    height : array-like of shape (n,)
        Height of each tree: the depth of its deepest leaf, 0 for a lone root.
    share : array-like of shape (n,)
        Weight of each tree; they sum to 1.

    Examples
    --------
    >>> from sapwood.plot import TreeHeightDisplay
    >>> TreeHeightDisplay([0, 1, 1], [0.2, 0.4, 0.4]).mean
    0.8
    """

    def __init__(self, height: ArrayLike, share: ArrayLike) -> None:
        self.height = np.asarray(height, dtype=np.intp)
        self.share: Floats = np.asarray(share, dtype=np.float64)

    @property
    def mean(self) -> float:
        """Mean height."""
        return float(self.height @ self.share)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> TreeHeightDisplay:
        """Draw the trees of a model."""
        weights = native(estimator).weights()
        stats = estimator.tree_stats()
        share = weights[stats.member] / np.bincount(stats.member)[stats.member]
        return cls(stats.height, share).plot(ax)

    def plot(self, ax: Axes | None = None) -> TreeHeightDisplay:
        """Draw, on the given axes or in a new figure."""
        with self._canvas(ax, (6.4, 3.4)) as canvas:
            shares = np.bincount(self.height, weights=self.share)
            canvas.bar(np.arange(len(shares)), shares, color=BLUE, width=0.8)
            canvas.axvline(self.mean, color=ORANGE, linewidth=2, linestyle="--", label=f"mean {self.mean:.1f}")
            canvas.set(title="How high the trees are", xlabel="height (splits above the deepest leaf)")
            canvas.set_ylabel("share of trees")
            canvas.locator_params(axis="x", integer=True)
            canvas.grid(axis="x", visible=False)
            legend_above(canvas)
        return self


class TreeHistoryDisplay(Display):
    """Mean height and mean number of leaves through the stream.

    Parameters
    ----------
    row, height, leaves : array-like of shape (n,)

    Examples
    --------
    >>> from sapwood.plot import TreeHistoryDisplay
    >>> TreeHistoryDisplay([10, 20], [1.0, 2.0], [2.0, 4.0]).plot().ax_.get_xlabel()
    'row of the stream'
    """

    def __init__(self, row: ArrayLike, height: ArrayLike, leaves: ArrayLike) -> None:
        columns = (np.asarray(values, dtype=np.float64) for values in (row, height, leaves))
        self.row, self.height, self.leaves = columns

    @classmethod
    def from_result(cls, result: EvaluationResult, *, ax: Axes | None = None) -> TreeHistoryDisplay:
        """Draw those of a prequential run."""
        beliefs = result.beliefs
        return cls(beliefs.row, beliefs.height, beliefs.leaves).plot(ax)

    def plot(self, ax: Axes | None = None) -> TreeHistoryDisplay:
        """Draw, on the given axes or in a new figure."""
        with self._canvas(ax) as canvas:
            canvas.plot(self.row, self.leaves, color=ORANGE, linewidth=2, linestyle="--", label="leaves per tree")
            canvas.plot(self.row, self.height, color=BLUE, linewidth=2.2, label="height")
            canvas.set(title="How large the trees were", xlabel="row of the stream", ylabel="mean over the trees")
            canvas.set_ylim(bottom=0)
            canvas.margins(x=0)
            thousands(canvas)
            legend_above(canvas)
        return self

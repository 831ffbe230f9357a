"""A whole run in one figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sapwood.metrics._registry import by_importance
from sapwood.plot._beliefs import BankHistoryDisplay, ForgettingHistoryDisplay
from sapwood.plot._calibration import ReliabilityDisplay
from sapwood.plot._canvas import Display, look, new_rows
from sapwood.plot._predictions import PredictionsDisplay
from sapwood.plot._scores import ScoresDisplay
from sapwood.plot._trees import TreeHistoryDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sapwood.prequential.result import EvaluationResult


class OverviewDisplay(Display):
    """A prequential run at a glance: scores compared with baselines, the last forecasts, the bank and its forgetting.

    For models other than Sapwood's, only scores and forecasts are drawn. The panels are displays themselves, such as
    :class:`ScoresDisplay`. This display always creates a figure, and ``ax_`` is its first panel.

    Parameters
    ----------
    result : EvaluationResult
    title : str, default=""

    Examples
    --------
    >>> from sapwood import DynamicTreeRegressor
    >>> from sapwood.datasets import friedman
    >>> from sapwood.plot import OverviewDisplay
    >>> from sapwood.stream import evaluate
    >>> model = DynamicTreeRegressor(n_particles=20, max_active=[20, 40], random_state=0)
    >>> result = evaluate(model, friedman(n=200), ["rmse", "log_score"], window=100)
    >>> list(OverviewDisplay.from_result(result).axes_)
    ['rmse', 'log_score', 'rows', 'bank', 'forgetting']
    """

    axes_: dict[str, Axes]

    def __init__(self, result: EvaluationResult, title: str = "") -> None:
        self.result = result
        self.title = title

    @classmethod
    def from_result(cls, result: EvaluationResult, *, title: str = "") -> OverviewDisplay:
        """Draw a run."""
        return cls(result, title).plot()

    def plot(self) -> OverviewDisplay:
        """Draw, in a new figure."""
        layout = self._layout()
        with look():
            self.axes_ = new_rows(layout, (11.5, 3.6 * len(layout) + 0.5 * bool(self.title)))
            self._remember(next(iter(self.axes_.values())))
            for name, ax in self.axes_.items():
                self._draw(name, ax)
            if self.title:
                self.figure_.suptitle(self.title, x=0.01, ha="left", fontsize=14, fontweight="bold")
        return self

    def _layout(self) -> list[list[str]]:
        """Names of the panels, row by row."""
        result, beliefs = self.result, self.result.beliefs
        important, others = by_importance(result.metrics)
        chosen = [*important, *others][:2]
        panels = [] if result.task == "regression" else ["reliability"]
        if len(beliefs):
            # Members for rows at any distance have no weight in the next forecast.
            n_weighted = np.count_nonzero(beliefs.weights.any(axis=0))
            panels += ["forgetting"] if n_weighted == 1 else ["bank", "forgetting"]
            panels += ["trees"] * (len(panels) % 2)
        rows = [chosen, ["rows"]] if result.task == "regression" else [chosen]
        return rows + [panels[at : at + 2] for at in range(0, len(panels), 2)]

    def _draw(self, name: str, ax: Axes) -> None:
        if name == "rows":
            PredictionsDisplay.from_result(self.result, ax=ax)
        elif name == "reliability":
            ReliabilityDisplay.from_result(self.result, ax=ax)
        elif name == "bank":
            BankHistoryDisplay.from_result(self.result, ax=ax)
        elif name == "forgetting":
            ForgettingHistoryDisplay.from_result(self.result, ax=ax)
        elif name == "trees":
            TreeHistoryDisplay.from_result(self.result, ax=ax)
        else:
            ScoresDisplay.from_result(self.result, name, ax=ax)

"""The state of the bank: the weights of its members, and the forgetting factor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from sapwood.plot._canvas import BLUE, GREY, Display, class_colours, legend_above, thousands, tints
from sapwood.plot._model import Floats, member_names, native

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sapwood.prequential.result import EvaluationResult

_VISIBLE = 0.03  # smaller weights would be lines rather than areas


class BankDisplay(Display):
    """The weight of each cloud of the bank in the next prediction.

    Parameters
    ----------
    members : sequence of str
    weights : array-like of shape (n_members,)

    Examples
    --------
    >>> from sapwood import DynamicTreeRegressor
    >>> from sapwood.plot import BankDisplay
    >>> model = DynamicTreeRegressor(max_active=[20, 40], random_state=0).fit([[0.0], [1.0]] * 30, [0.0, 1.0] * 30)
    >>> BankDisplay.from_estimator(model).members
    ['pool 20', 'pool 40']
    """

    def __init__(self, members: Sequence[str], weights: ArrayLike) -> None:
        self.members = list(members)
        self.weights: Floats = np.asarray(weights, dtype=np.float64)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> BankDisplay:
        """Draw the weights of a model now."""
        return cls(member_names(estimator), native(estimator).weights()).plot(ax)

    def plot(self, ax: Axes | None = None) -> BankDisplay:
        """Draw, on the given axes or in a new figure."""
        with self._canvas(ax, (6.4, max(2.0, 1.1 + 0.32 * len(self.members)))) as canvas:
            bars = canvas.barh(self.members, self.weights, color=BLUE, height=0.65)
            canvas.bar_label(bars, fmt="{:.2f}", padding=4, fontsize=8)
            canvas.invert_yaxis()
            canvas.set(title="What the bank trusts now", xlabel="weight in the next prediction", xlim=(0, 1.08))
            canvas.grid(axis="y", visible=False)
        return self


class BankHistoryDisplay(Display):
    """The weights of the bank's clouds through the stream.

    Parameters
    ----------
    row : array-like of shape (n,)
    members : sequence of str
    weights : array-like of shape (n, n_members)

    Examples
    --------
    >>> from sapwood.plot import BankHistoryDisplay
    >>> display = BankHistoryDisplay([100, 200], ["pool 25", "pool 200"], [[0.4, 0.6], [0.9, 0.1]]).plot()
    >>> display.ax_.get_ylabel()
    'weight in the next prediction'
    """

    def __init__(self, row: ArrayLike, members: Sequence[str], weights: ArrayLike) -> None:
        self.row: Floats = np.asarray(row, dtype=np.float64)
        self.members = list(members)
        self.weights: Floats = np.asarray(weights, dtype=np.float64)

    @classmethod
    def from_result(cls, result: EvaluationResult, *, ax: Axes | None = None) -> BankHistoryDisplay:
        """Draw the weights of a prequential run."""
        beliefs = result.beliefs
        return cls(beliefs.row, _telling_apart(beliefs.members), beliefs.weights).plot(ax)

    def _areas(self) -> tuple[list[str], Floats, list[Any]]:
        """Return names, weights and colours from the bottom up, grouped by kind of member, with one hue per kind.

        Members that never reach `_VISIBLE` are drawn as one area, and copies of a member are added up.
        """
        distinct = list(dict.fromkeys(self.members))
        weights = np.stack([self.weights[:, np.array(self.members) == name].sum(axis=1) for name in distinct], axis=1)
        visible = weights.max(axis=0, initial=0.0) >= _VISIBLE
        kinds = list(dict.fromkeys(_kind(name) for name, shown in zip(distinct, visible, strict=True) if shown))
        members: list[str] = []
        columns: list[Floats] = []
        colours: list[Any] = []
        for kind, hue in zip(kinds, class_colours(len(kinds)), strict=True):
            own = [ix for ix, name in enumerate(distinct) if visible[ix] and _kind(name) == kind]
            members += [distinct[ix] for ix in own]
            columns += [weights[:, ix] for ix in own]
            colours += tints(hue, len(own))
        if weights[:, ~visible].any():
            members.append("others")
            columns.append(weights[:, ~visible].sum(axis=1))
            colours.append(GREY)
        return members, np.stack(columns, axis=1), colours

    def plot(self, ax: Axes | None = None) -> BankHistoryDisplay:
        """Draw, on the given axes or in a new figure."""
        with self._canvas(ax) as canvas:
            members, weights, colours = self._areas()
            canvas.stackplot(self.row, weights.T, colors=colours, labels=members, edgecolor="white", linewidth=0.5)
            canvas.set(title="What the bank trusted", ylabel="weight in the next prediction", ylim=(0, 1))
            canvas.set(xlabel="row of the stream")
            canvas.margins(x=0)
            canvas.grid(visible=False)
            thousands(canvas)
            handles, labels = canvas.get_legend_handles_labels()
            # From top to bottom, like the areas.
            canvas.legend(handles[::-1], labels[::-1], loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)
        return self


class ForgettingDisplay(Display):
    """The posterior of the forgetting factor now: 1 keeps everything retired, 0 nothing.

    Parameters
    ----------
    values, weights : array-like of shape (n,)

    Examples
    --------
    >>> from sapwood.plot import ForgettingDisplay
    >>> ForgettingDisplay([0.9, 1.0], [0.25, 0.75]).mean
    0.975
    """

    def __init__(self, values: ArrayLike, weights: ArrayLike) -> None:
        self.values: Floats = np.asarray(values, dtype=np.float64)
        self.weights: Floats = np.asarray(weights, dtype=np.float64)

    @property
    def mean(self) -> float:
        """Expected forgetting factor."""
        return float(self.values @ self.weights)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> ForgettingDisplay:
        """Draw the posterior of a model: the mixture over its clouds, by weight."""
        native(estimator)
        posterior = estimator.forgetting_
        return cls(posterior.values, posterior.weights).plot(ax)

    def plot(self, ax: Axes | None = None) -> ForgettingDisplay:
        """Draw, on the given axes or in a new figure."""
        with self._canvas(ax, (6.4, 3.4)) as canvas:
            # The values are dense near 1, so they are spaced evenly rather than to scale.
            bars = canvas.bar([f"{value:g}" for value in self.values], self.weights, color=BLUE, width=0.65)
            canvas.bar_label(bars, fmt="{:.2f}", padding=2, fontsize=8)
            canvas.set(title=f"How much the trees remember (mean {self.mean:.3f})", ylabel="posterior weight")
            canvas.set(xlabel="forgetting factor   (0 forgets, 1 keeps all)")
            canvas.margins(y=0.12)
            canvas.grid(axis="x", visible=False)
        return self


class ForgettingHistoryDisplay(Display):
    """The posterior of the forgetting factor through the stream: its mean and its central 90 %.

    Parameters
    ----------
    row, mean, low, high : array-like of shape (n,)

    Examples
    --------
    >>> from sapwood.plot import ForgettingHistoryDisplay
    >>> ForgettingHistoryDisplay([10, 20], [0.9, 0.8], [0.5, 0.5], [1.0, 0.99]).plot().ax_.get_ylabel()
    'forgetting factor (1 keeps all)'
    """

    def __init__(self, row: ArrayLike, mean: ArrayLike, low: ArrayLike, high: ArrayLike) -> None:
        columns = (np.asarray(values, dtype=np.float64) for values in (row, mean, low, high))
        self.row, self.mean, self.low, self.high = columns

    @classmethod
    def from_result(cls, result: EvaluationResult, *, ax: Axes | None = None) -> ForgettingHistoryDisplay:
        """Draw the posterior in the course of a prequential run."""
        beliefs = result.beliefs
        posterior = (beliefs.forgetting_mean, beliefs.forgetting_low, beliefs.forgetting_high)
        return cls(beliefs.row, *posterior).plot(ax)

    def plot(self, ax: Axes | None = None) -> ForgettingHistoryDisplay:
        """Draw, on the given axes or in a new figure."""
        with self._canvas(ax) as canvas:
            canvas.fill_between(self.row, self.low, self.high, color=BLUE, alpha=0.2, linewidth=0, label="90 % of it")
            canvas.plot(self.row, self.mean, color=BLUE, linewidth=2.2, label="mean of the posterior")
            canvas.set(title="How much the trees remembered", ylabel="forgetting factor (1 keeps all)")
            canvas.set(xlabel="row of the stream", ylim=(-0.02, 1.03))
            canvas.margins(x=0)
            thousands(canvas)
            legend_above(canvas)
        return self


def _kind(member: str) -> str:
    """Return a description without the size of the pool."""
    return ", ".join(words for words in member.split(", ") if not words.startswith(("pool ", "every row")))


def _telling_apart(members: Sequence[str]) -> list[str]:
    """Remove the leading words that all descriptions, such as "linear leaves, pool 25", share."""
    parts = [member.split(", ") for member in members]
    while min(map(len, parts), default=0) > 1 and len({words[0] for words in parts}) == 1:
        parts = [words[1:] for words in parts]
    return [", ".join(words) for words in parts]

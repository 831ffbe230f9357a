"""The predictive distribution along one input at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sapwood.plot._canvas import BLUE, INK, Display, class_colours, is_crowd, legend_above, look, new_figure
from sapwood.plot._labels import literal
from sapwood.plot._model import Floats, distribution_at, input_names, is_regression, native, position_of
from sapwood.plot._variables import split_use

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_SLICES = 6
_COLUMNS = 3


@dataclass(frozen=True, eq=False)
class Slice:
    """Predictions along one input.

    Attributes
    ----------
    name : str
        The input.
    x : array of shape (n,)
        Its values.
    mean, lower, upper : arrays of shape (n,) or None
        Regression: expected target and the ends of the predictive interval.
    epistemic_std : array of shape (n,) or None
        Regression: standard deviation due to uncertainty about the model.
    proba : array of shape (n, n_classes) or None
        Classification: probabilities, columns as ``classes``.
    classes : array or None
    data_x, data_y : arrays or None
        Observations to show: as points if both are given, as ticks at the bottom if only ``data_x`` is.
    """

    name: str
    x: Floats
    mean: Floats | None = None
    lower: Floats | None = None
    upper: Floats | None = None
    epistemic_std: Floats | None = None
    proba: Floats | None = None
    classes: NDArray[Any] | None = None
    data_x: Floats | None = None
    data_y: NDArray[Any] | None = None


class PredictiveSliceDisplay(Display):
    """The predictive distribution along one input at a time, with the others held fixed.

    For regression: the mean, the predictive interval and, inside it, the uncertainty about the model. For
    classification: the probability of each class.

    Parameters
    ----------
    slices : sequence of Slice
    level : float
        Probability inside the intervals.
    target : str
        Name of the target.
    held_at : str
        Where the other inputs are held, in words; "" if there are no others.

    Examples
    --------
    >>> import numpy as np
    >>> from sapwood import DynamicTreeRegressor
    >>> from sapwood.plot import PredictiveSliceDisplay
    >>> X = np.random.default_rng(0).uniform(size=(200, 1))
    >>> model = DynamicTreeRegressor(n_particles=50, random_state=0).fit(X, np.sin(6 * X[:, 0]))
    >>> display = PredictiveSliceDisplay.from_estimator(model)
    >>> display.ax_.get_xlabel()
    'x0'
    """

    axes_: NDArray[Any]

    def __init__(self, slices: Sequence[Slice], level: float = 0.9, target: str = "target", held_at: str = "") -> None:
        self.slices = list(slices)
        self.level = level
        self.target = target
        self.held_at = held_at

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        features: int | str | Sequence[int | str] | None = None,
        *,
        at: ArrayLike | None = None,
        level: float = 0.9,
        n_points: int = 200,
        feature_names: Sequence[str] | None = None,
        target: str = "target",
        ax: Axes | Sequence[Axes] | None = None,
    ) -> PredictiveSliceDisplay:
        """Draw a model's predictions along inputs.

        Parameters
        ----------
        estimator : DynamicTreeRegressor or DynamicTreeClassifier
        features : int, str or list of them, default=None
            Which inputs. None: all, or the six the trees split on most.
        at : array-like of shape (n_inputs,), default=None
            Where the other inputs are held. None: at the median of the active pool.
        level : float
            Probability inside the intervals.
        n_points : int
            Points along each input, which runs over the range of the active pool.
        feature_names : sequence of str, default=None
            Names of the inputs, if the model has not stored them.
        target : str
            Name of the target, with its unit.
        ax : Axes or a sequence of them, default=None
            One for each input. None: a new figure.
        """
        names = input_names(estimator, feature_names)
        if features is None:
            most_used = np.argsort(-split_use(estimator)[: len(names)], kind="stable")[:_MOST_SLICES]
            columns = sorted(most_used.tolist())
        else:
            chosen = [features] if isinstance(features, (int, str)) else features
            columns = [position_of(feature, names) for feature in chosen]
        pool = estimator.active_
        centre = centre_of(pool.X) if at is None else np.asarray(at, dtype=np.float64)
        if centre.shape != (len(names),):
            raise ValueError(f"at has shape {centre.shape}; the model has {len(names)} inputs, so give {len(names)}.")
        alone = native(estimator).n_inputs == 1
        slices = []
        for column in columns:
            x = grid_over(pool.X[:, column], n_points)
            rows = np.tile(centre, (n_points, 1))
            rows[:, column] = x
            data_y = pool.y if alone and is_regression(estimator) else None
            slices.append(
                Slice(names[column], x, **_ask(estimator, rows, level), data_x=pool.X[:, column], data_y=data_y)
            )
        place = "the median of the active pool" if at is None else "the point given"
        return cls(slices, level, target, held_at="" if alone else place).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        x: ArrayLike,
        mean: ArrayLike,
        lower: ArrayLike,
        upper: ArrayLike,
        *,
        level: float = 0.9,
        name: str = "x",
        target: str = "target",
        ax: Axes | None = None,
    ) -> PredictiveSliceDisplay:
        """Draw predictions of a number along one input from arrays."""
        order = np.argsort(np.asarray(x, dtype=np.float64))
        columns = [np.asarray(values, dtype=np.float64)[order] for values in (x, mean, lower, upper)]
        return cls([Slice(name, *columns)], level, target).plot(ax)

    def plot(self, ax: Axes | Sequence[Axes] | None = None) -> PredictiveSliceDisplay:
        """Draw, on the given axes (one per slice) or in a new figure."""
        n_slices = len(self.slices)
        with look():
            if ax is None:
                n_columns = min(n_slices, _COLUMNS)
                n_rows = -(-n_slices // n_columns)
                size = (6.4, 4.0) if n_slices == 1 else (3.4 * n_columns, 2.9 * n_rows + 0.4)
                axes = new_figure(size, n_rows, n_columns).ravel()
                for unused in axes[n_slices:]:
                    unused.set_axis_off()
            else:
                axes = np.array([ax] if n_slices == 1 and not np.iterable(ax) else list(ax), dtype=object)  # type: ignore[arg-type]
                if len(axes) < n_slices:
                    raise ValueError(f"ax has {len(axes)} axes; there are {n_slices} slices, and each needs one.")
            self.axes_ = axes[:n_slices]
            self._remember(self.axes_[0])
            for own, ax_ in zip(self.slices, self.axes_, strict=True):
                (self._draw_numbers if own.mean is not None else self._draw_classes)(own, ax_)
            self._finish()
        return self

    def _draw_numbers(self, own: Slice, ax: Axes) -> None:
        assert own.mean is not None
        assert own.lower is not None
        assert own.upper is not None
        band = f"{self.level:.0%} interval".replace("%", " %")
        ax.fill_between(own.x, own.lower, own.upper, color=BLUE, alpha=0.2, linewidth=0, label=band)
        if own.epistemic_std is not None:
            ends = own.mean - own.epistemic_std, own.mean + own.epistemic_std
            ax.fill_between(own.x, *ends, color=BLUE, alpha=0.35, linewidth=0, label="± 1 sd of the mean")
        ax.plot(own.x, own.mean, color=BLUE, linewidth=2, label="mean")
        if own.data_x is not None and own.data_y is not None:
            points = ax.plot(own.data_x, own.data_y, "o", color=INK, markersize=3, alpha=0.6)
            points[0].set(label="active observations", rasterized=is_crowd(own.data_x))
        ax.set(xlabel=literal(own.name), ylabel=literal(self.target))
        self._mark_pool(own, ax)

    def _draw_classes(self, own: Slice, ax: Axes) -> None:
        assert own.proba is not None
        assert own.classes is not None
        dashes = ("-", "--", "-.", ":")
        for ix, (label, colour) in enumerate(zip(own.classes, class_colours(len(own.classes)), strict=True)):
            dash = dashes[ix % len(dashes)]
            ax.plot(own.x, own.proba[:, ix], color=colour, linestyle=dash, linewidth=2, label=literal(label))
        ax.set(xlabel=literal(own.name), ylabel="probability", ylim=(-0.02, 1.02))
        self._mark_pool(own, ax)

    def _mark_pool(self, own: Slice, ax: Axes) -> None:
        """Draw ticks at the bottom where the model has data, outside of which curves are extrapolations."""
        ax.set_xlim(own.x[0], own.x[-1])
        if own.data_x is not None and own.data_y is None:
            foot = ax.get_xaxis_transform()
            zero = np.zeros(len(own.data_x))
            style: dict[str, Any] = {"color": INK, "alpha": 0.35, "markersize": 9, "rasterized": is_crowd(zero)}
            ax.plot(own.data_x, zero, "|", transform=foot, **style)

    def _share_scale(self) -> None:
        """Give all slices one vertical scale, so that inputs without effect look flat."""
        limits = np.array([ax.get_ylim() for ax in self.axes_])
        for ax in self.axes_:
            ax.set_ylim(limits[:, 0].min(), limits[:, 1].max())

    def _finish(self) -> None:
        first = self.axes_[0]
        if len(self.axes_) == 1:
            first.set_title(f"Prediction along {literal(self.slices[0].name)}")
            if self.held_at:
                first.set_xlabel(f"{literal(self.slices[0].name)}   (other inputs at {self.held_at})")
            if len(first.get_legend_handles_labels()[1]) <= 4:
                legend_above(first)
            else:
                first.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), title="class")
            return
        self._share_scale()
        for ax in self.axes_[1:]:
            if ax.get_ylabel() == first.get_ylabel():
                ax.set_ylabel("")
        handles, labels = first.get_legend_handles_labels()
        self.figure_.legend(handles, labels, loc="outside lower center", ncols=min(4, len(labels)))
        if self.held_at:
            title = f"Prediction along each input, the others at {self.held_at}"
            self.figure_.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")


def centre_of(x: Floats) -> Floats:
    """Return the median of each column; 0 if all its values are missing."""
    known = ~np.isnan(x).all(axis=0)
    centre = np.zeros(x.shape[1])
    centre[known] = np.nanmedian(x[:, known], axis=0)
    return centre


def grid_over(values: Floats, n_points: int) -> Floats:
    """Return evenly spaced points over the range of some values, or around a single one."""
    known = values[~np.isnan(values)]
    low, high = (known.min(), known.max()) if len(known) else (0.0, 1.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, n_points)


def _ask(estimator: Any, rows: Floats, level: float) -> dict[str, Any]:
    distribution = distribution_at(estimator, rows)
    if not is_regression(estimator):
        return {"proba": distribution.proba(), "classes": distribution.classes}
    lower, upper = distribution.interval(level)
    spread = np.sqrt(distribution.epistemic())
    return {"mean": distribution.mean(), "lower": lower, "upper": upper, "epistemic_std": spread}

"""The predictive distribution over two inputs at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sapwood.plot._canvas import INK, Display, class_colours
from sapwood.plot._labels import literal
from sapwood.plot._model import Floats, distribution_at, input_names, is_regression, native, position_of
from sapwood.plot._slices import centre_of, grid_over

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Quantity = Literal["mean", "std", "class"]
_TITLES = {"mean": "Mean", "std": "Standard deviation", "class": "Class and its probability"}


class PredictiveMapDisplay(Display):
    """Predictions over a rectangle of two inputs, with the others held fixed, and the active observations.

    Parameters
    ----------
    names : pair of str
        The inputs on the horizontal and the vertical axis.
    x, y : arrays of shape (n,)
        Their values.
    values : array of shape (n, n), or (n, n, n_classes)
        What is shown, from the bottom row up: numbers, or class probabilities.
    quantity : {"mean", "std", "class"}
    target : str
        Name of the target.
    classes : array, default=None
    points : array of shape (n_points, 2), default=None
        Observations to show.
    point_classes : array of shape (n_points,), default=None
        Their labels.

    Examples
    --------
    >>> import numpy as np
    >>> from sapwood import DynamicTreeRegressor
    >>> from sapwood.plot import PredictiveMapDisplay
    >>> X = np.random.default_rng(0).uniform(size=(200, 2))
    >>> model = DynamicTreeRegressor(n_particles=50, random_state=0).fit(X, X[:, 0] * X[:, 1])
    >>> PredictiveMapDisplay.from_estimator(model, n_points=20).values.shape
    (20, 20)
    """

    # More than eight parameters, because a display holds everything that it draws.
    def __init__(
        self,
        names: tuple[str, str],
        x: Floats,
        y: Floats,
        values: Floats,
        quantity: Quantity = "mean",
        target: str = "target",
        classes: NDArray[Any] | None = None,
        points: Floats | None = None,
        point_classes: NDArray[Any] | None = None,
    ) -> None:
        self.names = names
        self.x = x
        self.y = y
        self.values = values
        self.quantity = quantity
        self.target = target
        self.classes = classes
        self.points = points
        self.point_classes = point_classes

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        features: tuple[int | str, int | str] = (0, 1),
        *,
        quantity: Literal["auto", "mean", "std"] = "auto",
        at: ArrayLike | None = None,
        n_points: int = 100,
        feature_names: Sequence[str] | None = None,
        target: str = "target",
        ax: Axes | None = None,
    ) -> PredictiveMapDisplay:
        """Draw a model's predictions over two inputs.

        Parameters
        ----------
        estimator : DynamicTreeRegressor or DynamicTreeClassifier
        features : pair of int or str
            The inputs on the horizontal and the vertical axis.
        quantity : {"auto", "mean", "std"}
            "auto": the mean for regression. Classifiers always show the most probable class and its probability.
        at : array-like of shape (n_inputs,), default=None
            Where the other inputs are held. None: at the median of the active pool.
        n_points : int
            Points along each side.
        feature_names, target
            As in :meth:`PredictiveSliceDisplay.from_estimator`.
        """
        names = input_names(estimator, feature_names)
        if len(names) < 2:
            raise ValueError("the model has 1 input and a map needs 2; draw a PredictiveSliceDisplay.")
        first, second = (position_of(feature, names) for feature in features)
        pool = estimator.active_
        centre = centre_of(pool.X) if at is None else np.asarray(at, dtype=np.float64)
        x, y = grid_over(pool.X[:, first], n_points), grid_over(pool.X[:, second], n_points)
        rows = np.tile(centre, (n_points * n_points, 1))
        rows[:, first], rows[:, second] = (side.ravel() for side in np.meshgrid(x, y))
        shared = {"target": target, "points": pool.X[:, [first, second]]}
        inputs = (names[first], names[second])
        distribution = distribution_at(estimator, rows)
        if is_regression(estimator):
            shown: Quantity = "std" if quantity == "std" else "mean"
            values = distribution.std() if shown == "std" else distribution.mean()
            return cls(inputs, x, y, values.reshape(n_points, n_points), shown, **shared).plot(ax)
        values = distribution.proba().reshape(n_points, n_points, native(estimator).n_classes)
        shared |= {"classes": distribution.classes, "point_classes": pool.y}
        return cls(inputs, x, y, values, "class", **shared).plot(ax)

    def plot(self, ax: Axes | None = None) -> PredictiveMapDisplay:
        """Draw, on the given axes or in a new figure."""
        with self._canvas(ax, (6.0, 4.6)) as canvas:
            canvas.grid(visible=False)
            (self._draw_classes if self.quantity == "class" else self._draw_number)(canvas)
            canvas.set(xlabel=literal(self.names[0]), ylabel=literal(self.names[1]))
            canvas.set(xlim=(self.x[0], self.x[-1]), ylim=(self.y[0], self.y[-1]))
            canvas.set_title(f"{_TITLES[self.quantity]} over {literal(self.names[0])} and {literal(self.names[1])}")
        return self

    def _draw_number(self, ax: Axes) -> None:
        mesh = ax.pcolormesh(self.x, self.y, self.values, cmap="cividis", shading="gouraud", rasterized=True)
        unit = self.target if self.quantity == "mean" else f"standard deviation of {self.target}"
        self.figure_.colorbar(mesh, ax=ax, label=literal(unit))
        if self.points is not None:
            ax.plot(*self.points.T, "o", markersize=4, markerfacecolor="none", markeredgecolor="white", alpha=0.8)

    def _draw_classes(self, ax: Axes) -> None:
        from matplotlib.colors import to_rgb

        assert self.classes is not None
        colours = class_colours(len(self.classes))
        hue = np.array([to_rgb(colour) for colour in colours])
        best, sure = self.values.argmax(axis=2), self.values.max(axis=2)[..., np.newaxis]
        # From white where classes are equally likely to the full colour where one is certain.
        share = (sure - 1 / len(colours)) / (1 - 1 / len(colours)) if len(colours) > 1 else sure
        image = 1 - share * (1 - hue[best])
        extent = (self.x[0], self.x[-1], self.y[0], self.y[-1])
        ax.imshow(image, origin="lower", extent=extent, aspect="auto", interpolation="nearest")
        if self.points is not None and self.point_classes is not None:
            markers = "osD^vP*X"
            for ix, label in enumerate(self.classes):
                here = self.points[self.point_classes == label]
                ax.plot(
                    *here.T,
                    linestyle="none",
                    marker=markers[ix % len(markers)],
                    markersize=5,
                    markerfacecolor=colours[ix],
                    markeredgecolor=INK,
                    markeredgewidth=0.7,
                    label=literal(label),
                )
            ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), title="active\nobservations")

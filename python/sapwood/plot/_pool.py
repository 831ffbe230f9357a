"""The active pool: where it is now, and how it moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from sapwood._views import ActivePool
from sapwood.plot._canvas import BLUE, ORANGE, Display, is_crowd, legend_above, thousands
from sapwood.plot._labels import literal
from sapwood.plot._model import Floats, input_names, is_regression, position_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sapwood.prequential.result import EvaluationResult


class PoolDisplay(Display):
    """The active observations over two inputs (over the only input and the target, if there is one), coloured by age.

    The size of a point shows how many clouds of the bank hold it: all hold the most recent, only large pools the old.

    Parameters
    ----------
    x, y : array-like of shape (n,)
        Horizontal and vertical positions of the observations.
    age : array-like of shape (n,)
        Rows learned since.
    n_holders : array-like of shape (n,)
        Number of clouds that hold each observation.
    names : pair of str
        Names of the axes.
    labels : sequence, default=None
        Classes at 0, 1, 2, ... of the vertical axis.

    Examples
    --------
    >>> from sapwood import DynamicTreeRegressor
    >>> from sapwood.plot import PoolDisplay
    >>> model = DynamicTreeRegressor(max_active=[20, 40], random_state=0).fit([[0.0], [1.0]] * 30, [0.0, 1.0] * 30)
    >>> len(PoolDisplay.from_estimator(model).age)
    40
    """

    def __init__(
        self,
        x: ArrayLike,
        y: ArrayLike,
        age: ArrayLike,
        n_holders: ArrayLike,
        names: tuple[str, str],
        labels: Sequence[Any] | None = None,
    ) -> None:
        self.x, self.y, self.age = (np.asarray(values, dtype=np.float64) for values in (x, y, age))
        self.n_holders = np.asarray(n_holders, dtype=np.float64)
        self.names = names
        self.labels = labels

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        features: tuple[int | str, int | str] | None = None,
        *,
        feature_names: Sequence[str] | None = None,
        target: str = "target",
        ax: Axes | None = None,
    ) -> PoolDisplay:
        """Draw the pool of a model over two of its inputs (the first two if none are named)."""
        names = input_names(estimator, feature_names)
        pool = estimator.active_
        holders = pool.held.sum(axis=1)
        if len(names) == 1:
            axes = (names[0], target)
            if is_regression(estimator):
                return cls(pool.X[:, 0], pool.y, pool.age, holders, axes).plot(ax)
            codes = np.searchsorted(estimator.classes_, pool.y)
            return cls(pool.X[:, 0], codes, pool.age, holders, axes, list(estimator.classes_)).plot(ax)
        first, second = (position_of(feature, names) for feature in (features or (0, 1)))
        where = (pool.X[:, first], pool.X[:, second])
        return cls(*where, pool.age, holders, (names[first], names[second])).plot(ax)

    def plot(self, ax: Axes | None = None) -> PoolDisplay:
        """Draw, on the given axes or in a new figure."""
        with self._canvas(ax, (6.2, 4.4)) as canvas:
            order = np.argsort(-self.age)
            points = canvas.scatter(
                self.x[order],
                self.y[order],
                c=self.age[order],
                s=12 + 10 * self.n_holders[order],
                cmap="cividis_r",
                edgecolors="white",
                linewidths=0.4,
                rasterized=is_crowd(order),
            )
            self.figure_.colorbar(points, ax=canvas, label="age (rows learned since)")
            canvas.set(xlabel=literal(self.names[0]), ylabel=literal(self.names[1]))
            if self.labels is not None:
                canvas.set_yticks(range(len(self.labels)), [literal(label) for label in self.labels])
            title = f"The active pool: {len(self.age):,} observations"
            canvas.set_title(title + (" (larger: in more clouds)" if np.ptp(self.n_holders) else ""))
        return self


class PoolHistoryDisplay(Display):
    """How the active pool moved along one input: the positions of its observations at each snapshot.

    Parameters
    ----------
    row : array-like of shape (n,)
        The row of the stream at each snapshot.
    positions : sequence of n arrays
        Values of the input in the pool at each look.
    name : str
        The input.

    Examples
    --------
    >>> import numpy as np
    >>> from sapwood import DynamicTreeRegressor
    >>> from sapwood.plot import PoolHistoryDisplay
    >>> model, rows, pools = DynamicTreeRegressor(max_active=30, n_particles=20, random_state=0), [], []
    >>> for start in range(0, 100, 20):
    ...     X = np.random.default_rng(start).normal(loc=start / 100, scale=0.1, size=(20, 1))
    ...     pools.append(model.partial_fit(X, X[:, 0]).active_)
    ...     rows.append(model.n_seen_)
    >>> display = PoolHistoryDisplay.from_pools(rows, pools)
    >>> [len(look) for look in display.positions]
    [20, 30, 30, 30, 30]
    """

    def __init__(self, row: ArrayLike, positions: Sequence[ArrayLike], name: str) -> None:
        self.row: Floats = np.asarray(row, dtype=np.float64)
        self.positions = [np.asarray(look, dtype=np.float64) for look in positions]
        self.name = name

    @classmethod
    def from_pools(
        cls, row: ArrayLike, pools: Sequence[ActivePool], feature: int = 0, *, name: str = "", ax: Axes | None = None
    ) -> PoolHistoryDisplay:
        """Draw pools collected during a run: values of ``model.active_``, and the row of each snapshot."""
        return cls(row, [pool.X[:, feature] for pool in pools], name or f"x{feature}").plot(ax)

    @classmethod
    def from_result(
        cls, result: EvaluationResult, feature: int | str = 0, *, ax: Axes | None = None
    ) -> PoolHistoryDisplay:
        """Draw the pool of a prequential run along one of its inputs, with at most forty observations per snapshot."""
        at = position_of(feature, list(result.feature_names))
        return cls(result.pool.row, list(result.pool.places[:, :, at]), result.feature_names[at]).plot(ax)

    def plot(self, ax: Axes | None = None) -> PoolHistoryDisplay:
        """Draw, on the given axes or in a new figure."""
        with self._canvas(ax) as canvas:
            at = np.concatenate([np.full(len(look), row) for row, look in zip(self.row, self.positions, strict=True)])
            values = np.concatenate(self.positions)
            canvas.plot(
                at,
                values,
                "_",
                color=BLUE,
                alpha=0.35,
                markersize=7,
                rasterized=is_crowd(values),
                label="an active observation",
            )
            middle = [np.nanmedian(look) if (~np.isnan(look)).any() else np.nan for look in self.positions]
            canvas.plot(self.row, middle, color=ORANGE, linewidth=2, label="median")
            canvas.set(title=f"Where the active pool lay along {literal(self.name)}", xlabel="row of the stream")
            canvas.set_ylabel(literal(self.name))
            thousands(canvas)
            legend_above(canvas)
        return self

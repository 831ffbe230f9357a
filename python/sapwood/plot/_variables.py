"""Which inputs the trees split on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from sapwood._views import cloud_weights
from sapwood.plot._canvas import BLUE, Display
from sapwood.plot._labels import literal
from sapwood.plot._model import Floats, input_names, native, score_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class VariableUseDisplay(Display):
    """How often the trees split on each input: splits per tree, averaged over particles and clouds by weight.

    This is not the importance of an input: linear leaves use an input without splitting on it.

    Parameters
    ----------
    names : sequence of str
        The inputs.
    use : array-like
        Splits per tree on each.

    Examples
    --------
    >>> import numpy as np
    >>> from sapwood import DynamicTreeRegressor
    >>> from sapwood.plot import VariableUseDisplay
    >>> X = np.random.default_rng(0).uniform(size=(300, 3))
    >>> model = DynamicTreeRegressor(leaf="constant", n_particles=50, random_state=0).fit(X, np.sign(X[:, 1] - 0.5))
    >>> display = VariableUseDisplay.from_estimator(model)
    >>> display.names[int(np.argmax(display.use))]
    'x1'
    """

    def __init__(self, names: Sequence[str], use: ArrayLike) -> None:
        self.names = list(names)
        self.use = np.asarray(use, dtype=np.float64)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, feature_names: Sequence[str] | None = None, most: int = 20, ax: Axes | None = None
    ) -> VariableUseDisplay:
        """Count the splits of a model, and draw them for at most the `most` used inputs."""
        use = split_use(estimator)
        names = input_names(estimator, feature_names) + score_names(estimator)
        names += [lag_name(lag) for lag in range(1, len(use) - len(names) + 1)]
        chosen = np.sort(np.argsort(-use, kind="stable")[:most])
        return cls([names[ix] for ix in chosen], use[chosen]).plot(ax)

    def plot(self, ax: Axes | None = None) -> VariableUseDisplay:
        """Draw, on the given axes or in a new figure."""
        with self._canvas(ax, (6.4, max(2.2, 1.1 + 0.3 * len(self.names)))) as canvas:
            order = np.argsort(self.use, kind="stable")
            canvas.barh([literal(self.names[ix]) for ix in order], self.use[order], color=BLUE, height=0.65)
            canvas.bar_label(canvas.containers[0], fmt="{:.2f}", padding=4, fontsize=8)  # type: ignore[arg-type]
            canvas.set(title="Inputs the trees split on", xlabel="splits per tree (mean over trees)")
            canvas.margins(x=0.12)
            canvas.grid(axis="y", visible=False)
        return self


def split_use(estimator: Any) -> Floats:
    """Return the splits per tree on each input, then on lagged targets, averaged by the weights of the clouds."""
    model = native(estimator)
    members = [model.split_use(member) for member in range(model.n_members)]
    use = np.zeros(max(map(len, members)))
    for weight, own in zip(cloud_weights(model), members, strict=True):
        use[: len(own)] += weight * own
    return use


def lag_name(lag: int) -> str:
    """Return the name of a lagged target among the inputs."""
    return "last target" if lag == 1 else f"target {lag} rows ago"

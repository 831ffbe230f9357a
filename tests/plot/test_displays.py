"""What every display guarantees: it draws on the given axes, labels them, and leaves matplotlib's state unchanged."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from sapwood import DynamicTreeClassifier, DynamicTreeRegressor, plot

ROWS = np.arange(0, 500, 100)


def one_column(estimator: Any) -> Any:
    """The same kind of model, of one input."""
    pool = estimator.active_
    return type(estimator)(n_particles=20, max_active=30, random_state=0).fit(pool.X[:, :1], pool.y)


MAKERS: dict[str, Callable[[DynamicTreeRegressor, DynamicTreeClassifier, Any], Any]] = {
    "slice": lambda r, c, ax: plot.PredictiveSliceDisplay.from_estimator(r, 1, ax=ax),
    "slice, one input": lambda r, c, ax: plot.PredictiveSliceDisplay.from_estimator(one_column(r), ax=ax),
    "slice, classes": lambda r, c, ax: plot.PredictiveSliceDisplay.from_estimator(c, 0, ax=ax),
    "slice, predictions": lambda r, c, ax: plot.PredictiveSliceDisplay.from_predictions(
        [2, 1], [2, 1], [1, 0], [3, 2], ax=ax
    ),
    "map": lambda r, c, ax: plot.PredictiveMapDisplay.from_estimator(r, (0, 1), n_points=10, ax=ax),
    "map, std": lambda r, c, ax: plot.PredictiveMapDisplay.from_estimator(r, quantity="std", n_points=10, ax=ax),
    "map, classes": lambda r, c, ax: plot.PredictiveMapDisplay.from_estimator(c, n_points=10, ax=ax),
    "predictions": lambda r, c, ax: plot.PredictionsDisplay.from_predictions(
        ROWS, np.ones(5), np.ones(5), np.zeros(5), np.full(5, 2.0), ax=ax
    ),
    "scores": lambda r, c, ax: plot.ScoresDisplay("rmse", {"model": (ROWS, ROWS), "no_change": (ROWS, ROWS)}).plot(ax),
    "pit": lambda r, c, ax: plot.PitDisplay.from_estimator(r, r.active_.X, r.active_.y, ax=ax),
    "coverage": lambda r, c, ax: plot.CoverageDisplay.from_estimator(r, r.active_.X, r.active_.y, ax=ax),
    "reliability": lambda r, c, ax: plot.ReliabilityDisplay.from_estimator(c, c.active_.X, c.active_.y, ax=ax),
    "bank": lambda r, c, ax: plot.BankDisplay.from_estimator(r, ax=ax),
    "bank history": lambda r, c, ax: plot.BankHistoryDisplay(ROWS, ["a", "b"], np.full((5, 2), 0.5)).plot(ax),
    "forgetting": lambda r, c, ax: plot.ForgettingDisplay.from_estimator(c, ax=ax),
    "forgetting history": lambda r, c, ax: plot.ForgettingHistoryDisplay(ROWS, *np.full((3, 5), 0.9)).plot(ax),
    "pool": lambda r, c, ax: plot.PoolDisplay.from_estimator(r, ("x2", "x0"), ax=ax),
    "pool, one input": lambda r, c, ax: plot.PoolDisplay.from_estimator(one_column(c), ax=ax),
    "pool history": lambda r, c, ax: plot.PoolHistoryDisplay.from_pools([10, 20], [r.active_] * 2, ax=ax),
    "heights": lambda r, c, ax: plot.TreeHeightDisplay.from_estimator(r, ax=ax),
    "tree history": lambda r, c, ax: plot.TreeHistoryDisplay(ROWS, np.ones(5), np.ones(5)).plot(ax),
    "variables": lambda r, c, ax: plot.VariableUseDisplay.from_estimator(r, ax=ax),
}
PICTURES = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())


@PICTURES
def test_it_draws_on_the_axes_it_is_given(
    make: Callable[..., Any], regressor: DynamicTreeRegressor, classifier: DynamicTreeClassifier
) -> None:
    figure, (left, right) = plt.subplots(1, 2)
    display = make(regressor, classifier, right)
    assert display.ax_ is right
    assert display.figure_ is figure
    assert not left.has_data()
    assert right.has_data()
    assert len(plt.get_fignums()) == 1


@PICTURES
def test_it_says_what_it_shows(
    make: Callable[..., Any], regressor: DynamicTreeRegressor, classifier: DynamicTreeClassifier
) -> None:
    display = make(regressor, classifier, None)
    display.figure_.canvas.draw()
    assert display.ax_.get_title(loc="left")
    assert display.ax_.get_xlabel()
    # Bars with names need no axis label.
    assert display.ax_.get_ylabel() or any(label.get_text() for label in display.ax_.get_yticklabels())


@PICTURES
def test_nothing_is_cut_off_at_the_default_size(
    make: Callable[..., Any], regressor: DynamicTreeRegressor, classifier: DynamicTreeClassifier
) -> None:
    # Fails if a legend is wider than the figure, which makes the layout squeeze the axes.
    display = make(regressor, classifier, None)
    figure = display.figure_
    figure.canvas.draw()
    inside = figure.bbox.padded(2)
    tight = figure.get_tightbbox().transformed(figure.dpi_scale_trans)
    assert inside.x0 <= tight.x0
    assert inside.y0 <= tight.y0
    assert tight.x1 <= inside.x1
    assert tight.y1 <= inside.y1
    assert display.ax_.get_position().width > 0.5


@PICTURES
def test_the_users_style_is_left_alone(
    make: Callable[..., Any], regressor: DynamicTreeRegressor, classifier: DynamicTreeClassifier
) -> None:
    plt.figure()  # pyplot settles its own parameters when it is first used
    before = dict(mpl.rcParams)
    make(regressor, classifier, None)
    assert dict(mpl.rcParams) == before


@PICTURES
def test_the_model_is_left_alone(
    make: Callable[..., Any], regressor: DynamicTreeRegressor, classifier: DynamicTreeClassifier, unchanged: Any
) -> None:
    with unchanged(regressor), unchanged(classifier):
        make(regressor, classifier, None)


def test_matplotlib_is_not_imported_before_something_is_drawn() -> None:
    code = "import sys, sapwood.plot; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_matplotlib_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'sapwood\[plot\]'"):
        plot.TreeHistoryDisplay([0], [0], [1]).plot()

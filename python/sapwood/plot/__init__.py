"""Plots of models and of runs, as Display classes in the style of scikit-learn.

Each class draws one plot. ``from_estimator`` takes a model, ``from_predictions`` takes arrays, ``from_result`` takes
the result of :func:`sapwood.stream.evaluate`. All of them draw, on ``ax`` if it is given and otherwise in a new figure,
and return the display, whose ``ax_`` and ``figure_`` can be changed or saved. The colours are distinguishable with any
colour vision. matplotlib is only needed for drawing: ``pip install 'sapwood[plot]'``.

Examples
--------
>>> import numpy as np
>>> from sapwood import DynamicTreeRegressor
>>> from sapwood.plot import PredictiveSliceDisplay
>>> X = np.random.default_rng(0).uniform(size=(100, 1))
>>> model = DynamicTreeRegressor(n_particles=50, random_state=0).fit(X, np.cos(4 * X[:, 0]))
>>> display = PredictiveSliceDisplay.from_estimator(model, target="height (m)")
>>> display.ax_.get_ylabel()
'height (m)'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sapwood.plot._beliefs import BankDisplay, BankHistoryDisplay, ForgettingDisplay, ForgettingHistoryDisplay
    from sapwood.plot._calibration import CoverageDisplay, PitDisplay, ReliabilityDisplay
    from sapwood.plot._map import PredictiveMapDisplay
    from sapwood.plot._one_tree import TreeDisplay
    from sapwood.plot._overview import OverviewDisplay
    from sapwood.plot._pool import PoolDisplay, PoolHistoryDisplay
    from sapwood.plot._predictions import PredictionsDisplay
    from sapwood.plot._scores import ScoresDisplay
    from sapwood.plot._slices import PredictiveSliceDisplay, Slice
    from sapwood.plot._trees import TreeHeightDisplay, TreeHistoryDisplay
    from sapwood.plot._variables import VariableUseDisplay

__all__ = [
    "BankDisplay",
    "BankHistoryDisplay",
    "CoverageDisplay",
    "ForgettingDisplay",
    "ForgettingHistoryDisplay",
    "OverviewDisplay",
    "PitDisplay",
    "PoolDisplay",
    "PoolHistoryDisplay",
    "PredictionsDisplay",
    "PredictiveMapDisplay",
    "PredictiveSliceDisplay",
    "ReliabilityDisplay",
    "ScoresDisplay",
    "Slice",
    "TreeDisplay",
    "TreeHeightDisplay",
    "TreeHistoryDisplay",
    "VariableUseDisplay",
]

_MODULE_OF = {
    "BankDisplay": "_beliefs",
    "BankHistoryDisplay": "_beliefs",
    "CoverageDisplay": "_calibration",
    "ForgettingDisplay": "_beliefs",
    "ForgettingHistoryDisplay": "_beliefs",
    "OverviewDisplay": "_overview",
    "PitDisplay": "_calibration",
    "PoolDisplay": "_pool",
    "PoolHistoryDisplay": "_pool",
    "PredictionsDisplay": "_predictions",
    "PredictiveMapDisplay": "_map",
    "PredictiveSliceDisplay": "_slices",
    "ReliabilityDisplay": "_calibration",
    "ScoresDisplay": "_scores",
    "Slice": "_slices",
    "TreeDisplay": "_one_tree",
    "TreeHeightDisplay": "_trees",
    "TreeHistoryDisplay": "_trees",
    "VariableUseDisplay": "_variables",
}


def __getattr__(name: str) -> Any:
    """Import a display on first use, so that importing the estimators does not import matplotlib."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)

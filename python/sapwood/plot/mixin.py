"""Plots as methods of a model. matplotlib and the displays are imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sapwood.plot import (
        BankDisplay,
        ForgettingDisplay,
        PoolDisplay,
        PredictiveMapDisplay,
        PredictiveSliceDisplay,
        TreeDisplay,
        TreeHeightDisplay,
        VariableUseDisplay,
    )


class PlotMethods:
    """Shortcuts to the plots that need only the model; their options are those of ``from_estimator``."""

    def plot_slices(self, features: Any = None, **options: Any) -> PredictiveSliceDisplay:
        """Draw predictions along inputs. See :meth:`sapwood.plot.PredictiveSliceDisplay.from_estimator`."""
        from sapwood.plot import PredictiveSliceDisplay

        return PredictiveSliceDisplay.from_estimator(self, features, **options)

    def plot_map(self, features: Any = (0, 1), **options: Any) -> PredictiveMapDisplay:
        """Draw predictions over two inputs. See :meth:`sapwood.plot.PredictiveMapDisplay.from_estimator`."""
        from sapwood.plot import PredictiveMapDisplay

        return PredictiveMapDisplay.from_estimator(self, features, **options)

    def plot_pool(self, features: Any = None, **options: Any) -> PoolDisplay:
        """Draw the active observations. See :meth:`sapwood.plot.PoolDisplay.from_estimator`."""
        from sapwood.plot import PoolDisplay

        return PoolDisplay.from_estimator(self, features, **options)

    def plot_tree(self, **options: Any) -> TreeDisplay:
        """Draw one tree. See :meth:`sapwood.plot.TreeDisplay.from_estimator`."""
        from sapwood.plot import TreeDisplay

        return TreeDisplay.from_estimator(self, **options)

    def plot_heights(self, **options: Any) -> TreeHeightDisplay:
        """Draw the heights of the trees. See :meth:`sapwood.plot.TreeHeightDisplay.from_estimator`."""
        from sapwood.plot import TreeHeightDisplay

        return TreeHeightDisplay.from_estimator(self, **options)

    def plot_variables(self, **options: Any) -> VariableUseDisplay:
        """Draw which inputs the trees split on. See :meth:`sapwood.plot.VariableUseDisplay.from_estimator`."""
        from sapwood.plot import VariableUseDisplay

        return VariableUseDisplay.from_estimator(self, **options)

    def plot_forgetting(self, **options: Any) -> ForgettingDisplay:
        """Draw the posterior of the forgetting factor. See :meth:`sapwood.plot.ForgettingDisplay.from_estimator`."""
        from sapwood.plot import ForgettingDisplay

        return ForgettingDisplay.from_estimator(self, **options)

    def plot_bank(self, **options: Any) -> BankDisplay:
        """Draw the weights of the bank. See :meth:`sapwood.plot.BankDisplay.from_estimator`."""
        from sapwood.plot import BankDisplay

        return BankDisplay.from_estimator(self, **options)

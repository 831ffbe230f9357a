"""The regressor for river."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from river import base

import sapwood
from sapwood import _input
from sapwood._fitted import distribution_at
from sapwood._options import Auto, Division, RegressionDiscard, RegressionLeaf
from sapwood.river._base import DynamicTree, document_adapter, weights

if TYPE_CHECKING:
    import pandas as pd


@document_adapter
@dataclass(eq=False, repr=False)
class DynamicTreeRegressor(DynamicTree, base.MiniBatchRegressor):
    """Bayesian dynamic trees for regression, as a river model.

    Each feature is a column; a feature that is absent, None or NaN is a missing value. When a new feature appears, the
    model is refitted with one more column to its active observations (at the start of a stream, that is all of them);
    retired ones are lost. Text, booleans and dates need no encoder before the model; what a feature is, is decided by
    its first value.

    Parameters
    ----------
    {shared}

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from sapwood.river import DynamicTreeRegressor
    >>> model = preprocessing.StandardScaler() | DynamicTreeRegressor(n_particles=50, seed=0)
    >>> score = evaluate.progressive_val_score(datasets.TrumpApproval().take(300), model, metrics.MAE())
    >>> bool(score.get() < 1.5)
    True

    The underlying estimator offers everything else, such as intervals:

    >>> estimator = model["DynamicTreeRegressor"].estimator
    >>> lower, upper = estimator.predict_dist(dict.fromkeys(estimator.feature_names_in_, 0.0)).interval(0.9)
    >>> bool(lower[0] < upper[0])
    True
    """

    _estimator_type = sapwood.DynamicTreeRegressor

    leaf: RegressionLeaf | Auto = "auto"
    discard: RegressionDiscard | Auto = "auto"
    division: Division | None = None

    def learn_one(self, x: dict[Hashable, Any], y: float, w: float = 1.0) -> None:
        """Learn one row. A row of weight ``w=0`` is not learned."""
        self._learn_row(x, np.array([y]), weights(w, 1))

    def predict_one(self, x: dict[Hashable, Any]) -> float:
        """Expected target at x, the next row to be learned; 0.0 before anything is learned.

        With `lags`, the last target learned is taken for that of the row before: where labels are late, leave
        ``lags=0``, the default.
        """
        if self._estimator is None:
            return 0.0
        return float(distribution_at(self._estimator, self._columns.row(x), horizon="next_row").mean()[0])

    def learn_many(self, X: pd.DataFrame, y: pd.Series, w: float | pd.Series = 1.0) -> None:
        """Learn the rows of a table in order, with the same result as `learn_one` for each."""
        # Validate before anything changes: if a target is refused, nothing is learned.
        target = _input.targets(y, len(X), self._estimator_type())
        self._learn_table(X, target, weights(w, len(X)))

    def predict_many(self, X: pd.DataFrame) -> pd.Series:
        """Expected target at each row of a table; 0.0 before anything is learned. No target is taken as known."""
        import pandas as pd

        if self._estimator is None:
            return pd.Series(0.0, index=X.index)
        return pd.Series(distribution_at(self._estimator, self._columns.rows(X)).mean(), index=X.index)

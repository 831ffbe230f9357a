"""The regression estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from sapwood import _input
from sapwood._base import DynamicTreeEstimator
from sapwood._fitted import FittedState, fitted, is_fitted, lock_of, native, new_model, set_fitted
from sapwood._options import Auto, Division, RegressionDiscard, RegressionLeaf
from sapwood._parameters import document
from sapwood._seeds import threads_from
from sapwood.distribution import PredictiveDistribution

Floats = NDArray[np.float64]


@document
@dataclass(eq=False, repr=False)
class DynamicTreeRegressor(RegressorMixin, DynamicTreeEstimator):
    """Bayesian dynamic trees for regression on data streams.

    Learns row by row at constant memory: a bounded pool of observations stays active, and the others are retired into
    the priors of the leaves, which are forgotten as fast as the stream drifts. Predictions are mixtures of Student-t
    distributions.

    Parameters
    ----------
    leaf : {"auto", "linear", "constant"}, default="auto"
        The model inside a leaf. "auto": "linear" in a single cloud, both in the recommended bank.
    n_particles : int, default=None
        Number of trees per cloud. None: 1000 in a single cloud, 30 in a cloud of a bank.
    discard : {"auto", "oldest", "random", "alc"}, default="auto"
        Which observation retires when the pool is full. "auto": the oldest, unless ``forgetting=1.0`` rules out
        drift; then the one that is least informative (active learning Cohn).
    prior : {"default", "reference"}, default="default"
        "default" is proper and invariant to units; "reference" is improper and depends on the units of y.
    division : {"gaussian", "proportional"}, default=None
        How a split divides retired statistics: by a Gaussian approximation of their inputs, or in proportion to the
        active points. None: "gaussian" if the leaf model supports it.
    {shared}

    Examples
    --------
    >>> import numpy as np
    >>> from sapwood import DynamicTreeRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(300, 2))
    >>> y = np.sin(5 * X[:, 0]) + rng.normal(scale=0.1, size=300)
    >>> model = DynamicTreeRegressor(random_state=0)
    >>> for first in range(0, 300, 50):
    ...     model = model.partial_fit(X[first : first + 50], y[first : first + 50])
    >>> mean, std = model.predict(X[:5], return_std=True)
    >>> mean.shape, std.shape, model.n_seen_
    ((5,), (5,), 300)
    """

    _task = "regression"

    leaf: RegressionLeaf | Auto = "auto"
    discard: RegressionDiscard | Auto = "auto"
    division: Division | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DynamicTreeRegressor:
        """Discard what was learned and learn the rows of X, once and in order.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_columns)
            numpy, pandas, polars, Arrow, lists, or dictionaries with one row each. NaN and None are missing values.
            Columns of a table may also hold text, categories, booleans, dates and times; what each of them is, is
            decided by the first 1000 rows and kept with the model.
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), default=None
            Rows of weight 0 are not learned.
        """
        with lock_of(self):
            return self._start(_input.starting_inputs(X, self), y, sample_weight)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> DynamicTreeRegressor:
        """Learn more rows, in order. The result does not depend on the batches. The arguments are those of `fit`."""
        with lock_of(self):
            if not is_fitted(self):
                return self.fit(X, y, sample_weight)
            with fitted(self).growing():
                return self._learn(self._further_inputs(X, grow=True), y, sample_weight)

    def _start(self, inputs: _input.Inputs, y: Any, sample_weight: Any) -> DynamicTreeRegressor:
        n_rows, n_inputs = inputs.x.shape
        target = _input.targets(y, n_rows, self)
        weight = _input.starting_weights(sample_weight, n_rows)
        n_threads = threads_from(self.n_jobs)
        model = new_model(self, n_inputs, encoder=inputs.encoder)
        try:
            model.learn(inputs.x, target, weight, n_threads=n_threads)
        finally:
            # If interrupted, keep the rows learned so far; if nothing was learned, leave the estimator unchanged.
            if model.n_seen > 0:
                set_fitted(self, FittedState(model, encoder=inputs.encoder))
        return self

    def _learn(self, x: Floats, y: Any, sample_weight: Any) -> DynamicTreeRegressor:
        n_rows = len(x)
        target = y if _input.is_ready_target(y, n_rows) else _input.targets(y, n_rows, self)
        native(self).learn(x, target, _input.weights(sample_weight, n_rows), n_threads=threads_from(self.n_jobs))
        return self

    @overload
    def predict(self, X: Any, return_std: Literal[False] = False) -> Floats: ...
    @overload
    def predict(self, X: Any, return_std: Literal[True]) -> tuple[Floats, Floats]: ...
    @overload
    def predict(self, X: Any, return_std: bool) -> Floats | tuple[Floats, Floats]: ...
    def predict(self, X: Any, return_std: bool = False) -> Floats | tuple[Floats, Floats]:
        """The predictive mean at each row of X; with ``return_std=True``, also the predictive standard deviation.

        The rows may be any: no target is taken as known, and rows are answered alike alone and in company.
        """
        return _mean_and_std(self.predict_dist(X), return_std)

    def predict_dist(self, X: Any) -> PredictiveDistribution:
        """The predictive distribution at each row of X, evaluated lazily. No target is taken as known.

        A model with `lags` answers with the members that need none, weighted and calibrated for that.
        """
        with lock_of(self):
            return self._distribution(self._further_inputs(X), "any_row")

    def predict_next(self, X: Any, return_std: bool = False) -> Floats | tuple[Floats, Floats]:
        """What `predict` returns, for the one row that follows the last row learned: see `predict_next_dist`."""
        return _mean_and_std(self.predict_next_dist(X), return_std)

    def predict_next_dist(self, X: Any) -> PredictiveDistribution:
        """The predictive distribution at the row that follows the last row learned, whose target is thus known.

        It is the forecast that `evaluate` makes. Without `lags` it is that of `predict_dist`.

        Parameters
        ----------
        X : array or table of shape (1, n_columns)
            One row.

        Examples
        --------
        >>> import numpy as np
        >>> from sapwood import DynamicTreeRegressor
        >>> walk = np.cumsum(np.random.default_rng(0).normal(size=500))
        >>> model = DynamicTreeRegressor(lags=1, random_state=0).fit(np.zeros((500, 1)), walk)
        >>> next_one, any_one = model.predict_next_dist([[0.0]]), model.predict_dist([[0.0]])
        >>> bool(abs(next_one.mean()[0] - walk[-1]) < 1), bool(next_one.std()[0] < any_one.std()[0])
        (True, True)
        """
        with lock_of(self):
            return self._distribution(self._next_input(X), "next_row")

    def _distribution(self, x: Floats, horizon: str = "any_row") -> PredictiveDistribution:
        predictive = native(self).predictive(x, horizon=horizon)
        return PredictiveDistribution(predictive, n_threads=threads_from(self.n_jobs))


def _mean_and_std(distribution: PredictiveDistribution, return_std: bool) -> Floats | tuple[Floats, Floats]:
    return (distribution.mean(), distribution.std()) if return_std else distribution.mean()

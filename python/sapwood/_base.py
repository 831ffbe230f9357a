"""The base class of the two estimators: inspection, changes to the pool, saving and pickling."""

from __future__ import annotations

import os
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from sapwood import _files, _input, _views, errors
from sapwood._fitted import FittedState, fitted, is_fitted, lock_of, native
from sapwood._options import Task
from sapwood._parameters import EstimatorParameters
from sapwood.plot.mixin import PlotMethods

Floats = NDArray[np.float64]


class DynamicTreeEstimator(PlotMethods, EstimatorParameters, BaseEstimator):
    """Base of the estimators. They are dataclasses of their parameters; `_fitted` holds everything learned."""

    _task: ClassVar[Task]
    _fitted: FittedState | None = None

    # ---- learning ----

    def _further_inputs(self, X: Any, *, grow: bool = False) -> Floats:
        """Return the inputs of rows; only when learning may they bring new categories."""
        state = fitted(self)
        encoder = state.encoder
        if encoder is None:
            if _input.is_ready(X, self.n_features_in_):
                return X
        elif type(X) is dict and not grow:
            row = _input.one_row(X, encoder)
            if row is not None:
                return row
        return _input.further_inputs(X, self, encoder, state.target, grow=grow)

    def _distribution(self, x: Floats, horizon: str = "any_row") -> Any:
        """Return the predictive distribution at inputs."""
        raise NotImplementedError

    def _next_input(self, X: Any) -> Floats:
        """Convert the X of the next row, of which there is one."""
        x = self._further_inputs(X)
        if len(x) != 1:
            raise errors.make("next-row", n_rows=len(x))
        return x

    # ---- inspection ----

    @property
    def n_features_in_(self) -> int:
        """Number of columns."""
        if self._fitted is None:  # scikit-learn expects the attribute to be absent before fit
            raise AttributeError(f"{type(self).__name__} is not fitted, so it has no n_features_in_")
        encoder = self._fitted.encoder
        return self._fitted.model.n_inputs if encoder is None else len(encoder.columns)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the columns. Absent if X had none when the model was first fitted."""
        if self._fitted is None or self._fitted.encoder is None:
            raise AttributeError(f"{type(self).__name__} has no feature_names_in_: it has not seen column names")
        return np.array(self._fitted.encoder.columns, dtype=object)

    @property
    def n_seen_(self) -> int:
        """Number of rows learned so far."""
        return native(self).n_seen

    @property
    def log_evidence_(self) -> float:
        """Log marginal likelihood of all rows so far: the sum of the one-step-ahead log densities."""
        return native(self).ln_evidence

    @property
    def log_evidence_trace_(self) -> Floats:
        """The last terms (at most 4096) of the sum in ``log_evidence_``, oldest first."""
        return native(self).ln_evidence_trace()

    @property
    def active_(self) -> _views.ActivePool:
        """The observations still kept, with ages and discard scores."""
        with lock_of(self):
            return _views.active_pool(native(self))

    @property
    def forgetting_(self) -> _views.ForgettingPosterior:
        """The posterior of the forgetting factor, as ``values`` and their ``weights``."""
        return _views.forgetting_posterior(native(self))

    @property
    def bank_weights_(self) -> Floats:
        """Weight of each member of the bank in a forecast of the next row, as `predict_next` makes it.

        Members that see the last target take no part in `predict`, which weighs the others by an account of their own.
        """
        return native(self).weights()

    @property
    def bank_sharpness_(self) -> float:
        """How much the average of the bank is sharpened, estimated from past forecasts; 1 for a single cloud.

        An average of calibrated forecasts is too wide, so this is usually above 1: intervals are narrower about the
        mean by this factor than those of the plain average, and class probabilities are raised to this power.
        """
        return native(self).sharpness

    def tree_stats(self) -> _views.TreeStats:
        """Height, number of leaves and points per leaf of every tree, and the number of distinct trees."""
        return _views.tree_stats(native(self))

    # ---- changing the pool by hand ----

    def retire(self, ix: Any) -> DynamicTreeEstimator:
        """Retire the given observations now, in every cloud that holds them.

        Their statistics stay in the leaves (subject to forgetting); the observations themselves are dropped.

        Parameters
        ----------
        ix : int, array-like of int, or boolean mask
            Positions in ``active_``.
        """
        with lock_of(self):
            _views.retire(native(self), ix)
        return self

    def rejuvenate(self) -> DynamicTreeEstimator:
        """Regrow every cloud from its retired statistics and its active observations, in a new random order."""
        native(self).rejuvenate()
        return self

    # ---- saving ----

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that :func:`sapwood.load` reads. If interrupted, an older file stays intact.

        ``n_jobs`` depends on the machine and is not stored.
        """
        fitted(self)
        _files.write_atomically(path, _files.to_bytes(self))

    def __getstate__(self) -> dict[str, Any]:
        with lock_of(self):
            state = dict(super().__getstate__())
            state.pop("_lock", None)
            if self._fitted is not None:
                state["_fitted"] = self._fitted.frozen()
            return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "_fitted" in state:
            state = {**state, "_fitted": FittedState.thawed(state["_fitted"])}
        super().__setstate__(state)

    # ---- scikit-learn ----

    def __sklearn_is_fitted__(self) -> bool:
        return is_fitted(self)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

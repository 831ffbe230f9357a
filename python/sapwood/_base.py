"""What the two estimators share: starting a model, learning from it, looking into it, keeping it."""

from __future__ import annotations

import os
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from sapwood import _bank, _files, _input, _views
from sapwood._chance import seed_from
from sapwood._core import Model
from sapwood._labels import LabelBook
from sapwood.plot.mixin import PlotMethods

Floats = NDArray[np.float64]

_SETTINGS = tuple(field.name for field in fields(_bank.Settings))


class DynamicTreeEstimator(PlotMethods, BaseEstimator):
    """Base of the estimators. Parameters are those of the subclasses; fitted state is one native model."""

    _task: ClassVar[_bank.Task]
    _model: Model | None = None

    n_jobs: int | None
    random_state: Any
    n_features_in_: int
    _labels: LabelBook

    # ---- learning ----

    def _start(self, n_inputs: int, n_classes: int = 0, n_classes_in_sight: int = 0) -> Model:
        """A model that has seen nothing yet. The only place where parameters are read."""
        settings = _bank.Settings(**{name: getattr(self, name) for name in _SETTINGS if hasattr(self, name)})
        members = _bank.compose(settings, self._task, n_inputs, n_classes_in_sight)
        return Model(self._task, n_inputs, n_classes, members, seed_from(self.random_state))

    def _adopt(self, model: Model, names: NDArray[Any] | None, labels: LabelBook | None = None) -> None:
        """Make a model that has learned something ours."""
        self._model = model
        if labels is not None:
            self._labels = labels
        self.n_features_in_ = model.n_inputs
        if names is not None:
            self.feature_names_in_ = names
        elif "feature_names_in_" in self.__dict__:
            del self.feature_names_in_

    def _started(self) -> Model:
        if self._model is None:
            check_is_fitted(self)
        assert self._model is not None
        return self._model

    def _is_ready(self, X: Any) -> bool:
        """Whether X can go to the engine as it is. Names, once known, must be looked for in everything."""
        return _input.is_ready(X, self.n_features_in_) and "feature_names_in_" not in self.__dict__

    def _further_inputs(self, X: Any) -> Floats:
        return X if self._is_ready(X) else _input.further_inputs(X, self)

    # ---- looking ----

    @property
    def n_seen_(self) -> int:
        """Number of rows learned so far."""
        return self._started().n_seen

    @property
    def log_evidence_(self) -> float:
        """Logarithm of the marginal likelihood of all rows so far, summed from one-step-ahead predictions."""
        return self._started().ln_evidence

    @property
    def log_evidence_trace_(self) -> Floats:
        """The last terms (at most 4096) of that sum, oldest first."""
        return self._started().ln_evidence_trace()

    @property
    def active_(self) -> _views.ActivePool:
        """The observations still kept, with ages and discard scores."""
        return _views.active_pool(self._started())

    @property
    def forgetting_(self) -> _views.ForgettingPosterior:
        """What the model now believes about the forgetting factor, as ``values`` and their ``weights``."""
        return _views.forgetting_posterior(self._started())

    @property
    def bank_weights_(self) -> Floats:
        """Weight of each cloud of the bank in the next prediction."""
        return self._started().weights()

    @property
    def bank_sharpness_(self) -> float:
        """By how much the average of the bank is sharpened, from how its members did so far; 1 for a single cloud.

        An average of honest forecasts is too wide, so this is mostly above 1: intervals are that many times narrower
        about the mean than those of the plain average, and class probabilities are raised to this power.
        """
        return self._started().sharpness

    def tree_stats(self) -> _views.TreeStats:
        """Heights, leaves, and points per leaf of every tree, and how many trees are distinct."""
        return _views.tree_stats(self._started())

    # ---- changing the pool by hand ----

    def retire(self, ix: Any) -> DynamicTreeEstimator:
        """Retire chosen observations now, in every cloud that holds them.

        What they taught stays in the leaves (subject to forgetting); the observations themselves are dropped.

        Parameters
        ----------
        ix : int, array-like of int, or boolean mask
            Positions in ``active_``.
        """
        _views.retire(self._started(), ix)
        return self

    def rejuvenate(self) -> DynamicTreeEstimator:
        """Grow every cloud again over its active observations, in a new random order, from its retired knowledge."""
        self._started().rejuvenate()
        return self

    # ---- keeping ----

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that :func:`sapwood.load` reads. An interrupted write leaves an older file intact.

        ``n_jobs`` is a matter of the machine and is not part of the file.
        """
        self._started()
        _files.write_atomically(path, _files.to_bytes(self))

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if self._model is not None:
            state["_model"] = self._model.save(b"")
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "_model" in state:
            state = {**state, "_model": Model.load(state["_model"])[0]}
        super().__setstate__(state)

    # ---- scikit-learn ----

    def __sklearn_is_fitted__(self) -> bool:
        return self._model is not None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

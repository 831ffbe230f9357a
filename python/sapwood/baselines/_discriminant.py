"""The base class of both discriminants: the scikit-learn interface, new labels, and the prequential loop."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

Floats = NDArray[np.float64]


def in_interval(name: str, value: float, low: float, high: float) -> None:
    """Raise ValueError unless ``low <= value <= high``."""
    if not low <= value <= high:
        raise ValueError(f"{name} is {value!r}; it must lie between {low:g} and {high:g}.")


class StreamingDiscriminant(ClassifierMixin, BaseEstimator, ABC):
    """A classifier that learns rows one at a time. Its classes are sorted; new ones may appear at any time."""

    classes_: NDArray[Any]
    n_features_in_: int

    @abstractmethod
    def _start(self, n_inputs: int) -> None:
        """Validate the parameters and reset to no rows and no classes."""

    @abstractmethod
    def _place(self, old: NDArray[np.intp], n_classes: int) -> None:
        """Move the known classes to the positions ``old`` of ``n_classes``; the others are new."""

    @abstractmethod
    def _ln_joint(self, x: Floats) -> Floats:
        """Log of class share times class density for every row and class, up to a constant per row."""

    @abstractmethod
    def _learn(self, x: Floats, label: int) -> None:
        """Learn one row."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> StreamingDiscriminant:
        """Reset and learn all rows in order.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : array-like of shape (n,)

        Returns
        -------
        self
        """
        rows, labels = self._begin(X, y, None, fresh=True)
        for x, label in zip(rows, labels, strict=True):
            self._learn(x, int(label))
        return self

    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> StreamingDiscriminant:
        """Learn further rows in order.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : array-like of shape (n,)
        classes : array-like, optional
            Labels that may appear. Others are added when they appear.

        Returns
        -------
        self
        """
        rows, labels = self._begin(X, y, classes, fresh=not hasattr(self, "classes_"))
        for x, label in zip(rows, labels, strict=True):
            self._learn(x, int(label))
        return self

    def forecast_then_learn(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Floats:
        """Forecast each row, then learn it: the prequential loop.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : array-like of shape (n,)
        classes : array-like, optional
            Labels that may appear.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Class probabilities of each row before it was learned, in the order of ``classes_``.
        """
        rows, labels = self._begin(X, y, classes, fresh=not hasattr(self, "classes_"))
        proba = np.empty((len(rows), len(self.classes_)))
        for i, label in enumerate(labels):
            proba[i] = _normalise(self._ln_joint(rows[i : i + 1]))[0]
            self._learn(rows[i], int(label))
        return proba

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Class probabilities, in the order of ``classes_``.

        Parameters
        ----------
        X : array-like of shape (n, p)

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        check_is_fitted(self)
        return _normalise(self._ln_joint(validate_data(self, X, reset=False, dtype=np.float64)))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The most probable class of each row.

        Parameters
        ----------
        X : array-like of shape (n, p)

        Returns
        -------
        ndarray of shape (n,)
        """
        most_probable = np.argmax(self.predict_proba(X), axis=1)
        labels: NDArray[Any] = self.classes_[most_probable]
        return labels

    def _begin(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None, *, fresh: bool
    ) -> tuple[Floats, NDArray[np.intp]]:
        rows, targets = validate_data(self, X, y, reset=fresh, dtype=np.float64)
        check_classification_targets(targets)
        if fresh:
            self._start(rows.shape[1])
            self.classes_ = np.unique(targets)[:0]
        declared = targets if classes is None else np.concatenate([np.asarray(classes), targets])
        known = self.classes_
        self.classes_ = np.union1d(known, declared)
        if len(self.classes_) > len(known):
            self._place(np.searchsorted(self.classes_, known), len(self.classes_))
        return rows, np.searchsorted(self.classes_, targets)


def _normalise(ln_joint: Floats) -> Floats:
    proba: Floats = np.exp(ln_joint - ln_joint.max(axis=1, keepdims=True))
    proba /= proba.sum(axis=1, keepdims=True)
    return proba

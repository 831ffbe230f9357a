"""Predictive distributions of y at each row, evaluated lazily."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sapwood import errors
from sapwood._core import Predictive
from sapwood._labels import LabelBook
from sapwood._numbers import is_whole
from sapwood._seeds import RandomState, seed_from

__all__ = ["ClassDistribution", "PredictiveDistribution"]

Floats = NDArray[np.float64]


class PredictiveDistribution:
    """The predictive distribution of a regression at each row of X: an exact mixture of Student-t distributions.

    Returned by :meth:`~sapwood.DynamicTreeRegressor.predict_dist`. It describes the model at that moment; further
    learning does not change it.

    Shapes follow two rules. ``y`` is one number for all rows, or one number per row; the result has one entry per row.
    ``q`` is one level, and the result has one entry per row; or a list of levels, and the result has shape
    ``(n_rows, n_levels)``.

    Examples
    --------
    >>> import numpy as np
    >>> from sapwood import DynamicTreeRegressor
    >>> X = np.linspace(0, 1, 200).reshape(-1, 1)
    >>> d = DynamicTreeRegressor(random_state=0).fit(X, 3 * X[:, 0]).predict_dist([[0.2], [0.8]])
    >>> d.ppf([0.05, 0.5, 0.95]).shape
    (2, 3)
    >>> lower, upper = d.interval(0.9)
    >>> bool(np.all(lower < d.mean()) and np.all(d.mean() < upper))
    True
    """

    def __init__(self, predictive: Predictive, *, n_threads: int = 1) -> None:
        self._predictive = predictive
        self._n_threads = n_threads

    def __len__(self) -> int:
        return self._predictive.n_rows

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} rows>"

    def mean(self) -> Floats:
        """Expected value at each row."""
        return self._predictive.mean(self._n_threads)

    @cached_property
    def _variances(self) -> tuple[Floats, Floats]:
        return self._predictive.var(self._n_threads)

    def var(self) -> Floats:
        """Variance at each row; infinite if too few points support the row for the variance to exist."""
        return self._variances[0].copy()

    def std(self) -> Floats:
        """Standard deviation at each row."""
        return np.sqrt(self._variances[0])

    def epistemic(self) -> Floats:
        """The part of the variance that is due to uncertainty about the model, and that more data would remove."""
        return self._variances[1].copy()

    def logpdf(self, y: ArrayLike) -> Floats:
        """Logarithm of the density at y. NaN where y is NaN."""
        return self._at(y, self._predictive.ln_density, at_infinity=-np.inf)

    def pdf(self, y: ArrayLike) -> Floats:
        """Density at y. NaN where y is NaN."""
        return np.exp(self.logpdf(y))

    def cdf(self, y: ArrayLike) -> Floats:
        """Probability of a value up to y. NaN where y is NaN."""
        values = self._at(y, self._predictive.cdf, at_infinity=1.0)
        values[np.broadcast_to(np.asarray(y, dtype=np.float64), len(self)) == -np.inf] = 0.0
        return values

    def crps(self, y: ArrayLike) -> Floats:
        """Continuous ranked probability score of this forecast if y is observed: smaller is better, in units of y."""
        return self._at(y, self._predictive.crps, at_infinity=np.inf)

    def ppf(self, q: ArrayLike) -> Floats:
        """Quantiles of the exact mixture, computed by root-finding.

        Parameters
        ----------
        q : float or array-like of float
            Levels between 0 and 1.

        Returns
        -------
        ndarray of shape (n_rows,) for one level, (n_rows, n_levels) for a list of levels
        """
        levels = np.asarray(q, dtype=np.float64)
        if levels.ndim > 1 or not np.all((levels >= 0) & (levels <= 1)):
            raise errors.make("bad-level", name="q", value=q)
        flat = np.atleast_1d(levels)
        inner = (flat > 0) & (flat < 1)
        quantiles = np.empty((len(self), flat.size))
        quantiles[:, flat == 0] = -np.inf
        quantiles[:, flat == 1] = np.inf
        if inner.any():
            quantiles[:, inner] = self._predictive.quantile(flat[inner], self._n_threads)
        return quantiles[:, 0] if levels.ndim == 0 else quantiles

    def interval(self, level: float = 0.9) -> tuple[Floats, Floats]:
        """Lower and upper ends of the interval that holds `level` of the probability, with equal tails."""
        if not np.ndim(level) == 0 or not 0 <= level <= 1:
            raise errors.make("bad-level", name="level", value=level)
        ends = self.ppf([(1 - level) / 2, (1 + level) / 2])
        return ends[:, 0], ends[:, 1]

    def sample(self, n: int = 1, random_state: RandomState = None) -> Floats:
        """Draw `n` independent values at each row: shape (n_rows, n)."""
        return self._predictive.sample(_sample_size(n), seed_from(random_state))

    def _at(self, y: ArrayLike, function: Callable[[Floats, int], Floats], at_infinity: float) -> Floats:
        points = _one_a_row(y, len(self), dtype=np.float64)
        finite = np.isfinite(points)
        if finite.all():
            return function(points, self._n_threads)
        values = function(np.where(finite, points, 0.0), self._n_threads)
        values[np.isinf(points)] = at_infinity
        values[np.isnan(points)] = np.nan
        return values


class ClassDistribution:
    """The predictive distribution of a classification at each row of X.

    Returned by :meth:`~sapwood.DynamicTreeClassifier.predict_dist`. It describes the model at that moment. Columns
    follow ``classes``. ``y`` is one label for all rows, or one label per row.

    Examples
    --------
    >>> from sapwood import DynamicTreeClassifier
    >>> X, y = [[0.0], [0.1], [0.9], [1.0]] * 25, ["low", "low", "high", "high"] * 25
    >>> d = DynamicTreeClassifier(random_state=0).fit(X, y).predict_dist([[0.05]])
    >>> d.mode()
    array(['low'], dtype='<U4')
    >>> bool(d.entropy()[0] < 0.3)
    True
    """

    def __init__(self, predictive: Predictive, labels: LabelBook, *, n_threads: int = 1) -> None:
        self._predictive = predictive
        self._labels = labels
        self._n_threads = n_threads

    def __len__(self) -> int:
        return self._predictive.n_rows

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} rows, {len(self._labels)} classes>"

    @property
    def classes(self) -> NDArray[Any]:
        """The labels, in the order of the columns of :meth:`proba`."""
        return self._labels.classes

    @cached_property
    def _proba(self) -> Floats:
        return self._predictive.proba(self._n_threads)[:, self._labels.codes]

    def proba(self) -> Floats:
        """Probability of each class at each row: shape (n_rows, n_classes)."""
        return self._proba.copy()

    def entropy(self) -> Floats:
        """Entropy at each row, in nats: 0 if the class is certain, ln(n_classes) if all are equally likely."""
        proba = self._proba
        return -np.sum(proba * np.log(np.where(proba > 0, proba, 1.0)), axis=1)

    def logpmf(self, y: ArrayLike) -> Floats:
        """Logarithm of the probability of label y; -inf for a label that the model has never seen."""
        given = _one_a_row(y, len(self))
        codes = self._labels.encode_or_nan(given)
        known = ~np.isnan(codes)
        values = self._predictive.ln_density(np.where(known, codes, 0.0), self._n_threads)
        values[~known] = -np.inf
        return values

    def mode(self) -> NDArray[Any]:
        """The most probable label at each row."""
        return self.classes[np.argmax(self._proba, axis=1)]

    def sample(self, n: int = 1, random_state: RandomState = None) -> NDArray[Any]:
        """Draw `n` independent labels at each row: shape (n_rows, n)."""
        codes = self._predictive.sample(_sample_size(n), seed_from(random_state))
        return self._labels.class_of_code[codes.astype(np.intp)]


def _one_a_row(y: ArrayLike, n_rows: int, dtype: type[np.float64] | None = None) -> NDArray[Any]:
    values = np.asarray(y, dtype=dtype)
    if values.ndim > 1 or (values.ndim == 1 and values.shape[0] != n_rows):
        raise errors.make("density-shape", shape=values.shape, n_rows=n_rows)
    return np.ascontiguousarray(np.broadcast_to(values, (n_rows,)))


def _sample_size(n: int) -> int:
    if not is_whole(n) or n < 0:
        raise errors.make("sample-size", value=n)
    return int(n)

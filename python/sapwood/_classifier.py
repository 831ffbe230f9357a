"""The classification estimator."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from sapwood import _input, _views, errors
from sapwood._base import DynamicTreeEstimator
from sapwood._core import Model
from sapwood._fitted import FittedState, fitted, is_fitted, lock_of, new_model, set_fitted
from sapwood._labels import LabelBook
from sapwood._options import Auto, ClassDiscard, ClassLeaf
from sapwood._parameters import document
from sapwood._seeds import threads_from
from sapwood.distribution import ClassDistribution

Floats = NDArray[np.float64]


@document
@dataclass(eq=False, repr=False)
class DynamicTreeClassifier(ClassifierMixin, DynamicTreeEstimator):
    """Bayesian dynamic trees for classification of data streams.

    Learns row by row at constant memory: a bounded pool of observations stays active, and the others are retired into
    the priors of the leaves, which are forgotten as fast as the stream drifts. A class may appear at any time.

    Parameters
    ----------
    leaf : {"auto", "multinomial", "discriminant", "quadratic"}, default="auto"
        The model inside a leaf. "multinomial": class frequencies. "discriminant": also a Gaussian per class with a
        common covariance, so that boundaries within a leaf are linear. "quadratic": a covariance per class. The last
        two are averaged with the simpler ones, weighted by marginal likelihood. "auto": "multinomial" in a single
        cloud, all of them in the recommended bank.
    n_particles : int, default=None
        Number of trees per cloud. None: 1000 in a single cloud, 20 in a cloud of a bank.
    discard : {"auto", "oldest", "random", "entropy"}, default="auto"
        Which observation retires when the pool is full. "auto": the oldest, unless ``forgetting=1.0`` rules out
        drift; then one from the leaf with the lowest class entropy.
    prior : {"default", "reference"}, default="default"
        The prior of leaves that predict numbers; the leaves of a classifier have `dirichlet` instead.
    dirichlet : float, default=None
        Prior count of each class in a leaf. None: 1 / number of classes.
    {shared}

    Examples
    --------
    >>> from sapwood import DynamicTreeClassifier
    >>> model = DynamicTreeClassifier(random_state=0)
    >>> for x, label in [(0.1, "a"), (0.9, "b"), (0.2, "a"), (0.8, "b")] * 20:
    ...     model = model.partial_fit([[x]], [label])
    >>> model.predict([[0.15], [0.85]]).tolist()
    ['a', 'b']
    >>> model.partial_fit([[0.5]], ["c"]).classes_.tolist()
    ['a', 'b', 'c']
    """

    _task = "classification"

    leaf: ClassLeaf | Auto = "auto"
    discard: ClassDiscard | Auto = "auto"
    dirichlet: float | None = None

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels seen so far, sorted; `predict_proba` has one column for each."""
        return fitted(self).book.classes

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DynamicTreeClassifier:
        """Discard what was learned and learn the rows of X, once and in order.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_columns)
            numpy, pandas, polars, Arrow, lists, or dictionaries with one row each. NaN and None are missing values.
            Columns of a table may also hold text, categories, booleans, dates and times; what each of them is, is
            decided by the first 1000 rows and kept with the model.
        y : array-like of shape (n_rows,)
            Labels: text, whole numbers or booleans.
        sample_weight : array-like of shape (n_rows,), default=None
            Rows of weight 0 are not learned.
        """
        with lock_of(self):
            return self._start(_input.starting_inputs(X, self), y, sample_weight)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, classes: Any = None) -> DynamicTreeClassifier:
        """Learn more rows, in order.

        The result does not depend on the batches, except that the first batch (or `classes`) determines the number of
        classes that ``max_active="auto"`` is chosen for.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`. New labels may appear at any time.
        classes : array-like, default=None
            Labels known in advance. They have a prior probability before their first row arrives.
        """
        with lock_of(self):
            if not is_fitted(self):
                return self._start(_input.starting_inputs(X, self), y, sample_weight, classes)
            with fitted(self).growing():
                return self._learn(self._further_inputs(X, grow=True), y, sample_weight, classes)

    def _learn(self, x: Floats, y: Any, sample_weight: Any, classes: Any = None) -> DynamicTreeClassifier:
        state = fitted(self)
        column = self._label_column(y, len(x))
        weight = _input.weights(sample_weight, len(x))
        n_threads = threads_from(self.n_jobs)
        expected = state.book if classes is None else state.book.expect(_input.label_list(classes))
        labels, codes = expected.meet(column)
        if labels is state.book:
            state.model.learn(x, codes, weight, n_threads=n_threads)
            return self
        _check_number(labels, state.model)
        try:
            _learn_as_classes_arrive(state.model, x, codes, weight, len(expected), n_threads)
        finally:
            state.labels = labels.first(state.model.n_classes)
        return self

    def _start(self, inputs: _input.Inputs, y: Any, sample_weight: Any, classes: Any = None) -> DynamicTreeClassifier:
        n_rows, n_inputs = inputs.x.shape
        column = self._label_column(y, n_rows)
        weight = _input.starting_weights(sample_weight, n_rows)
        n_threads = threads_from(self.n_jobs)
        expected = LabelBook.empty() if classes is None else LabelBook.empty().expect(_input.label_list(classes))
        labels, codes = expected.meet(column)
        model = new_model(self, n_inputs, max(len(expected), 1), len(labels), encoder=inputs.encoder)
        _check_number(labels, model)
        try:
            _learn_as_classes_arrive(model, inputs.x, codes, weight, len(expected), n_threads)
        finally:
            # If interrupted, keep the rows learned so far; if nothing was learned, leave the estimator unchanged.
            if model.n_seen > 0:
                set_fitted(self, FittedState(model, labels.first(model.n_classes), inputs.encoder))
        return self

    def _label_column(self, y: Any, n_rows: int) -> NDArray[Any]:
        if type(y) is np.ndarray and y.shape == (n_rows,):
            return y
        return _input.target_column(y, n_rows, self)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable label at each row of X.

        The rows may be any: no label is taken as known, and rows are answered alike alone and in company.
        """
        return self.predict_dist(X).mode()

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class at each row of X; one column per entry of ``classes_``. The rows may be any."""
        return self.predict_dist(X).proba()

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of `predict_proba`."""
        return np.log(self.predict_proba(X))

    def predict_dist(self, X: Any) -> ClassDistribution:
        """The predictive distribution at each row of X, evaluated lazily. No label is taken as known.

        A model with `lags` answers with the members that need none, weighted and calibrated for that.
        """
        with lock_of(self):
            return self._distribution(self._further_inputs(X), "any_row")

    def predict_next(self, X: Any) -> NDArray[Any]:
        """The most probable label of the one row that follows the last row learned: see `predict_next_dist`."""
        return self.predict_next_dist(X).mode()

    def predict_next_proba(self, X: Any) -> Floats:
        """Probability of each class at the one row that follows the last row learned: see `predict_next_dist`."""
        return self.predict_next_dist(X).proba()

    def predict_next_dist(self, X: Any) -> ClassDistribution:
        """The predictive distribution at the row that follows the last row learned, whose label is thus known.

        It is the forecast that `evaluate` makes. Without `lags` it is that of `predict_dist`.

        Parameters
        ----------
        X : array or table of shape (1, n_columns)
            One row.

        Examples
        --------
        >>> from sapwood import DynamicTreeClassifier
        >>> labels = ["rest", "rest", "work"] * 50
        >>> model = DynamicTreeClassifier(lags=2, random_state=0).fit([[0.0]] * 150, labels)
        >>> model.predict_next([[0.0]]).tolist()
        ['rest']
        >>> bool(model.predict_next_proba([[0.0]])[0, 0] > model.predict_proba([[0.0]])[0, 0])
        True
        """
        with lock_of(self):
            return self._distribution(self._next_input(X), "next_row")

    def _distribution(self, x: Floats, horizon: str = "any_row") -> ClassDistribution:
        state = fitted(self)
        predictive = state.model.predictive(x, horizon=horizon)
        return ClassDistribution(predictive, state.book, n_threads=threads_from(self.n_jobs))

    @property
    def active_(self) -> _views.ActivePool:
        """The active observations, with ages and discard scores."""
        with lock_of(self):
            return _views.with_labels(super().active_, fitted(self).book.class_of_code)


def _check_number(labels: LabelBook, model: Model) -> None:
    """Refuse more classes than the model's memory is bounded for, before any row is learned."""
    if len(labels) > model.max_classes:
        raise errors.make("too-many-classes", given=len(labels), allowed=model.max_classes)


def _learn_as_classes_arrive(
    model: Model, x: Floats, codes: Floats, weight: Floats | None, n_expected: int, n_threads: int
) -> None:
    """Learn rows whose labels may be new. A class is added at its first row, so that batches do not matter."""
    _input.refuse_wild(x, None)  # before the first class is added and the first rows are learned: all or nothing
    if n_expected > model.n_classes:
        model.add_classes(n_expected)
    if len(codes) == 0:
        return
    n_classes = np.maximum.accumulate(codes).astype(np.intp) + 1  # codes are assigned in order of arrival
    starts = np.flatnonzero(np.diff(n_classes, prepend=model.n_classes) > 0)
    for first, end in pairwise([0, *starts[starts > 0].tolist(), len(codes)]):
        if n_classes[first] > model.n_classes:
            model.add_classes(int(n_classes[first]))
        model.learn(x[first:end], codes[first:end], None if weight is None else weight[first:end], n_threads=n_threads)

"""The classification estimator."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from sapwood import _input, _views
from sapwood._base import DynamicTreeEstimator
from sapwood._chance import RandomState, threads_from
from sapwood._core import Model
from sapwood._labels import LabelBook
from sapwood.distribution import ClassDistribution

Floats = NDArray[np.float64]


class DynamicTreeClassifier(ClassifierMixin, DynamicTreeEstimator):
    """Bayesian dynamic trees for classification of data streams.

    Learns row by row at constant memory: a bounded pool of observations stays active, the rest retire into the leaves'
    prior knowledge, which fades as fast as the stream drifts. A class may appear at any time.

    Parameters
    ----------
    leaf : {"auto", "multinomial", "discriminant", "quadratic"}, default="auto"
        The model inside a leaf. "multinomial" knows how often each class occurs; "discriminant" also where, with
        Gaussian classes of one covariance, so that boundaries inside a leaf are straight at any angle; "quadratic"
        lets each class have a covariance of its own. The last two are averaged with the simpler ones by how well those
        explain the leaf. "auto": "multinomial" in a cloud alone, all of them in the recommended bank.
    n_particles : int, default=None
        Trees in each cloud. None: 1000 in a cloud alone, 20 in a cloud of a bank.
    lags : int or "auto", default=0
        How many of the last targets the model also sees as inputs; use it where labels arrive before the next row is
        predicted. Only some clouds of a bank see them. "auto": 1.
    copies : int, default=1
        Independent replicas of the bank.
    max_active : int, None, list or "auto", default="auto"
        Size of the active pool. None keeps every row (the offline dynamic tree), a list makes a bank of clouds, one a
        size, and "auto" makes the recommended bank, with larger pools for more classes.
    discard : {"auto", "oldest", "random", "entropy"}, default="auto"
        Which observation retires when the pool is full. "auto": the oldest, unless ``forgetting=1.0`` says that nothing
        drifts; then one from the leaf that is surest of its class.
    forgetting : float in [0, 1] or "auto", default="auto"
        What each retirement leaves of the knowledge retired before, 1 for all. "auto": learned from the stream.
    prior : {"default", "reference"}, default="default"
        The prior of leaves that predict numbers; the leaves of a classifier have `dirichlet` instead.
    evidence : {"joint", "conditional"}, default="joint"
        Whether retired knowledge counts as data or as prior when a split is judged.
    dirichlet : float, default=None
        Prior count of each class in a leaf. None: 1 / number of classes.
    split_alpha, split_beta : float, default=0.95, 2.0
        A node at depth d is split with prior probability ``split_alpha * (1 + d) ** -split_beta``.
    min_leaf : int, default=None
        Fewest active points in a new leaf. None: chosen from the number of columns.
    n_candidates : int, default=None
        Splits proposed at each step. None: chosen from the number of columns.
    random_state : int, Generator, RandomState or None, default=None
        The same seed and data give the same model, to the byte, whatever ``n_jobs`` or the batches.
    n_jobs : int, default=None
        Threads. None is 1, -1 is every core.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if X had them when the model started.

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

    def __init__(
        self,
        leaf: Literal["auto", "multinomial", "discriminant", "quadratic"] = "auto",
        n_particles: int | None = None,
        lags: int | Literal["auto"] = 0,
        copies: int = 1,
        max_active: int | Sequence[int | None] | Literal["auto"] | None = "auto",
        discard: Literal["auto", "oldest", "random", "entropy"] = "auto",
        forgetting: float | Literal["auto"] = "auto",
        prior: Literal["default", "reference"] = "default",
        evidence: Literal["joint", "conditional"] = "joint",
        dirichlet: float | None = None,
        split_alpha: float = 0.95,
        split_beta: float = 2.0,
        min_leaf: int | None = None,
        n_candidates: int | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.leaf = leaf
        self.n_particles = n_particles
        self.lags = lags
        self.copies = copies
        self.max_active = max_active
        self.discard = discard
        self.forgetting = forgetting
        self.prior = prior
        self.evidence = evidence
        self.dirichlet = dirichlet
        self.split_alpha = split_alpha
        self.split_beta = split_beta
        self.min_leaf = min_leaf
        self.n_candidates = n_candidates
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels met so far, sorted; the columns of `predict_proba` follow them."""
        self._started()
        return self._labels.classes

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DynamicTreeClassifier:
        """Start afresh and learn the rows of X in order, once.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_columns)
            numpy, pandas, polars, Arrow or lists. NaN is a missing value.
        y : array-like of shape (n_rows,)
            Labels: text, whole numbers or booleans.
        sample_weight : array-like of shape (n_rows,), default=None
            Rows of weight 0 are not learned.
        """
        return self._fit(X, y, sample_weight, classes=None)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, classes: Any = None) -> DynamicTreeClassifier:
        """Learn more rows, in order. How rows are cut into batches does not matter.

        (But the first batch, or `classes`, says how many classes ``max_active="auto"`` makes room for.)

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`. Labels never met before are welcome.
        classes : array-like, default=None
            Labels to expect, where they are known. They get a prior probability before their first row arrives.
        """
        model = self._model
        if model is None:
            return self._fit(X, y, sample_weight, classes)
        x = self._further_inputs(X)
        column = self._label_column(y, len(x))
        weight = _input.weights(sample_weight, len(x))
        n_threads = threads_from(self.n_jobs)
        expected = self._labels if classes is None else self._labels.expect(_input.label_list(classes))
        labels, codes = expected.meet(column)
        if labels is self._labels:
            model.learn(x, codes, weight, n_threads=n_threads)
            return self
        try:
            _learn_as_classes_arrive(model, x, codes, weight, len(expected), n_threads)
        finally:
            self._labels = labels.first(model.n_classes)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, classes: Any) -> DynamicTreeClassifier:
        inputs = _input.starting_inputs(X, self)
        n_rows, n_inputs = inputs.x.shape
        column = self._label_column(y, n_rows)
        weight = _input.starting_weights(sample_weight, n_rows)
        n_threads = threads_from(self.n_jobs)
        expected = LabelBook.empty() if classes is None else LabelBook.empty().expect(_input.label_list(classes))
        labels, codes = expected.meet(column)
        model = self._start(n_inputs, n_classes=max(len(expected), 1), n_classes_in_sight=len(labels))
        try:
            _learn_as_classes_arrive(model, inputs.x, codes, weight, len(expected), n_threads)
        finally:
            # An interrupted start keeps the rows it learned; one that failed leaves the estimator as it was.
            if model.n_seen > 0:
                self._adopt(model, inputs.names, labels.first(model.n_classes))
        return self

    def _label_column(self, y: Any, n_rows: int) -> NDArray[Any]:
        if type(y) is np.ndarray and y.shape == (n_rows,):
            return y
        return _input.target_column(y, n_rows, self)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable label at each row of X."""
        return self.predict_dist(X).mode()

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class at each row of X; columns follow ``classes_``."""
        return self.predict_dist(X).proba()

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of `predict_proba`."""
        return np.log(self.predict_proba(X))

    def predict_dist(self, X: Any) -> ClassDistribution:
        """The whole predictive distribution at each row of X; nothing is computed until it is asked for."""
        predictive = self._started().predictive(self._further_inputs(X))
        return ClassDistribution(predictive, self._labels, n_threads=threads_from(self.n_jobs))

    @property
    def active_(self) -> _views.ActivePool:
        """The observations still kept, with ages and discard scores."""
        pool = super().active_
        return _views.with_labels(pool, self._labels.class_of_code)


def _learn_as_classes_arrive(
    model: Model, x: Floats, codes: Floats, weight: Floats | None, n_expected: int, n_threads: int
) -> None:
    """Learn rows whose labels may be new. A class joins with its first row, so that batches leave no trace."""
    if n_expected > model.n_classes:
        model.add_classes(n_expected)
    if len(codes) == 0:
        return
    n_classes = np.maximum.accumulate(codes).astype(np.intp) + 1  # codes are given out in the order of arrival
    starts = np.flatnonzero(np.diff(n_classes, prepend=model.n_classes) > 0)
    for first, end in pairwise([0, *starts[starts > 0].tolist(), len(codes)]):
        if n_classes[first] > model.n_classes:
            model.add_classes(int(n_classes[first]))
        model.learn(x[first:end], codes[first:end], None if weight is None else weight[first:end], n_threads=n_threads)

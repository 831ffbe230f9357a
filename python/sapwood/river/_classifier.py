"""The classifier for river."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from river import base

import sapwood
from sapwood import errors
from sapwood._fitted import distribution_at, fitted, learn_inputs, with_labels
from sapwood._input import Inputs
from sapwood._labels import LabelBook
from sapwood._options import Auto, ClassDiscard, ClassLeaf
from sapwood.errors import InputError
from sapwood.river._base import DynamicTree, document_adapter, weights
from sapwood.river._columns import Floats

if TYPE_CHECKING:
    import pandas as pd


_NOT_LEARNED = -1  # code of rows with zero weight


@document_adapter
@dataclass(eq=False, repr=False)
class DynamicTreeClassifier(DynamicTree, base.MiniBatchClassifier):
    """Bayesian dynamic trees for classification, as a river model.

    A label is anything hashable, and new ones may appear at any time. Each feature is a column; a feature that is
    absent, None or NaN is a missing value. When a new feature appears, the model is refitted with one more column to
    its active observations (at the start of a stream, that is all of them); retired ones are lost. Text, booleans and
    dates need no encoder before the model; what a feature is, is decided by its first value.

    Parameters
    ----------
    {shared}

    Examples
    --------
    >>> from sapwood.river import DynamicTreeClassifier
    >>> model = DynamicTreeClassifier(seed=0)
    >>> for size in [1.0, 9.0, 2.0, 8.0] * 20:
    ...     model.learn_one({"size": size}, "small" if size < 5 else "large")
    >>> model.predict_one({"size": 1.5})
    'small'
    >>> round(sum(model.predict_proba_one({"size": 1.5}).values()), 6)
    1.0
    """

    _estimator_type = sapwood.DynamicTreeClassifier

    leaf: ClassLeaf | Auto = "auto"
    discard: ClassDiscard | Auto = "auto"
    dirichlet: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._code_of: dict[Hashable, int] = {}

    @property
    def estimator(self) -> Any:
        """The Sapwood estimator, for probabilities of tables, the active pool, trees and saving.

        Its classes are the labels if these are all text, or all whole numbers or booleans; otherwise their positions in
        `labels`. None before anything is learned.
        """
        if self._estimator is None:
            return None
        return with_labels(self._estimator, _book_of(list(self._code_of)))

    def _take(self, estimator: Any) -> None:
        book = fitted(estimator).book
        self._code_of = {label: code for code, label in enumerate(book.class_of_code.tolist())}
        codes = np.arange(len(book))
        self._estimator = with_labels(estimator, LabelBook(codes, codes))

    @property
    def _multiclass(self) -> bool:
        return True

    @property
    def labels(self) -> list[Hashable]:
        """The labels seen so far, in order of appearance; the estimator knows them as 0, 1, 2, ..."""
        return list(self._code_of)

    def learn_one(self, x: dict[Hashable, Any], y: Hashable, w: float = 1.0) -> None:
        """Learn one row. A row of weight ``w=0`` is not learned."""
        weight = weights(w, 1)
        code_of, codes = self._encode([y], weight)
        try:
            self._learn_row(x, codes, weight)
        finally:
            self._keep_learned(code_of)

    def predict_proba_one(self, x: dict[Hashable, Any], **kwargs: Any) -> dict[Any, float]:
        """Probability of each label seen so far, at the next row to be learned; empty before anything is learned.

        With `lags`, the last label learned is taken for that of the row before: where labels are late, leave
        ``lags=0``, the default.
        """
        if self._estimator is None:
            return {}
        proba = self._proba(self._columns.row(x), "next_row")[0]
        return dict(zip(self._code_of, proba.tolist(), strict=True))

    def learn_many(self, X: pd.DataFrame, y: pd.Series, w: float | pd.Series = 1.0) -> None:
        """Learn the rows of a table in order, with the same result as `learn_one` for each."""
        weight = weights(w, len(X))
        code_of, codes = self._encode(y, weight)
        try:
            self._learn_table(X, codes, weight)
        finally:
            self._keep_learned(code_of)

    def predict_proba_many(self, X: pd.DataFrame) -> pd.DataFrame:
        """Probability of each label seen so far, one column per label, for each row of a table.

        No label is taken as known.
        """
        import pandas as pd

        if self._estimator is None:
            return pd.DataFrame(index=X.index)
        proba = self._proba(self._columns.rows(X), "any_row")
        return pd.DataFrame(proba, index=X.index, columns=pd.Index(list(self._code_of)))

    def predict_many(self, X: pd.DataFrame) -> pd.Series:
        """The most probable label at each row of a table; None before anything is learned."""
        import pandas as pd

        proba = self.predict_proba_many(X)
        labels = self.labels or [None]
        best = proba.to_numpy().argmax(axis=1) if self.labels else np.zeros(len(X), dtype=np.intp)
        return pd.Series([labels[ix] for ix in best], index=X.index, dtype=None if self.labels else object)

    def _proba(self, rows: Floats, horizon: str) -> Floats:
        # Rounding may push a probability above 1, and some of river's metrics take the logarithm of 1 - p.
        proba: Floats = np.minimum(distribution_at(self._estimator, rows, horizon=horizon).proba(), 1.0)
        return proba

    def _refit(self, estimator: Any, inputs: Inputs, y: NDArray[Any], weight: Floats) -> None:
        # Labels without active observations are still labels.
        learn_inputs(estimator, inputs, y, weight, classes=list(self._code_of.values()))

    def _encode(
        self, labels: Sequence[Any] | pd.Series, weight: Floats
    ) -> tuple[dict[Hashable, int], NDArray[np.int64]]:
        """Return the codes of all labels, with new ones numbered in order of appearance, and the codes of the rows."""
        if len(labels) != len(weight):
            raise errors.make("wrong-length", n_x=len(weight), other="y", n_other=len(labels))
        code_of = dict(self._code_of)
        codes = np.full(len(labels), _NOT_LEARNED)
        for row, given in enumerate(labels):
            label = given.item() if isinstance(given, np.generic) else given
            if not isinstance(label, Hashable) or label is None or label != label:
                raise InputError(
                    f"row {row} of y is {given!r}; a label must be hashable and not missing, such as text, a number "
                    "or a boolean. Drop the row.",
                    "label-missing",
                )
            if weight[row] > 0:
                codes[row] = code_of.setdefault(label, len(code_of))
        return code_of, codes

    def _keep_learned(self, code_of: dict[Hashable, int]) -> None:
        """Keep the labels whose rows were learned: all of them, unless learning was interrupted."""
        n_known = 0 if self._estimator is None else len(self._estimator.classes_)
        self._code_of = dict(list(code_of.items())[:n_known])


def _book_of(labels: list[Hashable]) -> LabelBook:
    """Return the labels as classes of an estimator, or their codes if an estimator could not have such classes."""
    codes = np.arange(len(labels))
    alike = {type(label) for label in labels}
    if len(alike) > 1 or not alike <= {str, int, bool}:
        return LabelBook(codes, codes)
    return LabelBook.empty().meet(np.array(labels))[0]

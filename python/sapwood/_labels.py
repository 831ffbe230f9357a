"""Class labels and their codes in the engine."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from sapwood import errors

_TEXT = "text"
_NUMBER = "a number"


@dataclass(frozen=True, eq=False)
class LabelBook:
    """The classes seen so far, sorted, and the engine's code of each.

    The engine numbers classes in the order they arrive and never renumbers them; users expect ``classes_`` sorted.
    ``codes[i]`` is the engine's code of ``classes[i]``, so ``proba[:, codes]`` has its columns in the users' order.
    """

    classes: NDArray[Any]
    codes: NDArray[np.intp]

    @classmethod
    def empty(cls) -> LabelBook:
        """No class yet."""
        return cls(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.intp))

    def __len__(self) -> int:
        return len(self.classes)

    @cached_property
    def _code_of(self) -> dict[Any, float]:
        return dict(zip(self.classes.tolist(), self.codes.astype(float).tolist(), strict=True))

    @cached_property
    def class_of_code(self) -> NDArray[Any]:
        """The classes in the engine's order."""
        return self.classes[np.argsort(self.codes)]

    def meet(self, labels: NDArray[Any]) -> tuple[LabelBook, NDArray[np.float64]]:
        """Return a book extended by these labels, new ones coded in order of arrival, and the codes of `labels`."""
        try:
            return self, self._encode(labels)
        except (KeyError, TypeError):  # TypeError: not a label, such as a list; the next line raises the error
            book = self._extended(_plain_labels(labels, "y", self._kind))
            return book, book._encode(labels)

    def expect(self, classes: NDArray[Any]) -> LabelBook:
        """Return a book extended by these labels, new ones coded in sorted order, so that their order has no effect."""
        return self._extended(np.unique(_plain_labels(classes, "classes", self._kind)))

    def first(self, n_classes: int) -> LabelBook:
        """Return the book as it was when it had `n_classes`."""
        if n_classes == len(self):
            return self
        old = self.codes < n_classes
        return LabelBook(self.classes[old], self.codes[old])

    def _encode(self, labels: NDArray[Any]) -> NDArray[np.float64]:
        code_of = self._code_of
        return np.array([code_of[label] for label in labels.tolist()], dtype=np.float64)

    def encode_or_nan(self, labels: NDArray[Any]) -> NDArray[np.float64]:
        """The engine's codes, NaN for labels that are not in the book."""
        return np.array([self._code_of.get(label, math.nan) for label in labels.tolist()], dtype=np.float64)

    @property
    def _kind(self) -> str | None:
        return _kind_of(self.classes[0]) if len(self) else None

    def _extended(self, labels: NDArray[Any]) -> LabelBook:
        fresh = dict.fromkeys(label for label in labels.tolist() if label not in self._code_of)
        if not fresh:
            return self
        classes = np.unique(np.concatenate([self.classes, labels]) if len(self) else labels)
        code_of = {**self._code_of, **{label: code for code, label in enumerate(fresh, start=len(self))}}
        return LabelBook(classes, np.array([code_of[label] for label in classes.tolist()], dtype=np.intp))


def _plain_labels(labels: NDArray[Any], source: str, kind: str | None) -> NDArray[Any]:
    """Return labels as text or numbers; raise if one is missing or they are not all of one kind (`kind`, if given)."""
    if labels.dtype.kind == "O":
        for row, label in enumerate(labels):
            if _is_missing(label):
                raise errors.make("label-missing", row=row, source=source, value=label)
        found = _refuse_mixed(labels, source, kind)
        if found == _NUMBER:  # they are objects only because they came in an object array
            labels = np.array(labels.tolist())
    elif labels.dtype.kind == "f" and not np.isfinite(labels).all():
        row = int(np.isfinite(labels).argmin())
        raise errors.make("label-missing", row=row, source=source, value=labels[row])
    elif len(labels):
        _refuse_mixed(labels[:1], source, kind)
    try:
        check_classification_targets(labels)
    except (ValueError, TypeError) as error:
        raise errors.make("label-type", reason=str(error)) from None
    return labels


def _refuse_mixed(labels: Iterable[Any], source: str, kind: str | None) -> str | None:
    for row, label in enumerate(labels):
        found = _kind_of(label)
        kind = kind or found
        if found != kind or found not in (_TEXT, _NUMBER):
            expected = kind if kind in (_TEXT, _NUMBER) else f"{_TEXT} or {_NUMBER}"
            raise errors.make("label-kind", row=row, source=source, value=label, kind=found, expected=expected)
    return kind


def _kind_of(label: Any) -> str:
    if isinstance(label, str):
        return _TEXT
    if isinstance(label, (bool, int, float, np.bool_, np.number)):
        return _NUMBER
    return f"a {type(label).__name__}"


def _is_missing(label: Any) -> bool:
    # Missing values of tables (NaN, pandas.NA, pandas.NaT) do not compare equal to themselves.
    if label is None:
        return True
    equal = label == label
    return not isinstance(equal, (bool, np.bool_)) or not equal

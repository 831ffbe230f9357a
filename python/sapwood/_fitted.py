"""The internal interface of the estimators: their fitted state, and how other modules reach it.

An estimator keeps everything it has learned in one `FittedState`. The other modules of the package (files, plots, the
prequential loop, river, the command line) use the functions below and never the private attributes of an estimator.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sapwood import _bank
from sapwood._core import Model, n_scores
from sapwood._input import Inputs
from sapwood._labels import LabelBook
from sapwood._options import Task
from sapwood._seeds import seed_from
from sapwood.encoding.encoder import Encoder

if TYPE_CHECKING:
    from sapwood._base import DynamicTreeEstimator

_SETTINGS = tuple(field.name for field in fields(_bank.Settings))


@dataclass
class FittedState:
    """What an estimator has learned.

    Attributes
    ----------
    model : Model
        The native model.
    labels : LabelBook or None
        The classes of a classifier; None for a regressor.
    encoder : Encoder or None
        What turns tables into inputs; None if the model was started from arrays, which are its inputs.
    target : str or None
        The name of the target, where it is known.
    """

    model: Model
    labels: LabelBook | None = None
    encoder: Encoder | None = None
    target: str | None = None

    @property
    def input_names(self) -> list[str] | None:
        """The names of the inputs; None if they have none."""
        return None if self.encoder is None else self.encoder.input_names

    @property
    def book(self) -> LabelBook:
        """The classes so far; empty for a regressor."""
        return LabelBook.empty() if self.labels is None else self.labels

    def add_classes(self, book: LabelBook) -> None:
        """Let the model and its labels know all classes of `book`, which extends the present ones."""
        self.model.add_classes(len(book))
        self.labels = book

    @contextmanager
    def growing(self) -> Iterator[None]:
        """Keep the categories that are added inside only if something is learned."""
        n_seen, mark = self.model.n_seen, None if self.encoder is None else self.encoder.mark()
        try:
            yield
        finally:
            if mark is not None and self.encoder is not None and self.model.n_seen == n_seen:
                self.encoder.rewind(mark)

    def frozen(self) -> dict[str, Any]:
        """Return the state with the native model as bytes, for pickling and copying."""
        return {**self.__dict__, "model": self.model.save(b"")}

    @classmethod
    def thawed(cls, frozen: dict[str, Any]) -> FittedState:
        """Return the state that `frozen` came from."""
        return cls(**{**frozen, "model": Model.load(frozen["model"])[0]})


def lock_of(estimator: DynamicTreeEstimator) -> AbstractContextManager[Any]:
    """Return the lock of everything that an estimator has learned: the native model, its classes and its encoder.

    Whoever changes one of them holds it, and whoever reads more than one. It is made when it is first needed, and never
    copied or saved. A forked process makes its own: the thread that may hold the inherited one does not exist there.
    """
    owner, lock = estimator.__dict__.setdefault("_lock", (os.getpid(), threading.RLock()))
    if owner != os.getpid():
        owner, lock = estimator.__dict__["_lock"] = (os.getpid(), threading.RLock())
    held: AbstractContextManager[Any] = lock
    return held


def task_of(estimator: DynamicTreeEstimator) -> Task:
    """Return what the estimator predicts."""
    return estimator._task


def is_fitted(estimator: DynamicTreeEstimator) -> bool:
    """Whether the estimator has learned anything."""
    return estimator._fitted is not None


def fitted(estimator: DynamicTreeEstimator) -> FittedState:
    """Return the fitted state; raise scikit-learn's NotFittedError if there is none."""
    state = estimator._fitted
    if state is None:
        check_is_fitted(estimator)
        return fitted(estimator)  # another thread has fitted it in the meantime
    return state


def native(estimator: DynamicTreeEstimator) -> Model:
    """Return the native model of a fitted estimator."""
    return fitted(estimator).model


def input_names(estimator: DynamicTreeEstimator) -> list[str] | None:
    """Return the names of the inputs of a fitted estimator; None if it was started from arrays."""
    return fitted(estimator).input_names


def score_names(estimator: DynamicTreeEstimator) -> list[str]:
    """Return the names of the scores that follow the inputs, if some of these hold categories."""
    state = fitted(estimator)
    if state.model.n_scores <= 1:
        return ["score"] * state.model.n_scores
    return [f"score of {label}" for label in state.book.class_of_code[: state.model.n_scores]]


def distribution_at(estimator: DynamicTreeEstimator, x: NDArray[np.float64], *, horizon: str = "any_row") -> Any:
    """Return the predictive distribution at inputs, as opposed to rows of a table."""
    return estimator._distribution(np.ascontiguousarray(x), horizon)


def learn_inputs(estimator: Any, inputs: Inputs, y: Any, weight: Any, **classes: Any) -> None:
    """Let an estimator, fitted or not, learn inputs. What encoded them stays with one that is not fitted."""
    if is_fitted(estimator):
        estimator._learn(inputs.x, y, weight, **classes)
    else:
        estimator._start(inputs, y, weight, **classes)


def with_labels(estimator: Any, labels: LabelBook) -> Any:
    """Return an estimator that shares what another has learned, but calls its classes differently."""
    other = type(estimator)(**estimator.get_params())
    set_fitted(other, replace(fitted(estimator), labels=labels))
    return other


def set_fitted(estimator: DynamicTreeEstimator, state: FittedState) -> None:
    """Replace the fitted state."""
    estimator._fitted = state


def new_model(
    estimator: DynamicTreeEstimator,
    n_inputs: int,
    n_classes: int = 0,
    n_classes_in_sight: int = 0,
    *,
    encoder: Encoder | None = None,
) -> Model:
    """Return a native model that has learned nothing yet. This is the only place where parameters are read.

    `n_classes` is how many classes the model starts with, `n_classes_in_sight` how many ``max_active="auto"`` should
    make room for. The categories of `encoder`, if there are any, get scores.
    """
    settings = _bank.Settings(**{name: getattr(estimator, name) for name in _SETTINGS if hasattr(estimator, name)})
    task = task_of(estimator)
    levels = [] if encoder is None else encoder.categorical_inputs
    in_sight = max(n_classes, n_classes_in_sight)
    members = _bank.compose(settings, task, n_inputs + n_scores(task, levels, in_sight), n_classes_in_sight)
    seed = seed_from(estimator.random_state)
    return Model(task, n_inputs, n_classes, members, seed, levels=levels, n_in_sight=in_sight)

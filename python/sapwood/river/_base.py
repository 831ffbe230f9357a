"""What the two adapters share: tracking columns, starting the estimator, and widening it when a feature appears."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from textwrap import dedent
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from river import base

import sapwood
from sapwood import _input, errors
from sapwood._fitted import is_fitted, native
from sapwood._parameters import CloudParameters, document
from sapwood.river._columns import Columns, Floats

if TYPE_CHECKING:
    import pandas as pd

Estimator = sapwood.DynamicTreeRegressor | sapwood.DynamicTreeClassifier


def weights(w: float | pd.Series, n_rows: int) -> Floats:
    """Read river's ``w``: a single weight for all rows, or one per row."""
    read = _input.weights(w, n_rows)
    assert read is not None, "weights are only absent for None"
    return read


_SHARED = dedent("""\
    leaf, n_particles, ...
        The parameters of the estimator of the same name in :mod:`sapwood`, except ``random_state``.
    new_features : {"grow", "ignore"}, default="grow"
        "ignore" keeps the features of the first row learned and ignores all others, with a single warning.
    seed : int, default=None
        The same seed and data give the same model.""")

document_adapter = partial(document, shared=_SHARED)


@dataclass(eq=False, repr=False)
class DynamicTree(CloudParameters, base.Estimator):
    """Base of the adapters: a Sapwood estimator, and the mapping of river's features to its columns."""

    _estimator_type: ClassVar[type[Estimator]]

    new_features: Literal["grow", "ignore"] = "grow"
    seed: int | None = None
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        self._columns = Columns()
        self._estimator: Any = None  # None before anything is learned
        self._has_warned = False

    # ---- inspection ----

    @property
    def estimator(self) -> Any:
        """The Sapwood estimator, for intervals, the active pool, trees and saving. None before anything is learned."""
        return self._estimator

    @property
    def feature_names(self) -> tuple[Hashable, ...]:
        """The features seen so far, in the order of the estimator's columns."""
        return self._columns.names

    # ---- learning ----

    def _learn_row(self, x: Mapping[Hashable, Any], y: NDArray[Any], weight: Floats) -> None:
        columns = self._columns_for(x)
        row = columns.row(x)
        if weight[0] == 0:
            return
        estimator = self._estimator_with(columns)
        estimator.partial_fit(row, y, weight)
        self._columns, self._estimator = columns, estimator

    def _learn_table(self, X: pd.DataFrame, y: NDArray[Any], weight: Floats) -> None:
        if len(X) != len(y):
            raise errors.make("wrong-length", n_x=len(X), other="y", n_other=len(y))
        columns = self._columns_for(X.columns)
        rows, counts = columns.rows(X), weight > 0
        if not counts.any():
            return
        estimator = self._estimator_with(columns)
        rows, y, weight = np.ascontiguousarray(rows[counts]), y[counts], weight[counts]
        # An estimator chooses its bank by the classes in its first batch, but here batching must not affect the model.
        first = 0 if is_fitted(estimator) else 1
        for part in (slice(0, first), slice(first, None)):
            if len(y[part]):
                estimator.partial_fit(rows[part], y[part], weight[part])
                self._columns, self._estimator = columns, estimator

    def _columns_for(self, features: Iterable[Hashable]) -> Columns:
        """Return the columns including these features."""
        if self.new_features not in ("grow", "ignore"):
            raise errors.make(
                "unknown-option", name="new_features", value=self.new_features, allowed="'grow', 'ignore'"
            )
        if self._estimator is None or self.new_features == "grow":
            return self._columns.extended(features)
        fresh = self._columns.missing_from(features)
        if fresh and not self._has_warned:
            self._has_warned = True
            names = ", ".join(map(repr, fresh))
            warnings.warn(
                f"the features {names} were not in the first row that this model learned; with new_features='ignore', "
                "these and any other new features are ignored.",
                stacklevel=4,
            )
        return self._columns

    def _estimator_with(self, columns: Columns) -> Any:
        """Return the estimator if it has these columns, otherwise a wider one fitted to its active observations."""
        old = self._estimator
        if old is not None and old.n_features_in_ == columns.n_inputs:
            return old
        names = inspect.signature(self._estimator_type).parameters
        params = {name: getattr(self, name) for name in names if name != "random_state"}
        estimator = self._estimator_type(**params, random_state=self.seed)
        if old is not None:
            pool = old.active_
            self._refit(estimator, columns.widened(pool.X), pool.y, pool.weight)
        return estimator

    def _refit(self, estimator: Any, x: Floats, y: NDArray[Any], weight: Floats) -> None:
        estimator.partial_fit(x, y, weight)

    # ---- river ----

    @property
    def _mutable_attributes(self) -> set[str]:
        return {"new_features"}

    @property
    def _raw_memory_usage(self) -> int:
        # Python cannot see the memory of the engine, but the model file holds the same state in about as many bytes.
        engine = 0 if self._estimator is None else len(native(self._estimator).save(b""))
        return int(super()._raw_memory_usage) + engine

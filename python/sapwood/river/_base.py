"""What the two adapters share: tracking columns, starting the estimator, and widening it when a feature appears."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from textwrap import dedent
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from numpy.typing import NDArray
from river import base

import sapwood
from sapwood import _input, errors
from sapwood._fitted import fitted, is_fitted, learn_inputs, native
from sapwood._input import Inputs
from sapwood._parameters import CloudParameters, document
from sapwood.river._columns import Columns, Floats

if TYPE_CHECKING:
    import pandas as pd
    from typing_extensions import Self

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

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self:
        """Go on with what a Sapwood estimator has learned, such as one that :func:`sapwood.load` returned.

        Parameters
        ----------
        estimator : sapwood.DynamicTreeRegressor or sapwood.DynamicTreeClassifier
            Started from a table or a stream, so that it knows its columns by name. It is shared, not copied.

        Examples
        --------
        >>> import sapwood
        >>> from sapwood.river import DynamicTreeRegressor
        >>> rows = [{"size": 1.0, "colour": "red"}, {"size": 2.0, "colour": "blue"}] * 10
        >>> estimator = sapwood.DynamicTreeRegressor(random_state=0).fit(rows, [1.0, 2.0] * 10)
        >>> model = DynamicTreeRegressor.from_estimator(estimator)
        >>> bool(model.predict_one(rows[0]) == estimator.predict(rows[0])[0])
        True
        """
        if not isinstance(estimator, cls._estimator_type):
            raise TypeError(f"{cls.__name__} needs a fitted sapwood.{cls._estimator_type.__name__}, not {estimator!r}")
        encoder = fitted(estimator).encoder
        if encoder is None:
            reason = "the estimator was started from an array, and river knows features by name. Fit it to a table."
            raise errors.make("x-names", reason=reason)
        seed = estimator.random_state
        given = {**estimator.get_params(), "seed": seed if isinstance(seed, int) else None}
        model = cls(**{name: given[name] for name in inspect.signature(cls).parameters if name in given})
        model._columns = Columns(encoder.columns, encoder)
        model._take(estimator)
        return model

    def _take(self, estimator: Any) -> None:
        """Go on with this estimator."""
        self._estimator = estimator

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
        with self._growing(columns):
            row = columns.row(x, grow=True)
            if weight[0] == 0:
                return
            estimator = self._estimator_with(columns)
            learn_inputs(estimator, Inputs(row, columns.encoder), y, weight)
            self._columns, self._estimator = columns, estimator

    def _learn_table(self, X: pd.DataFrame, y: NDArray[Any], weight: Floats) -> None:
        if len(X) != len(y):
            raise errors.make("wrong-length", n_x=len(X), other="y", n_other=len(y))
        columns = self._columns_for(X)
        with self._growing(columns):
            counts = weight > 0
            columns.rows(X)  # rows of weight 0 must be readable, but bring no categories
            if not counts.any():
                return
            rows = columns.rows(X[counts], grow=True)
            estimator = self._estimator_with(columns)
            y, weight = y[counts], weight[counts]
            # An estimator chooses its bank by the classes in its first batch, but batching must not affect the model.
            first = 0 if is_fitted(estimator) else 1
            for part in (slice(0, first), slice(first, None)):
                if len(y[part]):
                    learn_inputs(estimator, Inputs(rows[part], columns.encoder), y[part], weight[part])
                    self._columns, self._estimator = columns, estimator

    @contextmanager
    def _growing(self, columns: Columns) -> Iterator[None]:
        """Keep the categories that are added inside only if something is learned."""
        mark, n_seen = None if columns.encoder is None else columns.encoder.mark(), self._n_seen
        try:
            yield
        finally:
            if mark is not None and columns.encoder is not None and self._n_seen == n_seen:
                columns.encoder.rewind(mark)

    @property
    def _n_seen(self) -> tuple[int, int]:
        """The number of rows learned, and by which estimator: one that replaces another begins anew."""
        return (0, 0) if self._estimator is None else (id(self._estimator), self._estimator.n_seen_)

    def _columns_for(self, rows: Mapping[Hashable, Any] | pd.DataFrame) -> Columns:
        """Return the columns including the features of these rows."""
        if self.new_features not in ("grow", "ignore"):
            raise errors.make(
                "unknown-option", name="new_features", value=self.new_features, allowed="'grow', 'ignore'"
            )
        if self._estimator is None or self.new_features == "grow":
            return self._columns.extended(rows)
        fresh = self._columns.missing_from(rows)
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
        if old is not None and native(old).n_inputs == columns.n_inputs:
            return old
        names = inspect.signature(self._estimator_type).parameters
        params = {name: getattr(self, name) for name in names if name != "random_state"}
        estimator = self._estimator_type(**params, random_state=self.seed)
        if old is not None:
            pool = old.active_
            self._refit(estimator, Inputs(columns.widened(pool.X), columns.encoder), pool.y, pool.weight)
        return estimator

    def _refit(self, estimator: Any, inputs: Inputs, y: NDArray[Any], weight: Floats) -> None:
        learn_inputs(estimator, inputs, y, weight)

    # ---- river ----

    def _unit_test_skips(self) -> set[str]:
        # With lags, predict_one takes the last target as that of the row before; the rows of a table have no such row.
        skips: set[str] = super()._unit_test_skips()
        return skips if self.lags == 0 else skips | {"check_predict_many_matches_predict_one"}

    @property
    def _mutable_attributes(self) -> set[str]:
        return {"new_features"}

    @property
    def _raw_memory_usage(self) -> int:
        # Python cannot see the memory of the engine, but the model file holds the same state in about as many bytes.
        engine = 0 if self._estimator is None else len(native(self._estimator).save(b""))
        return int(super()._raw_memory_usage) + engine

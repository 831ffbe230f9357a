"""The input of a metric: forecasts of some rows together with the outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

LEVELS90 = (0.05, 0.95)


class CoreRegressionForecast(Protocol):
    """The part of the engine's forecast of a regression that metrics need."""

    @property
    def mean(self) -> Floats: ...
    @property
    def pit(self) -> Floats: ...
    @property
    def crps(self) -> Floats: ...
    @property
    def quantiles(self) -> Floats: ...
    @property
    def ln_density(self) -> Floats: ...


class CoreClassForecast(Protocol):
    """The part of the engine's forecast of a classification that metrics need."""

    @property
    def proba(self) -> Floats: ...
    @property
    def ln_density(self) -> Floats: ...


def _column(name: str, values: ArrayLike, n_rows: int) -> Floats:
    column = np.asarray(values, dtype=np.float64)
    if column.shape != (n_rows,):
        raise ValueError(f"{name} has shape {column.shape}; y has {n_rows} rows, so it must have shape ({n_rows},).")
    return column


@dataclass(frozen=True, eq=False)
class RegressionForecast:
    """Forecasts of a number, one per row, and the observed targets.

    Attributes
    ----------
    y : array of shape (n,)
        Observed targets; NaN if unknown (such rows are not scored).
    mean, lower, upper : arrays of shape (n,)
        Predictive mean and the 5 % and 95 % quantiles.
    ln_density : array of shape (n,)
        Log of the predictive density at ``y``.
    pit, crps : arrays of shape (n,)
        Predictive distribution function at ``y``, and the continuous ranked probability score.

    Examples
    --------
    >>> from sapwood.metrics import RegressionForecast
    >>> chunk = RegressionForecast(
    ...     y=[1.0, 2.0], mean=[0.9, 2.2], lower=[0.0, 1.0], upper=[2.0, 3.0],
    ...     ln_density=[-0.5, -0.6], pit=[0.6, 0.4], crps=[0.1, 0.2])
    >>> len(chunk)
    2
    """

    y: Floats
    mean: Floats
    lower: Floats
    upper: Floats
    ln_density: Floats
    pit: Floats
    crps: Floats

    def __post_init__(self) -> None:
        n = len(np.atleast_1d(np.asarray(self.y)))
        for name in ("y", "mean", "lower", "upper", "ln_density", "pit", "crps"):
            object.__setattr__(self, name, _column(name, getattr(self, name), n))

    def __len__(self) -> int:
        return len(self.y)

    @classmethod
    def from_core(
        cls, forecast: CoreRegressionForecast, y: ArrayLike, levels: Sequence[float] = LEVELS90
    ) -> RegressionForecast:
        """Combine the engine's forecasts, made with the quantile ``levels``, with the observed targets."""
        missing = [level for level in LEVELS90 if level not in levels]
        if missing:
            raise ValueError(f"levels is {list(levels)}; it must hold .05 and .95, the ends of the 90 % interval.")
        low, high = (list(levels).index(level) for level in LEVELS90)
        quantiles = forecast.quantiles
        return cls(
            y=np.asarray(y, dtype=np.float64),
            mean=forecast.mean,
            lower=quantiles[:, low],
            upper=quantiles[:, high],
            ln_density=forecast.ln_density,
            pit=forecast.pit,
            crps=forecast.crps,
        )

    def known(self) -> RegressionForecast:
        """The rows whose ``y`` is known."""
        here = ~np.isnan(self.y)
        if here.all():
            return self
        return RegressionForecast(
            self.y[here],
            self.mean[here],
            self.lower[here],
            self.upper[here],
            self.ln_density[here],
            self.pit[here],
            self.crps[here],
        )


@dataclass(frozen=True, eq=False, init=False)
class ClassForecast:
    """Forecasts of a class, one per row, and the observed classes.

    Attributes
    ----------
    y : array of shape (n,)
        Indices 0, 1, ... of the observed classes; NaN if unknown (such rows are not scored).
    proba : array of shape (n, n_classes)
        Predictive probabilities. A later chunk may have more columns, since new labels may appear at any time.
    ln_density : array of shape (n,), optional
        Log of the predictive probability of ``y``. Computed from ``proba`` if not given.
    label : array of shape (n,), optional
        Predicted class; by default the most probable one (the first of them, if there is a tie).

    Examples
    --------
    >>> from sapwood.metrics import ClassForecast
    >>> chunk = ClassForecast(y=[0, 1], proba=[[0.9, 0.1], [0.3, 0.7]])
    >>> chunk.label.tolist()
    [0.0, 1.0]
    """

    y: Floats
    proba: Floats
    ln_density: Floats
    label: Floats

    def __init__(
        self, y: ArrayLike, proba: ArrayLike, ln_density: ArrayLike | None = None, label: ArrayLike | None = None
    ) -> None:
        n = len(np.atleast_1d(np.asarray(y)))
        came, table = _column("y", y, n), np.asarray(proba, dtype=np.float64)
        if table.ndim != 2 or len(table) != n or table.shape[1] < 1:
            raise ValueError(f"proba has shape {table.shape}; y has {n} rows, so it must have shape ({n}, n_classes).")
        n_classes = table.shape[1]
        outside = np.flatnonzero((came < 0) | (came >= n_classes) | (np.floor(came) != came) & ~np.isnan(came))
        if len(outside):
            row = outside[0]
            raise ValueError(
                f"row {row} of y is {came[row]:g}; with {n_classes} columns of proba it must be a class index from 0 "
                f"to {n_classes - 1}, or NaN."
            )
        likeliest = np.argmax(table, axis=1).astype(np.float64)
        object.__setattr__(self, "y", came)
        object.__setattr__(self, "proba", table)
        object.__setattr__(
            self,
            "ln_density",
            _ln_of_label(came, table) if ln_density is None else _column("ln_density", ln_density, n),
        )
        object.__setattr__(self, "label", likeliest if label is None else _column("label", label, n))

    def __len__(self) -> int:
        return len(self.y)

    @classmethod
    def from_core(cls, forecast: CoreClassForecast, y: ArrayLike) -> ClassForecast:
        """Combine the engine's forecasts with the observed classes (as indices).

        A class that the engine did not know yet had probability zero.
        """
        came = np.asarray(y, dtype=np.float64)
        n_unknown = int(np.nanmax(came, initial=-1.0)) + 1 - forecast.proba.shape[1]
        proba = forecast.proba if n_unknown <= 0 else np.pad(forecast.proba, ((0, 0), (0, n_unknown)))
        return cls(y=came, proba=proba, ln_density=forecast.ln_density)

    def known(self) -> ClassForecast:
        """The rows whose ``y`` is known."""
        here = ~np.isnan(self.y)
        if here.all():
            return self
        return ClassForecast(self.y[here], self.proba[here], self.ln_density[here], self.label[here])


def _ln_of_label(y: Floats, proba: Floats) -> Floats:
    ln_density = np.full(len(y), np.nan)
    here = np.flatnonzero(~np.isnan(y))
    with np.errstate(divide="ignore"):
        ln_density[here] = np.log(proba[here, y[here].astype(np.intp)])
    return ln_density

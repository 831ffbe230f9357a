"""A predictive distribution for methods that forecast only a point: the distribution of their own recent errors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from sapwood.metrics import RegressionForecast, crps_student_t, ln_density_student_t

Floats = NDArray[np.float64]

WINDOW = 500
_START_UP = 100  # errors of the first rows are often extreme, so they are never used
_FEWEST = 10  # fewest errors from which a distribution is estimated
_DF = 3.0  # heavy tails, so that one outlier does not dominate the log score of a peer
_LN_KERNEL_AT_0 = float(ln_density_student_t(0.0, _DF, 0.0, 1.0))
_LEAST_BANDWIDTH = 1e-6  # y is in units of its sd
_ROWS_AT_ONCE = 1000


def residual_forecast(y: Floats, point: Floats, window: int = WINDOW) -> RegressionForecast:
    """Forecasts centred at ``point``, distributed as the ``window`` errors before each row.

    The interval and the CRPS are those of the empirical distribution. The density is a kernel density estimate from
    the same errors (Student-t kernel with 3 degrees of freedom, Silverman's bandwidth). The first rows, which are not
    scored, get a standard Student-t.

    Parameters
    ----------
    y, point : arrays of shape (n,)
        Targets and point forecasts.
    window : int
        Number of errors to use.
    """
    error = y - point
    low, high = (np.full(len(y), z) for z in stdtrit(_DF, np.array([0.05, 0.95])))
    ln_density = ln_density_student_t(error, _DF, 0.0, 1.0)
    crps = crps_student_t(error, _DF, 0.0, 1.0)
    pit = stdtr(_DF, error)
    for rows, unsorted in _errors_before(error, window):
        errors, at = np.sort(unsorted, axis=1), error[rows, np.newaxis]
        low[rows], high[rows] = _quantiles(errors, 0.05), _quantiles(errors, 0.95)
        ln_density[rows] = _ln_kernel_density(at, errors)
        crps[rows] = _empirical_crps(at, errors)
        pit[rows] = np.mean(errors <= at, axis=1)
    return RegressionForecast(
        y=y, mean=point, lower=point + low, upper=point + high, ln_density=ln_density, pit=pit, crps=crps
    )


def _errors_before(error: Floats, window: int) -> Iterator[tuple[slice, Floats]]:
    """Slices of rows, each with the errors before its rows: one row of errors per row, all of the same length."""
    n, full = len(error), _START_UP + window
    for t in range(_START_UP + _FEWEST, min(full, n)):
        yield slice(t, t + 1), error[np.newaxis, _START_UP:t]
    for first in range(full, n, _ROWS_AT_ONCE):
        end = min(first + _ROWS_AT_ONCE, n)
        yield slice(first, end), sliding_window_view(error[first - window : end - 1], window)


def _quantiles(ordered: Floats, level: float) -> Floats:
    """The quantile of each sorted row at a level, by linear interpolation."""
    position = level * (ordered.shape[1] - 1)
    below = int(position)
    return ordered[:, below] + (position - below) * (ordered[:, below + 1] - ordered[:, below])


def _ln_kernel_density(at: Floats, ordered: Floats) -> Floats:
    spread = np.std(ordered, axis=1)
    quartiles = (_quantiles(ordered, 0.75) - _quantiles(ordered, 0.25)) / 1.34
    narrow = np.where(quartiles > 0.0, np.minimum(spread, quartiles), spread)
    bandwidth = np.maximum(0.9 * narrow * ordered.shape[1] ** -0.2, _LEAST_BANDWIDTH)
    z = (ordered - at) / bandwidth[:, np.newaxis]
    # The tails decay as z^-4: the sum underflows only for errors beyond 1e77 bandwidths.
    kernel = np.mean((1.0 + z * z / _DF) ** (-(_DF + 1.0) / 2.0), axis=1)
    with np.errstate(divide="ignore"):
        ln_density: Floats = np.log(kernel) + _LN_KERNEL_AT_0 - np.log(bandwidth)
    return ln_density


def _empirical_crps(at: Floats, ordered: Floats) -> Floats:
    n = ordered.shape[1]
    half_mean_distance = ordered @ (2.0 * np.arange(n) - n + 1.0) / n**2
    crps: Floats = np.mean(np.abs(ordered - at), axis=1) - half_mean_distance
    return crps

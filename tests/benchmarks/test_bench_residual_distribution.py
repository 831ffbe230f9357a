"""The distribution lent to point forecasts: what it is, and that it never looks ahead."""

from __future__ import annotations

import numpy as np
from benchmarks.quality.problems import SCORED_FROM
from benchmarks.quality.residual_distribution import residual_forecast
from scipy import stats


def test_scores_of_gaussian_errors_are_those_of_the_gaussian(rng: np.random.Generator) -> None:
    """Catches a wrong bandwidth, a kernel that does not integrate to one and a CRPS with a wrong constant.

    20,000 rows: the standard errors are .005 (log score), .002 (CRPS and coverage). Smoothing and estimating from 500
    errors cost up to .015 nats, which a kernel estimate cannot avoid.
    """
    y = rng.standard_normal(20_000)
    lent = residual_forecast(y, np.zeros_like(y))
    since = slice(SCORED_FROM, None)
    entropy = stats.norm.entropy()
    assert -entropy - 0.03 < lent.ln_density[since].mean() < -entropy + 0.015
    assert abs(lent.crps[since].mean() - 1.0 / np.sqrt(np.pi)) < 0.008
    inside = (lent.lower <= y) & (y <= lent.upper)
    assert abs(inside[since].mean() - 0.9) < 0.01


def test_one_row_by_hand(rng: np.random.Generator) -> None:
    """Row 700 against the definitions, from the 500 errors before it: an off-by-one window fails."""
    y, point = rng.standard_normal(800), rng.standard_normal(800)
    t = 700
    errors = (y - point)[t - 500 : t]
    lent = residual_forecast(y, point)
    at = y[t] - point[t]
    pairs = np.abs(errors[:, np.newaxis] - errors)
    # The tolerances are rounding of sums of 250,000 terms.
    np.testing.assert_allclose(lent.crps[t], np.mean(np.abs(errors - at)) - pairs.mean() / 2, rtol=1e-10)
    np.testing.assert_allclose(lent.lower[t], point[t] + np.quantile(errors, 0.05), rtol=1e-10)
    np.testing.assert_allclose(lent.upper[t], point[t] + np.quantile(errors, 0.95), rtol=1e-10)
    spread = min(np.std(errors), np.subtract(*np.quantile(errors, [0.75, 0.25])) / 1.34)
    bandwidth = 0.9 * spread * 500**-0.2
    density = np.mean(stats.t(3).pdf((at - errors) / bandwidth)) / bandwidth
    np.testing.assert_allclose(lent.ln_density[t], np.log(density), rtol=1e-10)


def test_the_future_changes_nothing(rng: np.random.Generator) -> None:
    """Forecasts of the first 900 rows are the same whatever follows; a window that includes its own row fails."""
    y, point = rng.standard_normal(1500), rng.standard_normal(1500)
    other = y.copy()
    other[900:] = 1e6
    for name in ("ln_density", "crps", "pit", "lower", "upper"):
        first, second = (getattr(residual_forecast(target, point), name)[:900] for target in (y, other))
        np.testing.assert_array_equal(first, second)


def test_a_certain_forecaster_gets_a_finite_density() -> None:
    """Errors that are all zero have no spread: the density must be large, not infinite."""
    y = np.arange(1000.0)
    assert np.isfinite(residual_forecast(y, y).ln_density).all()

"""The forms of inputs that peers get."""

from __future__ import annotations

import numpy as np
from benchmarks.quality.inputs import inputs, standardised
from benchmarks.quality.problems import Problem


def _problem(rng: np.random.Generator, n_classes: int = 0) -> Problem:
    y = rng.standard_normal(50) if n_classes == 0 else rng.integers(0, n_classes, 50).astype(float)
    return Problem("a stream", rng.normal(1e6, 3.0, size=(50, 2)), y, n_classes, lagged=True)


def test_standardised_uses_only_rows_so_far(rng: np.random.Generator) -> None:
    """Row by row against the definition. Tolerance: a column far from zero loses six digits of sixteen."""
    x = rng.normal(1e6, 3.0, size=(50, 2))
    for t in (1, 7, 49):
        so_far = x[: t + 1]
        np.testing.assert_allclose(standardised(x)[t], (x[t] - so_far.mean(0)) / so_far.std(0), rtol=1e-6, atol=1e-8)


def test_a_constant_column_is_zero() -> None:
    x = np.full((20, 1), 1234.5678)
    np.testing.assert_array_equal(standardised(x), 0.0)


def test_the_last_target_is_the_one_before(rng: np.random.Generator) -> None:
    """A peer that were given its own target would look perfect."""
    problem = _problem(rng)
    with_last = inputs(problem, "raw+last")
    np.testing.assert_array_equal(with_last[:, :2], problem.X)
    np.testing.assert_array_equal(with_last[1:, 2], problem.y[:-1])
    assert with_last[0, 2] == 0.0


def test_many_classes_are_indicators_where_scale_matters(rng: np.random.Generator) -> None:
    problem = _problem(rng, n_classes=4)
    assert inputs(problem, "raw+last").shape == (50, 3)
    assert inputs(problem, "standardised+last").shape == (50, 6)

"""Friedman's function of five inputs, stationary and drifting (the paper's figures 2, 4 and 5)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sapwood.datasets._check import at_least
from sapwood.datasets._stream import Stream

Floats = NDArray[np.float64]

_FEATURES = ("x1", "x2", "x3", "x4", "x5")


def _surface(x: Floats, amplitude: Floats | float) -> Floats:
    """The regression surface; ``amplitude`` is the paper's a_t, the coefficient of the interaction."""
    interaction = 10.0 * np.sin(np.pi * x[:, 0] * x[:, 1])
    rest: Floats = 20.0 * (x[:, 2] - 0.5) ** 2 + 10.0 * x[:, 3] + 5.0 * x[:, 4]
    return amplitude * interaction + rest


def _observe(n: int, amplitude: Floats | float, noise: float, seed: int, description: str) -> Stream:
    # Published numbers depend on the order of the draws: all inputs first, then all noise.
    r = np.random.default_rng(seed)
    x = r.random((n, 5))
    truth = _surface(x, amplitude)
    y = truth + noise * r.standard_normal(n)
    return Stream(x, y, truth, _FEATURES, "regression", description)


def friedman(n: int = 3000, noise: float = 1.0, seed: int = 0) -> Stream:
    """Friedman's function, without drift.

    ``y = 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5 + N(0, noise^2)``, inputs uniform on the unit cube.

    Parameters
    ----------
    n : int
        Number of rows. The usual experiment learns from the first 2000 and tests on the last 1000.
    noise : float
        Standard deviation of the noise.
    seed : int
        Seed of ``numpy.random.default_rng``.

    Examples
    --------
    >>> from sapwood.datasets import friedman
    >>> friedman(n=2000, seed=1).X.shape
    (2000, 5)
    """
    at_least("n", n, 1)
    at_least("noise", noise, 0.0)
    return _observe(n, 1.0, noise, seed, "Friedman's function of five uniform inputs, no drift")


def drifting_friedman(n: int = 10_000, k: float = 1.0, noise: float = 1.0, per_step: int = 1, seed: int = 0) -> Stream:
    """Friedman's function with an interaction oscillating between -1 and 3 times its strength (the paper's figure 4).

    The first term is multiplied by ``a_t = 2 sin(2 pi k t / 1000) + 1``, with t = 0 for the first row.

    Parameters
    ----------
    n : int
        Number of rows.
    k : float
        Speed of the drift: k cycles every 1000 steps. The paper uses 1 (fast) and 0.1 (slow).
    noise : float
        Standard deviation of the noise.
    per_step : int
        Rows per value of t. The paper draws five rows per step, tests on them and then learns them.
    seed : int
        Seed of ``numpy.random.default_rng``.

    Examples
    --------
    >>> from sapwood.datasets import drifting_friedman
    >>> slow = drifting_friedman(n=5000, k=0.1)
    >>> len(slow)
    5000
    """
    at_least("n", n, 1)
    at_least("noise", noise, 0.0)
    at_least("per_step", per_step, 1)
    t = np.arange(n) // per_step
    amplitude = 2.0 * np.sin(2.0 * np.pi * k * t / 1000.0) + 1.0
    return _observe(n, amplitude, noise, seed, f"Friedman's function with a drifting interaction, k = {k:g}")


def height(
    n: int = 30_000,
    rise: int = 10_000,
    fall: int = 20_000,
    amplitude: float = 10.0,
    noise: float = 1.0,
    seed: int = 0,
) -> Stream:
    """Friedman's function that is simple, then complex, then simple again (the paper's figure 5).

    The first term is multiplied by ``amplitude`` for rows ``rise <= t < fall`` and by zero otherwise, so that a tree
    should grow tall at ``rise`` and shrink back after ``fall``.

    Parameters
    ----------
    n : int
        Number of rows.
    rise, fall : int
        First row of the complex segment and of the simple segment after it.
    amplitude : float
        Coefficient a_t of the interaction in the complex segment.
    noise : float
        Standard deviation of the noise.
    seed : int
        Seed of ``numpy.random.default_rng``.

    Examples
    --------
    >>> from sapwood.datasets import height
    >>> len(height(n=300, rise=100, fall=200))
    300
    """
    at_least("n", n, 1)
    at_least("rise", rise, 0)
    at_least("fall", fall, rise)
    at_least("noise", noise, 0.0)
    t = np.arange(n)
    a_t = np.where((rise <= t) & (t < fall), amplitude, 0.0)
    return _observe(n, a_t, noise, seed, f"Friedman's function, complex from row {rise} to row {fall}")

"""Intervals of the default bank hold at least as many targets as they say, on twenty generated streams."""

from __future__ import annotations

import numpy as np

from sapwood import DynamicTreeRegressor

N_STREAMS, N_ROWS, WARM_UP = 20, 600, 150
LEVELS = (0.5, 0.9)

# Standard deviations of the mean share over all rows by which it may fall short of its level. Of independent hits, as
# likely as stated, six are exceeded once in 10^9.
SIGMAS = 6.0


def _stream(seed):
    """A random line, steps and a wave; the noise is normal, heavy-tailed or uneven, and every other stream drifts."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(N_ROWS, 3))
    slopes, knots, heights = rng.normal(size=3), rng.uniform(-1, 1, size=2), rng.normal(size=2)
    shift = np.linspace(0, 1, N_ROWS) * rng.normal() if seed % 2 else 0.0
    y = X @ slopes + shift + (X[:, 0] > knots[0]) * heights[0] + (X[:, 1] > knots[1]) * heights[1] + np.sin(3 * X[:, 2])
    noise = [
        rng.normal(size=N_ROWS),
        rng.standard_t(4, size=N_ROWS) / np.sqrt(2),
        rng.normal(size=N_ROWS) * (0.5 + (X[:, 1] > 0)),
    ]
    return X, 10.0 ** rng.integers(-3, 4) * (y + 0.5 * noise[seed % 3])


def _hits(seed):
    """Of every row after the warm-up, whether each interval that was stated before its target came holds it."""
    X, y = _stream(seed)
    model = DynamicTreeRegressor(random_state=seed).fit(X[:WARM_UP], y[:WARM_UP])
    hits = []
    for row in range(WARM_UP, N_ROWS):
        own = X[row : row + 1]
        ahead = model.predict_dist(own)
        ends = [ahead.interval(level) for level in LEVELS]
        hits.append([float(low[0] <= y[row] <= high[0]) for low, high in ends])
        model.partial_fit(own, y[row : row + 1])
    return np.mean(hits, axis=0)


def test_intervals_hold_what_they_say():
    """They are too wide while the sharpness is being learned: .540 at 50 % and .913 at 90 % were measured."""
    shares = np.mean([_hits(seed) for seed in range(N_STREAMS)], axis=0)
    n = N_STREAMS * (N_ROWS - WARM_UP)
    for share, level in zip(shares, LEVELS, strict=True):
        least = level - SIGMAS * np.sqrt(level * (1 - level) / n)
        assert share > least, f"{share:.3f} of the {level:.0%} intervals hold their target, {least:.3f} expected"

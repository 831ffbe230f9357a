"""The H-measure compared with its definition, integrated numerically, and with an independent package."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import integrate, stats

from sapwood.metrics import h_measure


def sample(seed, n=400, shift=1.2, share1=0.3, ties=False):
    r = np.random.default_rng(seed)
    y = (r.random(n) < share1).astype(int)
    score = r.standard_normal(n) + shift * y
    return y, (np.round(score, 0) if ties else score)


def by_definition(y, score, a, b):
    """1 - L / L0 with the minimum over every threshold, no hull, integrated between the costs where it switches."""
    share1 = y.mean()
    thresholds = np.concatenate([[-np.inf], np.unique(score), [np.inf]])
    false_alarm = np.array([np.mean(score[y == 0] >= t) for t in thresholds])
    miss = np.array([np.mean(score[y == 1] < t) for t in thresholds])

    def loss(c, fpr, fnr):
        return np.min(c * (1 - share1) * fpr + (1 - c) * share1 * fnr) * stats.beta.pdf(c, a, b)

    # The integrand has a kink wherever the best threshold changes: integrate between kinks found on a fine grid.
    grid = np.linspace(0, 1, 20001)
    best = [np.argmin(c * (1 - share1) * false_alarm + (1 - c) * share1 * miss) for c in grid]
    near = grid[np.flatnonzero(np.diff(best))]
    edges = np.unique(np.concatenate([[0, share1, 1], near, near + grid[1]]))

    def total(fpr, fnr):
        pieces = itertools.pairwise(edges)
        return sum(integrate.quad(loss, low, high, args=(fpr, fnr), epsabs=1e-13)[0] for low, high in pieces)

    return 1 - total(false_alarm, miss) / total(np.array([0.0, 1.0]), np.array([1.0, 0.0]))


@pytest.mark.parametrize(
    ("seed", "shift", "share1", "ties"),
    [(1, 1.2, 0.3, False), (2, 0.3, 0.05, False), (3, 2.5, 0.6, True), (4, -0.5, 0.4, False)],
)
@pytest.mark.parametrize("cost_weight", ["hand2009", "hand2014", (2.0, 5.0)])
def test_agrees_with_the_definition(seed, shift, share1, ties, cost_weight):
    """Fails if the hull is built from the wrong side, the costs are swapped or the no-skill loss is wrong."""
    y, score = sample(seed, shift=shift, share1=share1, ties=ties)
    beta = {"hand2009": (2, 2), "hand2014": (1 + y.mean(), 2 - y.mean())}.get(cost_weight, cost_weight)
    assert h_measure(y, score, cost_weight) == pytest.approx(by_definition(y, score, *beta), abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("ties", [False, True])
def test_agrees_with_the_hmeasure_package(seed, ties):
    package = pytest.importorskip("hmeasure")
    y, score = sample(seed, n=1000, ties=ties)
    score = 1 / (1 + np.exp(-score))  # the package takes scores in [0, 1] only
    assert h_measure(y, score) == pytest.approx(package.h_score(y, score, severity_ratio=1), abs=1e-9)
    assert h_measure(y, score, "hand2014") == pytest.approx(package.h_score(y, score, severity_ratio=-1), abs=1e-9)


def test_ends_of_the_scale():
    y = np.array([0, 0, 1, 1, 1])
    assert h_measure(y, [0.0, 0.1, 0.5, 0.6, 0.7]) == pytest.approx(1.0, abs=1e-15)
    assert h_measure(y, np.ones(5)) == pytest.approx(0.0, abs=1e-15)
    assert h_measure(y, [0.9, 0.8, 0.3, 0.2, 0.1]) == pytest.approx(0.0, abs=1e-15)
    assert np.isnan(h_measure([1, 1], [0.2, 0.3]))


def test_only_the_order_of_scores_matters():
    y, score = sample(8)
    assert h_measure(y, score) == h_measure(y, np.exp(3 * score))


def test_bad_arguments():
    with pytest.raises(ValueError, match="cost_weight is 'hand'; it must be 'hand2009'"):
        h_measure([0, 1], [0.1, 0.2], "hand")
    with pytest.raises(ValueError, match="y holds 2; with one score per row it may contain only 0 and 1"):
        h_measure([0, 2], [0.1, 0.2])

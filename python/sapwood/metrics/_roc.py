"""Ranking metrics from counts of negatives and positives at each score, lowest score first."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression
from scipy.special import betainc

Floats = NDArray[np.float64]
CostWeight = Literal["hand2009", "hand2014"] | tuple[float, float]


def counts_by_score(score: Floats, positive: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Negatives and positives at each distinct score, lowest first."""
    distinct, position = np.unique(score, return_inverse=True)
    n = np.bincount(position, minlength=len(distinct)).astype(np.float64)
    n1 = np.bincount(position[positive], minlength=len(distinct)).astype(np.float64)
    return n - n1, n1


def auc_of_counts(n0: Floats, n1: Floats) -> float:
    """Probability that a positive scores above a negative, counting ties as half; NaN unless there are both."""
    pairs = n0.sum() * n1.sum()
    if pairs == 0.0:
        return float("nan")
    below = np.cumsum(n0) - 0.5 * n0
    return float(np.sum(n1 * below) / pairs)


def auc_slack(n0: Floats, n1: Floats) -> float:
    """Maximum error of the AUC due to scores in the same bin counting as ties."""
    pairs = n0.sum() * n1.sum()
    return float(0.5 * np.sum(n0 * n1) / pairs) if pairs else float("nan")


def cost_parameters(weight: CostWeight, share1: float) -> tuple[float, float]:
    """Parameters of the Beta density over the relative cost of a false alarm."""
    if weight == "hand2009":
        return 2.0, 2.0
    if weight == "hand2014":
        return 1.0 + share1, 2.0 - share1
    if isinstance(weight, tuple) and len(weight) == 2 and min(weight) > 0:
        return weight
    raise ValueError(
        f"cost_weight is {weight!r}; it must be 'hand2009', 'hand2014', or a pair of positive Beta parameters."
    )


def h_of_counts(n0: Floats, n1: Floats, weight: CostWeight = "hand2009") -> float:
    """H-measure; NaN unless there are both classes. See :func:`sapwood.metrics.h_measure` for the definition."""
    total0, total1 = n0.sum(), n1.sum()
    if total0 == 0.0 or total1 == 0.0:
        return float("nan")
    share1 = total1 / (total0 + total1)
    share0 = 1.0 - share1
    a, b = cost_parameters(weight, share1)
    fpr, tpr = _hull(n0[::-1] / total0, n1[::-1] / total1)
    gain1, gain0 = share1 * np.diff(tpr), share0 * np.diff(fpr)
    # The threshold at vertex i is the best one for costs between those at which it ties with its neighbours.
    cost = np.concatenate([[1.0], gain1 / (gain1 + gain0), [0.0]])

    def false_alarm_mass(c: Floats) -> Floats:
        """Integral of c w(c) from 0 to c."""
        mass: Floats = a / (a + b) * betainc(a + 1.0, b, c)
        return mass

    def miss_mass(c: Floats) -> Floats:
        """Integral of (1 - c) w(c) from 0 to c."""
        mass: Floats = b / (a + b) * betainc(a, b + 1.0, c)
        return mass

    loss = np.sum(share0 * fpr * -np.diff(false_alarm_mass(cost)) + share1 * (1.0 - tpr) * -np.diff(miss_mass(cost)))
    no_skill = share0 * false_alarm_mass(share1) + share1 * (b / (a + b) - miss_mass(share1))
    return float(1.0 - loss / no_skill)


def h_slack(n0: Floats, n1: Floats, weight: CostWeight = "hand2009") -> float:
    """Maximum excess of the H-measure over that of the bins, reached if every bin were perfectly ordered."""
    ordered0 = np.ravel(np.column_stack([n0, np.zeros_like(n0)]))
    ordered1 = np.ravel(np.column_stack([np.zeros_like(n1), n1]))
    return h_of_counts(ordered0, ordered1, weight) - h_of_counts(n0, n1, weight)


def _hull(false_alarms: Floats, hits: Floats) -> tuple[Floats, Floats]:
    """Vertices of the upper convex hull of the ROC curve from (0, 0) to (1, 1), computed from its steps."""
    # Its slopes are the isotonic regression of those of the steps: steps steeper than their predecessors are pooled.
    size = false_alarms + hits
    across, up, size = (values[size > 0.0] for values in (false_alarms, hits, size))
    slope = isotonic_regression(up / size, weights=size, increasing=False).x
    sides = np.flatnonzero(np.diff(slope, prepend=np.inf))
    run, rise = np.add.reduceat(across, sides), np.add.reduceat(up, sides)
    return np.concatenate([[0.0], np.cumsum(run)]), np.concatenate([[0.0], np.cumsum(rise)])

"""Every metric as a function of whole arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sapwood.metrics._base import Metric
from sapwood.metrics._classification import Accuracy, Brier, Ece, LogLoss
from sapwood.metrics._forecast import ClassForecast
from sapwood.metrics._ranking import Auc, HMeasure
from sapwood.metrics._regression import PitHistogram
from sapwood.metrics._roc import CostWeight, counts_by_score

Floats = NDArray[np.float64]


def _classes(y: ArrayLike, proba: ArrayLike) -> ClassForecast:
    p = np.asarray(proba, dtype=np.float64)
    return ClassForecast(y, np.column_stack([1.0 - p, p]) if p.ndim == 1 else p)


def _exact(metric: Metric[ClassForecast, float], y: ArrayLike, proba: ArrayLike) -> float:
    return metric._reduce(metric._checked_terms(_classes(y, proba)))


def _rank(metric: Auc | HMeasure, y: ArrayLike, score: ArrayLike) -> float:
    scores = np.asarray(score, dtype=np.float64)
    if scores.ndim != 1:
        return _exact(metric, y, scores)
    labels, scores = _pair(y, scores)
    strange = np.setdiff1d(labels, [0.0, 1.0])
    if len(strange):
        raise ValueError(f"y holds {strange[0]:g}; with one score per row it may contain only 0 and 1.")
    return metric._of_counts(*counts_by_score(scores, labels == 1.0))


def _pair(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"the arrays have shapes {a.shape} and {b.shape}; they must be 1-D and equally long.")
    return a, b


def accuracy(y: ArrayLike, proba: ArrayLike) -> float:
    """Share of rows whose most probable class was correct.

    Parameters
    ----------
    y : array-like of shape (n,)
        Class indices 0, 1, ...
    proba : array-like of shape (n, n_classes) or (n,)
        Class probabilities; if one-dimensional, those of class 1 of two. The other functions of class forecasts take
        the same arguments.

    Examples
    --------
    >>> from sapwood.metrics import accuracy
    >>> accuracy([0, 1, 1], [0.2, 0.7, 0.4])
    0.6666666666666666
    """
    return _exact(Accuracy(), y, proba)


def log_loss(y: ArrayLike, proba: ArrayLike) -> float:
    """Mean of minus the log probability of the observed class; infinite if it was ever zero.

    Examples
    --------
    >>> from sapwood.metrics import log_loss
    >>> round(log_loss([1, 0], [0.5, 0.5]), 4)
    0.6931
    """
    return _exact(LogLoss(), y, proba)


def brier(y: ArrayLike, proba: ArrayLike) -> float:
    """Mean squared distance between the probabilities and the indicator of the observed class, halved for two classes.

    Examples
    --------
    >>> from sapwood.metrics import brier
    >>> round(brier([1], [0.7]), 4)
    0.09
    """
    return _exact(Brier(), y, proba)


def ece(y: ArrayLike, proba: ArrayLike, n_bins: int = 15) -> float:
    """Expected calibration error of the most probable class (see :class:`sapwood.metrics.Ece`).

    Examples
    --------
    >>> from sapwood.metrics import ece
    >>> round(ece([0, 1], [0.1, 0.1]), 4)
    0.4
    """
    return _exact(Ece(n_bins), y, proba)


def auc(y: ArrayLike, proba: ArrayLike) -> float:
    """Exact area under the ROC curve; with more than two classes, the mean one-vs-rest AUC of the observed classes.

    NaN if only one class was observed. Two-class scores may be any increasing function of the probability.

    Examples
    --------
    >>> from sapwood.metrics import auc
    >>> auc([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8])
    0.875
    """
    return _rank(Auc(), y, proba)


def h_measure(y: ArrayLike, proba: ArrayLike, cost_weight: CostWeight = "hand2009") -> float:
    """Hand's H-measure, exactly: one minus the expected minimum loss relative to that of a classifier without skill.

    A false alarm (class 0 predicted as 1) costs c and a miss costs 1 - c, and c is drawn from a Beta density w. With
    class shares ``pi0`` and ``pi1``, false alarm rate FPR and hit rate TPR at a threshold t,

    ``L = integral over c of w(c) * min over t of { c pi0 FPR(t) + (1 - c) pi1 (1 - TPR(t)) }``,

    and ``H = 1 - L / L0``, where ``L0`` allows only the two thresholds that always predict the same class. The minimum
    is attained on the convex hull of the ROC curve, between whose corners the integral is an incomplete beta function.

    Parameters
    ----------
    y : array-like of shape (n,)
        Class indices.
    proba : array-like of shape (n,) or (n, n_classes)
        Scores of class 1 (any increasing function of its probability), or class probabilities: with more than two
        classes, the mean of the one-vs-rest values of the observed classes.
    cost_weight : {"hand2009", "hand2014"} or (a, b)
        "hand2009": Beta(2, 2) (Hand 2009). "hand2014": Beta(pi1 + 1, pi0 + 1) (Hand and Anagnostopoulos 2014), whose
        mode weights the classes by their shares. Or the two parameters of a Beta density.

    Returns
    -------
    float
        At most 1, and 0 without skill; NaN if only one class was observed.

    Examples
    --------
    >>> from sapwood.metrics import h_measure
    >>> h_measure([0, 0, 1, 1], [0.1, 0.4, 0.6, 0.8])
    1.0
    >>> round(h_measure([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.8]), 4)
    0.5
    """
    return _rank(HMeasure(cost_weight), y, proba)


def rmse(y: ArrayLike, mean: ArrayLike) -> float:
    """Root of the mean squared error.

    Examples
    --------
    >>> from sapwood.metrics import rmse
    >>> rmse([1.0, 2.0], [1.0, 4.0]) == 2**0.5
    True
    """
    a, b = _pair(y, mean)
    return float(np.sqrt(np.mean((a - b) ** 2)))


def mae(y: ArrayLike, mean: ArrayLike) -> float:
    """Mean absolute error.

    Examples
    --------
    >>> from sapwood.metrics import mae
    >>> mae([1.0, 2.0], [1.0, 4.0])
    1.0
    """
    a, b = _pair(y, mean)
    return float(np.mean(np.abs(a - b)))


def log_score(ln_density: ArrayLike) -> float:
    """Mean log predictive density of the observed targets, from the log density of each row.

    Examples
    --------
    >>> from sapwood.metrics import log_score
    >>> log_score([-1.0, -2.0])
    -1.5
    """
    return float(np.mean(np.asarray(ln_density, dtype=np.float64)))


def crps(crps_of_row: ArrayLike) -> float:
    """Mean continuous ranked probability score, from the score of each row.

    The engine computes the score of each row exactly; :func:`sapwood.metrics.crps_student_t` and
    :func:`sapwood.metrics.crps_student_t_mixture` compute one from a distribution.

    Examples
    --------
    >>> from sapwood.metrics import crps
    >>> crps([0.25, 0.75])
    0.5
    """
    return float(np.mean(np.asarray(crps_of_row, dtype=np.float64)))


def coverage90(y: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> float:
    """Share of rows inside the interval from the 5 % to the 95 % quantile, endpoints included.

    Examples
    --------
    >>> from sapwood.metrics import coverage90
    >>> coverage90([1.0, 5.0], [0.0, 0.0], [2.0, 2.0])
    0.5
    """
    a, low = _pair(y, lower)
    _, high = _pair(y, upper)
    return float(np.mean((low <= a) & (a <= high)))


def width90(lower: ArrayLike, upper: ArrayLike) -> float:
    """Mean width of the interval from the 5 % to the 95 % quantile.

    Examples
    --------
    >>> from sapwood.metrics import width90
    >>> width90([0.0, 0.0], [2.0, 4.0])
    3.0
    """
    low, high = _pair(lower, upper)
    return float(np.mean(high - low))


def pit_histogram(pit: ArrayLike, n_bins: int = 20) -> Floats:
    """Heights (mean 1) of the histogram of the predictive distribution function at the observed targets.

    Examples
    --------
    >>> from sapwood.metrics import pit_histogram
    >>> pit_histogram([0.1, 0.2, 0.9, 0.4], n_bins=2)
    array([1.5, 0.5])
    """
    return PitHistogram(n_bins)._reduce(np.asarray(pit, dtype=np.float64)[:, np.newaxis])

"""Online linear discriminant analysis with an adaptive learning rate."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from sapwood.baselines._discriminant import StreamingDiscriminant, in_interval
from sapwood.baselines._tracking import RunningSpread

Floats = NDArray[np.float64]


class OLDAALR(StreamingDiscriminant):
    """OLDA-ALR: an online linear discriminant whose learning rate rises when its errors do.

    Class means, class shares and the covariance within classes move towards each row at a rate rho. After Kuncheva and
    Plumpton (2008), "Adaptive learning rate for online linear discriminant classifiers", the rate follows the change of
    the error e over the last ``window`` forecasts,

    ``rho <- rho^(1 + e_before - e_now)``,

    so that rising errors raise it (rho < 1) and falling errors lower it. Since the changes of e add up, rho stays
    close to ``rate^exp(e_start - e_now)``. It is constant until the window is full.

    Let ``rho_n = max(rho, 1/n)`` after n rows in all and ``rho_k = max(rho, 1/n_k)`` after n_k rows of the class, so
    that estimates begin as plain averages. With ``d = x - m_k`` before the update,

    ``m_k <- m_k + rho_k d``, ``S <- (1 - rho_n) S + rho_n (1 - rho_k) d d^T``,
    ``share_j <- share_j + rho_n (1[j = k] - share_j)``.

    With rho = 0 these are exactly the estimates of linear discriminant analysis. The covariance used is
    ``C = (S + rho_n D) / (1 + rho_n)``, where D holds the overall variances of the columns with the weight of one row,
    which keeps C invertible. The linear system is solved for each row: the result is that of updating the inverse, but
    rounding errors do not accumulate. A class without rows has the mean of all rows.

    Parameters
    ----------
    rate : float
        Initial learning rate, between 0 and 1.
    window : int
        Number of forecasts over which the error is computed.
    rate_min, rate_max : float
        Limits of the learning rate.

    Attributes
    ----------
    classes_ : ndarray
        Labels seen so far, sorted.
    rate_ : float
        Current learning rate.

    Examples
    --------
    >>> import numpy as np
    >>> from sapwood.baselines import OLDAALR
    >>> r = np.random.default_rng(0)
    >>> y = r.integers(0, 2, 1000)
    >>> X = r.standard_normal((1000, 2)) + 2.0 * y[:, None]
    >>> proba = OLDAALR().forecast_then_learn(X, y)
    >>> bool(np.mean(proba.argmax(axis=1) == y) > 0.9)
    True
    """

    def __init__(self, rate: float = 0.01, window: int = 100, rate_min: float = 1e-4, rate_max: float = 0.5) -> None:
        self.rate = rate
        self.window = window
        self.rate_min = rate_min
        self.rate_max = rate_max

    @property
    def rate_(self) -> float:
        return self._rate

    def _start(self, n_inputs: int) -> None:
        in_interval("rate_min", self.rate_min, 0.0, 1.0)
        in_interval("rate_max", self.rate_max, self.rate_min, 1.0)
        in_interval("rate", self.rate, self.rate_min, self.rate_max)
        in_interval("window", self.window, 1, np.inf)
        self._rate = self.rate
        self._mistakes: deque[bool] = deque(maxlen=int(self.window))
        self._n_rows = 0
        self._spread = RunningSpread(n_inputs)
        self._scatter = np.zeros((n_inputs, n_inputs))
        self._count = np.zeros(0)
        self._mean = np.zeros((0, n_inputs))
        self._share = np.zeros(0)

    def _place(self, old: NDArray[np.intp], n_classes: int) -> None:
        count, share = np.zeros(n_classes), np.zeros(n_classes)
        mean = np.zeros((n_classes, self._mean.shape[1]))
        count[old], share[old], mean[old] = self._count, self._share, self._mean
        self._count, self._share, self._mean = count, share, mean
        self._solve()

    def _pooled_rate(self) -> float:
        return max(self._rate, 1.0 / max(self._n_rows, 1))

    def _solve(self) -> None:
        """Coefficients of the linear discriminants ``w_k . x + b_k``."""
        rate = self._pooled_rate()
        variance = self._spread.variance()
        covariance = (self._scatter + rate * np.diag(variance)) / (1.0 + rate)
        scale = np.sqrt(np.diag(covariance))
        # Centred and scaled, so that neither the location nor the units of the columns cost precision.
        centred = np.where(self._count[:, np.newaxis] > 0, self._mean - self._spread.mean, 0.0) / scale
        weight = np.linalg.solve(covariance / np.outer(scale, scale), centred.T).T
        n_classes = len(self._share)
        ln_share = np.log((self._share + rate / n_classes) / (1.0 + rate))
        self._weight = weight / scale
        self._offset = ln_share - 0.5 * np.sum(weight * centred, axis=1)
        self._centre = self._spread.mean

    def _ln_joint(self, x: Floats) -> Floats:
        ln_joint: Floats = (x - self._centre) @ self._weight.T + self._offset
        return ln_joint

    def _learn(self, x: Floats, label: int) -> None:
        self._adapt(mistake=bool(np.argmax(self._ln_joint(x[np.newaxis])[0]) != label))
        self._n_rows += 1
        self._count[label] += 1.0
        pooled, own = self._pooled_rate(), max(self._rate, 1.0 / self._count[label])
        gap = x - self._mean[label]
        self._mean[label] += own * gap
        self._scatter = (1.0 - pooled) * self._scatter + pooled * (1.0 - own) * np.outer(gap, gap)
        self._share *= 1.0 - pooled
        self._share[label] += pooled
        self._spread.observe(x)
        self._solve()

    def _adapt(self, *, mistake: bool) -> None:
        full = len(self._mistakes) == self._mistakes.maxlen
        leaving = self._mistakes[0] if full else False
        self._mistakes.append(mistake)
        if full:
            change = (int(mistake) - int(leaving)) / len(self._mistakes)
            self._rate = min(self.rate_max, max(self.rate_min, self._rate ** (1.0 - change)))

"""The recursions of QDA-AF: estimates with forgetting, and their derivatives with respect to the forgetting factor.

An estimate with forgetting factor lambda weights the row seen s rows ago by ``lambda^s``. A prime denotes the
derivative with respect to lambda, computed as if lambda had always had its current value.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_LN_2_PI = float(np.log(2.0 * np.pi))


class Forgetting:
    """A forgetting factor that follows the gradient of the one-step-ahead log likelihood.

    ``lambda <- lambda + step * d ln p(next row) / d lambda``, clipped to ``[least, 1]``.
    """

    def __init__(self, step: float, least: float) -> None:
        self.step = step
        self.least = least
        self.value = 1.0

    def climb(self, gradient: float) -> None:
        self.value = min(1.0, max(self.least, self.value + self.step * gradient))


class TrackedShares:
    """Class shares from counts with forgetting.

    ``c_k <- lambda c_k + 1[y = k]``, and ``c_k' <- lambda c_k' + c_k``. With N the sum of the counts and K classes, the
    share of class k is ``(c_k + 1/K) / (N + 1)``; its log has the derivative ``c_k' / (c_k + 1/K) - N' / (N + 1)``.
    """

    def __init__(self, n_classes: int, forgetting: Forgetting) -> None:
        self.forgetting = forgetting
        self._count = np.zeros(n_classes)
        self._slope = np.zeros(n_classes)

    def place(self, old: NDArray[np.intp], n_classes: int) -> None:
        """Move the known classes to the positions ``old`` of ``n_classes``."""
        count, slope = np.zeros(n_classes), np.zeros(n_classes)
        count[old], slope[old] = self._count, self._slope
        self._count, self._slope = count, slope

    def ln_share(self) -> Floats:
        n_classes = len(self._count)
        ln_share: Floats = np.log((self._count + 1.0 / n_classes) / (self._count.sum() + 1.0))
        return ln_share

    def gradient(self, label: int) -> float:
        """Derivative of the log share of ``label`` with respect to the forgetting factor."""
        count = self._count[label] + 1.0 / len(self._count)
        return float(self._slope[label] / count - self._slope.sum() / (self._count.sum() + 1.0))

    def observe(self, label: int) -> None:
        factor = self.forgetting.value
        self._slope = factor * self._slope + self._count
        self._count *= factor
        self._count[label] += 1.0


class RunningSpread:
    """Mean and variance of every column over all rows, without forgetting: the scale for regularising a class."""

    def __init__(self, n_inputs: int) -> None:
        self.n_rows = 0
        self.mean = np.zeros(n_inputs)
        self._squares = np.zeros(n_inputs)

    def observe(self, x: Floats) -> None:
        self.n_rows += 1
        gap = x - self.mean
        self.mean = self.mean + gap / self.n_rows
        self._squares += gap * (x - self.mean)

    def constant(self) -> NDArray[np.bool_]:
        """Columns with a single value so far."""
        return np.equal(self._squares, 0.0)

    def variance(self) -> Floats:
        """Variances; 1 for columns that have been constant."""
        return np.where(self.constant(), 1.0, self._squares / max(self.n_rows, 1))


class TrackedGaussian:
    """A Gaussian whose mean and covariance are estimated with forgetting.

    With ``alpha = 1/n`` and ``d = x - mu`` (before the update), the effective sample size n, the mean and the
    covariance follow

    ``n <- lambda n + 1``, ``mu <- mu + alpha d``, ``S <- (1 - alpha) (S + alpha d d^T)``,

    and, since ``d' = -mu'`` and ``alpha' = -n' / n^2``, their derivatives

    ``n' <- lambda n' + n``, ``mu' <- (1 - alpha) mu' + alpha' d``,
    ``S' <- -alpha' (S + alpha d d^T) + (1 - alpha) (S' + alpha' d d^T + alpha (d' d^T + d d'^T))``.

    The covariance used is ``C = (n S + D) / (n + 1)``: the overall variances D, with the weight of one row, keep it
    positive definite however much was forgotten, and their influence vanishes as n grows. Its derivative is
    ``C' = (n' (S - C) + n S') / (n + 1)``. D is updated with every row of the class, and whenever the total number of
    rows has doubled. A column that has been constant over all classes gets variance 1, so that it has the same effect
    on each class.

    The log density at x, with ``e = C^-1 d``, has the derivative ``e^T mu' + (e^T C' e - tr(C^-1 C')) / 2``.
    """

    def __init__(self, forgetting: Forgetting, spread: RunningSpread) -> None:
        p = len(spread.mean)
        self.forgetting = forgetting
        self._spread = spread
        self.n_rows = 0
        self._n = self._n_slope = 0.0
        self.mean, self._mean_slope = np.zeros(p), np.zeros(p)
        self._raw, self._raw_slope = np.zeros((p, p)), np.zeros((p, p))
        self._refresh()

    @property
    def effective_n(self) -> float:
        """Effective sample size of the estimate."""
        return self._n

    @property
    def covariance(self) -> Floats:
        """The regularised covariance C."""
        return self._blend() + np.diag(self._constant.astype(np.float64))

    def _blend(self) -> Floats:
        blend: Floats = (self._n * self._raw + np.diag(self._variance)) / (self._n + 1.0)
        return blend

    def ln_density(self, x: Floats) -> Floats:
        """Log density of every row of ``x``. A class without rows has the mean and variances of all rows."""
        if self.n_rows == 0:
            variance = self._spread.variance()
            square = np.sum((x - self._spread.mean) ** 2 / variance, axis=1)
            ln_det = float(np.sum(np.log(variance)))
        else:
            square = np.sum(((x - self.mean) @ self._whiten.T) ** 2, axis=1)
            ln_det = self._ln_det
        ln_density: Floats = -0.5 * (x.shape[1] * _LN_2_PI + ln_det + square)
        return ln_density

    def gradient(self, x: Floats) -> float:
        """Derivative of the log density of one row with respect to the forgetting factor."""
        precision = self._whiten.T @ self._whiten
        pulled = precision @ (x - self.mean)
        slope = (self._n_slope * (self._raw - self._blend()) + self._n * self._raw_slope) / (self._n + 1.0)
        return float(pulled @ self._mean_slope + 0.5 * (pulled @ slope @ pulled - np.sum(precision * slope)))

    def observe(self, x: Floats) -> None:
        factor = self.forgetting.value
        self.n_rows += 1
        self._n_slope = factor * self._n_slope + self._n
        self._n = factor * self._n + 1.0
        alpha = 1.0 / self._n
        alpha_slope = -self._n_slope * alpha * alpha
        d = x - self.mean
        square = np.outer(d, d)
        cross = np.outer(self._mean_slope, d)
        spread = self._raw + alpha * square
        inner = self._raw_slope + alpha_slope * square - alpha * (cross + cross.T)
        self._raw_slope = (1.0 - alpha) * inner - alpha_slope * spread
        self._raw = (1.0 - alpha) * spread
        self._mean_slope = (1.0 - alpha) * self._mean_slope + alpha_slope * d
        self.mean = self.mean + alpha * d
        self._refresh()

    def refresh_if_due(self) -> None:
        """Update the overall variances once their number of rows has doubled."""
        if self._spread.n_rows >= 2 * self._refreshed_at:
            self._refresh()

    def _refresh(self) -> None:
        self._refreshed_at = max(self._spread.n_rows, 1)
        self._constant = self._spread.constant()
        self._variance = np.where(self._constant, 0.0, self._spread.variance())
        covariance = self.covariance
        # Factorise correlations, not covariances: columns may differ by many orders of magnitude.
        scale = np.sqrt(np.diag(covariance))
        root = np.linalg.cholesky(covariance / np.outer(scale, scale))
        self._whiten = np.linalg.inv(root) / scale
        self._ln_det = 2.0 * float(np.sum(np.log(np.diag(root)) + np.log(scale)))

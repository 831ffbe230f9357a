"""Quadratic discriminant analysis with adaptive forgetting."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sapwood.baselines._discriminant import StreamingDiscriminant, in_interval
from sapwood.baselines._tracking import Forgetting, RunningSpread, TrackedGaussian, TrackedShares

Floats = NDArray[np.float64]


class QDAAF(StreamingDiscriminant):
    """QDA-AF: quadratic discriminant analysis with forgetting factors that adapt to the stream.

    There is one Gaussian per class and one vector of class shares; each of them has its own forgetting factor.
    Before a row is learned, the factors of its class and of the shares take a gradient step on the log likelihood of
    that row (see :mod:`sapwood.baselines._tracking` for the recursions), and are clipped to ``[least, 1]``. Rows of a
    class age only when another row of that class arrives. After Anagnostopoulos, Tasoulis, Adams, Pavlidis and Hand
    (2012), "Online linear and quadratic discriminant analysis with adaptive forgetting for streaming classification".

    Details which that paper leaves open: the covariance of a class is shrunk towards the overall variances of the
    columns, with the weight of one row, so that it can always be inverted; 1/K is added to the class counts; the factor
    of a class is constant until ``2 (p + 1)`` of its rows have been learned.

    Parameters
    ----------
    step : float
        Step size of the gradient ascent; 0 disables forgetting.
    forgetting_min : float, optional
        Smallest forgetting factor of a class, by default ``1 - 1 / (2 (p + 2))``: the effective sample size is then at
        least twice what a covariance of p inputs needs.
    share_forgetting_min : float
        Smallest forgetting factor of the class shares.

    Attributes
    ----------
    classes_ : ndarray
        Labels seen so far, sorted.
    forgetting_ : ndarray of shape (n_classes,)
        Current forgetting factor of each class.
    share_forgetting_ : float
        Current forgetting factor of the class shares.

    Examples
    --------
    >>> import numpy as np
    >>> from sapwood.baselines import QDAAF
    >>> r = np.random.default_rng(0)
    >>> y = r.integers(0, 2, 1000)
    >>> X = r.standard_normal((1000, 2)) * np.where(y, 3.0, 1.0)[:, None]
    >>> proba = QDAAF().forecast_then_learn(X, y)
    >>> bool(np.mean(proba.argmax(axis=1) == y) > 0.75)
    True
    """

    def __init__(
        self, step: float = 1e-4, forgetting_min: float | None = None, share_forgetting_min: float = 0.5
    ) -> None:
        self.step = step
        self.forgetting_min = forgetting_min
        self.share_forgetting_min = share_forgetting_min

    @property
    def forgetting_(self) -> Floats:
        return np.array([gaussian.forgetting.value for gaussian in self._gaussians])

    @property
    def share_forgetting_(self) -> float:
        return self._shares.forgetting.value

    def _start(self, n_inputs: int) -> None:
        in_interval("step", self.step, 0.0, np.inf)
        in_interval("share_forgetting_min", self.share_forgetting_min, 0.0, 1.0)
        if self.forgetting_min is not None:
            in_interval("forgetting_min", self.forgetting_min, 0.0, 1.0)
        self._spread = RunningSpread(n_inputs)
        self._gaussians: list[TrackedGaussian] = []
        self._shares = TrackedShares(0, Forgetting(self.step, self.share_forgetting_min))

    def _place(self, old: NDArray[np.intp], n_classes: int) -> None:
        p = len(self._spread.mean)
        least = 1.0 - 1.0 / (2.0 * (p + 2)) if self.forgetting_min is None else self.forgetting_min
        placed = [TrackedGaussian(Forgetting(self.step, least), self._spread) for _ in range(n_classes)]
        for position, gaussian in zip(old, self._gaussians, strict=True):
            placed[position] = gaussian
        self._gaussians = placed
        self._shares.place(old, n_classes)

    def _ln_joint(self, x: Floats) -> Floats:
        return np.column_stack([g.ln_density(x) for g in self._gaussians]) + self._shares.ln_share()

    def _learn(self, x: Floats, label: int) -> None:
        gaussian, shares = self._gaussians[label], self._shares
        if gaussian.n_rows >= 2 * (len(x) + 1):
            gaussian.forgetting.climb(gaussian.gradient(x))
        shares.forgetting.climb(shares.gradient(label))
        self._spread.observe(x)
        for other in self._gaussians:
            other.refresh_if_due()
        gaussian.observe(x)
        shares.observe(label)

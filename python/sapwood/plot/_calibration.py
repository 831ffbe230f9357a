"""Calibration of forecasts: PIT histogram, coverage of intervals, reliability of probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from sapwood.metrics import pit_histogram
from sapwood.plot._canvas import BLUE, GREY, INK, RED, SKY, Display, legend_above
from sapwood.plot._model import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sapwood.prequential.result import EvaluationResult

_BINS = 20
_FINE_BINS = 100
_NINETY_PERCENT = 1.6448536269514722  # half width of a standard normal's central 90 % interval


def _pit_counts_of(result: EvaluationResult) -> Floats:
    if result.pit_counts is None:
        raise ValueError("this picture needs forecasts of numbers; for classes draw a ReliabilityDisplay.")
    return np.asarray(result.pit_counts, dtype=np.float64)


class PitDisplay(Display):
    """Histogram of the predictive distribution function at the observed targets. Flat if the forecasts are calibrated.

    A hump in the middle means that intervals are too wide, a U shape that they are too narrow, a slope that the
    forecasts are biased. If rows are independent, 90 % of the bars of a calibrated forecaster lie between the dotted
    lines.

    Parameters
    ----------
    counts : array-like of shape (n_bins,)
        Rows in bins of equal width.

    Examples
    --------
    >>> import numpy as np
    >>> from sapwood.plot import PitDisplay
    >>> PitDisplay.from_predictions(np.linspace(0.005, 0.995, 100), n_bins=4).counts
    array([25., 25., 25., 25.])
    """

    def __init__(self, counts: ArrayLike) -> None:
        self.counts: Floats = np.asarray(counts, dtype=np.float64)

    @classmethod
    def from_predictions(cls, pit: ArrayLike, *, n_bins: int = _BINS, ax: Axes | None = None) -> PitDisplay:
        """Draw values of the predictive distribution function, one per row."""
        values = np.asarray(pit, dtype=np.float64)
        known = values[~np.isnan(values)]
        return cls(pit_histogram(known, n_bins) * len(known) / n_bins).plot(ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, n_bins: int = _BINS, ax: Axes | None = None
    ) -> PitDisplay:
        """Draw the histogram of a model at rows that it has not learned."""
        return cls.from_predictions(estimator.predict_dist(X).cdf(y), n_bins=n_bins, ax=ax)

    @classmethod
    def from_result(cls, result: EvaluationResult, *, ax: Axes | None = None) -> PitDisplay:
        """Draw all scored rows of a prequential run."""
        return cls(_pit_counts_of(result).reshape(_BINS, -1).sum(axis=1)).plot(ax)

    def plot(self, ax: Axes | None = None) -> PitDisplay:
        """Draw, on the given axes or in a new figure."""
        n_bins, n_rows = len(self.counts), self.counts.sum()
        edges = np.linspace(0, 1, n_bins + 1)
        density = self.counts * n_bins / n_rows if n_rows else self.counts
        with self._canvas(ax) as canvas:
            canvas.bar(edges[:-1], density, 1 / n_bins, align="edge", color=SKY, edgecolor="white", linewidth=0.6)
            canvas.axhline(1.0, color=INK, linewidth=1.2, linestyle="--", label="calibrated")
            if n_rows:
                half = _NINETY_PERCENT * np.sqrt((n_bins - 1) / n_rows)
                canvas.axhline(
                    1 - half, color=RED, linewidth=1.2, linestyle=":", label="90 % of calibrated bars lie between"
                )
                canvas.axhline(1 + half, color=RED, linewidth=1.2, linestyle=":")
            canvas.set(xlim=(0, 1), ylim=(0, max(1.6, 1.1 * density.max(initial=0))))
            canvas.set(xlabel="predictive distribution function at the target (PIT)", ylabel="density of rows")
            canvas.set_title("Are the distributions right? (flat is calibrated)")
            canvas.grid(axis="x", visible=False)
            legend_above(canvas)
        return self


class CoverageDisplay(Display):
    """Share of rows inside the central intervals of each level; on the diagonal if the forecasts are calibrated.

    Parameters
    ----------
    level, coverage : array-like of shape (n,)
        Nominal probability of the interval, and share of rows inside.

    Examples
    --------
    >>> import numpy as np
    >>> from sapwood.plot import CoverageDisplay
    >>> display = CoverageDisplay.from_predictions(np.linspace(0, 1, 1001))
    >>> bool(np.allclose(display.level, display.coverage, atol=0.01))
    True
    """

    def __init__(self, level: ArrayLike, coverage: ArrayLike) -> None:
        self.level: Floats = np.asarray(level, dtype=np.float64)
        self.coverage: Floats = np.asarray(coverage, dtype=np.float64)

    @classmethod
    def from_predictions(cls, pit: ArrayLike, *, ax: Axes | None = None) -> CoverageDisplay:
        """Draw from values of the predictive distribution function, one per row."""
        values = np.asarray(pit, dtype=np.float64)
        counts = np.histogram(values[~np.isnan(values)], bins=_FINE_BINS, range=(0, 1))[0]
        return cls._from_counts(counts.astype(np.float64)).plot(ax)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike, *, ax: Axes | None = None) -> CoverageDisplay:
        """Draw from the forecasts of a model at rows that it has not learned."""
        return cls.from_predictions(estimator.predict_dist(X).cdf(y), ax=ax)

    @classmethod
    def from_result(cls, result: EvaluationResult, *, ax: Axes | None = None) -> CoverageDisplay:
        """Draw from a prequential run: every scored row."""
        return cls._from_counts(_pit_counts_of(result)).plot(ax)

    @classmethod
    def _from_counts(cls, counts: Floats) -> CoverageDisplay:
        """The central interval of level 2k/n holds the k bins on either side of one half."""
        half = len(counts) // 2
        pairs = counts[half:] + counts[:half][::-1]
        total = counts.sum()
        inside = np.concatenate([[0.0], np.cumsum(pairs)])
        return cls(np.linspace(0, 1, half + 1), inside / total if total else np.full(half + 1, np.nan))

    def plot(self, ax: Axes | None = None) -> CoverageDisplay:
        """Draw, on the given axes or in a new figure."""
        with self._canvas(ax, (4.6, 4.4)) as canvas:
            _diagonal(canvas)
            canvas.plot(self.level, self.coverage, color=BLUE, linewidth=2.2, label="Sapwood")
            at = np.interp(0.9, self.level, self.coverage)
            canvas.plot([0.9], [at], "o", color=BLUE, markersize=7)
            canvas.annotate(
                f"{at:.1%} in 90 % intervals".replace("%", " %", 1),
                (0.9, at),
                xytext=(0.97, 0.4),
                ha="right",
                arrowprops={"arrowstyle": "-", "color": INK, "linewidth": 0.8},
            )
            canvas.set(xlabel="probability the interval claims", ylabel="share of rows inside")
            canvas.set_title("Do intervals hold what they claim?")
            legend_above(canvas)
        return self


class ReliabilityDisplay(Display):
    """How often the predicted class was correct, against its probability.

    Below the diagonal the forecasts are overconfident, above it underconfident. The size of a point and the bars at the
    bottom show the number of rows.

    Parameters
    ----------
    confidence, accuracy, n_rows : array-like of shape (n_bins,)
        For bins of equal width of the largest probability: its mean, the share of correct rows, and the number of rows.
        Empty bins are left out.

    Examples
    --------
    >>> from sapwood.plot import ReliabilityDisplay
    >>> display = ReliabilityDisplay.from_predictions(["a", "b"], [[0.8, 0.2], [0.2, 0.8]], classes=["a", "b"])
    >>> display.confidence.tolist(), display.accuracy.tolist(), display.n_rows.tolist()
    ([0.8], [1.0], [2.0])
    """

    def __init__(self, confidence: ArrayLike, accuracy: ArrayLike, n_rows: ArrayLike) -> None:
        columns = [np.asarray(values, dtype=np.float64) for values in (confidence, accuracy, n_rows)]
        self.n_bins = len(columns[2])
        full = columns[2] > 0
        self.confidence, self.accuracy, self.n_rows = (values[full] for values in columns)

    @classmethod
    def from_predictions(
        cls, y: ArrayLike, proba: ArrayLike, *, classes: ArrayLike, n_bins: int = 15, ax: Axes | None = None
    ) -> ReliabilityDisplay:
        """Draw probabilities, whose columns follow `classes`, against the observed labels."""
        table = np.asarray(proba, dtype=np.float64)
        right = np.asarray(classes)[table.argmax(axis=1)] == np.asarray(y)
        best = table.max(axis=1)
        bin_of = np.minimum((best * n_bins).astype(np.intp), n_bins - 1)
        n_rows = np.bincount(bin_of, minlength=n_bins)
        sums = (np.bincount(bin_of, weights=values, minlength=n_bins) for values in (best, right.astype(np.float64)))
        confidence, accuracy = (total / np.maximum(n_rows, 1) for total in sums)
        return cls(confidence, accuracy, n_rows).plot(ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, n_bins: int = 15, ax: Axes | None = None
    ) -> ReliabilityDisplay:
        """Draw the reliability of a classifier at rows that it has not learned."""
        return cls.from_predictions(y, estimator.predict_proba(X), classes=estimator.classes_, n_bins=n_bins, ax=ax)

    @classmethod
    def from_result(cls, result: EvaluationResult, *, ax: Axes | None = None) -> ReliabilityDisplay:
        """Draw all scored rows of a prequential run."""
        if result.reliability is None:
            raise ValueError("this picture needs forecasts of classes; for numbers draw a PitDisplay.")
        return cls(*np.asarray(result.reliability).T).plot(ax)

    def plot(self, ax: Axes | None = None) -> ReliabilityDisplay:
        """Draw, on the given axes or in a new figure."""
        share = self.n_rows / max(self.n_rows.sum(), 1.0)
        with self._canvas(ax, (4.6, 4.4)) as canvas:
            _diagonal(canvas)
            left = np.minimum(np.floor(self.confidence * self.n_bins), self.n_bins - 1) / self.n_bins
            canvas.bar(left, share, 1 / self.n_bins, align="edge", color=GREY, alpha=0.4, label="share of rows")
            canvas.plot(self.confidence, self.accuracy, color=BLUE, linewidth=1.6, clip_on=False)
            area = 20 + 160 * np.sqrt(share)
            canvas.scatter(self.confidence, self.accuracy, area, color=BLUE, clip_on=False, zorder=3, label="Sapwood")
            canvas.set(xlabel="probability of the predicted class", ylabel="share of correct rows")
            canvas.set_title("Do probabilities hold what they claim?")
            legend_above(canvas)
        return self


def _diagonal(ax: Axes) -> None:
    ax.plot([0, 1], [0, 1], color=INK, linewidth=1.2, linestyle="--", label="calibrated")
    ax.set(xlim=(0, 1), ylim=(0, 1.01), aspect="equal")

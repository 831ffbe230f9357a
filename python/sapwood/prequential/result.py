"""The result of a prequential run: scores over time, predictions, and what the model believed along the way."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.util import find_spec
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood._options import Task

Floats = NDArray[np.float64]

MODEL = "model"
"""The name under which the model itself appears among the forecasters."""


_TITLES = {MODEL: "Sapwood", "majority": "majority class"}


def forecaster_title(name: str) -> str:
    """How a forecaster is called in tables and pictures."""
    return _TITLES.get(name, name.replace("_", " "))


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What the bank believed, recorded at intervals. Empty (no rows) for models that are not Sapwood's.

    Attributes
    ----------
    row : int array of shape (n,)
        Number of rows forecast at the time of the record.
    members : tuple of str
        Description of each cloud of the bank, such as "linear leaves, pool 25, 1 lag".
    weights : array of shape (n, members)
        Weight of each cloud in the next prediction.
    forgetting_mean, forgetting_low, forgetting_high : arrays of shape (n,)
        Mean, 5 % and 95 % quantile of the posterior of the forgetting factor.
    height, leaves : arrays of shape (n,)
        Mean height and mean number of leaves of the trees, weighted by cloud.
    """

    row: NDArray[np.int64]
    members: tuple[str, ...]
    weights: Floats
    forgetting_mean: Floats
    forgetting_low: Floats
    forgetting_high: Floats
    height: Floats
    leaves: Floats

    def __len__(self) -> int:
        return len(self.row)


@dataclass(frozen=True, eq=False)
class PoolHistory:
    """Where the active pool lay, recorded at intervals. Empty (no rows) for models that are not Sapwood's.

    Attributes
    ----------
    row : int array of shape (n,)
        Number of rows forecast at the time of the record.
    n_active : int array of shape (n,)
        Number of observations held by at least one cloud of the bank.
    places : array of shape (n, 40, n_features)
        Values of each input among them: all of them padded with NaN, or 40 evenly spaced by rank.
    """

    row: NDArray[np.int64]
    n_active: NDArray[np.int64]
    places: Floats

    def __len__(self) -> int:
        return len(self.row)


@dataclass(frozen=True)
class Timings:
    """Where the time went, in seconds, including the time before a resume."""

    total: float
    engine: float
    """Time inside the model: forecasting and learning."""
    rows_per_second: float


@dataclass(frozen=True, eq=False, repr=False)
class EvaluationResult:
    """What :func:`sapwood.stream.evaluate` returns.

    Attributes
    ----------
    task : {"regression", "classification"}
    model : object
        The object passed to `evaluate`, after the last row.
    metrics : tuple of str
        Names of the scores, as in :data:`sapwood.metrics.METRICS`.
    baselines : tuple of str
        Names of the baselines: "no_change", and "running_mean" or "majority".
    scores : dict of arrays
        A tidy table with one line per record, forecaster and metric. Columns: "row" (number of rows forecast so far),
        "forecaster" ("model" or a baseline), "metric", "value" (over all scored rows so far) and "window" (over the
        last `window` scored rows). ``pandas.DataFrame(result.scores)`` displays it.
    predictions : dict of arrays
        The last rows (at most `keep` of them). Regression: "row", "y", "mean", "std", "epistemic_std", "lower",
        "upper" (the 90 % interval), "ln_density", "pit". Classification: "row", "y" and "prediction" (labels),
        "ln_density", and "proba", of shape (n, n_classes), whose columns follow `classes`. Rows of the warm-up are
        included. Values the model does not provide, or that depend on a label that never arrived, are NaN.
    predictions_path : str or None
        The file with the predictions of all rows, if one was written.
    beliefs : Beliefs
        Weights of the bank, forgetting and trees over time.
    pool : PoolHistory
        Where the active pool lay over time.
    pit_counts : array of shape (100,) or None
        Regression: histogram of the predictive distribution function at the targets, in bins of equal width. Flat if
        the forecasts are calibrated.
    reliability : array of shape (15, 3) or None
        Classification: in bins of equal width of the largest probability, its mean, the accuracy, and the number of
        rows. The first two columns are NaN where a bin is empty.
    classes : array or None
        Classification: the labels, in the order of the columns of probabilities.
    feature_names : tuple of str
    target : str or None
        Names of the columns.
    settings : dict
        The arguments of `evaluate`, and the parameters of the model under "model".
    timings : Timings
    n_rows : int
        Number of rows forecast.
    n_scored : int
        Number of rows scored: those after the warm-up whose label arrived and was of a known class.
    n_learned : int
        Number of rows learned.
    n_bad : int
        Number of rows of the source that could not be used; `bad_reasons` counts them by reason.
    notes : tuple of str
        Remarks on the source for the user.
    interrupted : bool
        Whether the run was stopped before the end of the source.

    Examples
    --------
    >>> from sapwood import DynamicTreeRegressor
    >>> from sapwood.datasets import friedman
    >>> from sapwood.stream import evaluate
    >>> model = DynamicTreeRegressor(n_particles=20, max_active=50, random_state=0)
    >>> result = evaluate(model, friedman(n=300), metrics=["rmse"], window=200)
    >>> rows, rmse = result.curve("rmse")
    >>> rows.tolist(), bool(rmse[-1] < 5)
    ([100, 200, 300], True)
    >>> sorted(result.overall())
    ['model', 'no_change', 'running_mean']
    """

    task: Task
    model: Any
    metrics: tuple[str, ...]
    baselines: tuple[str, ...]
    scores: Mapping[str, NDArray[Any]]
    predictions: Mapping[str, NDArray[Any]]
    predictions_path: str | None
    beliefs: Beliefs
    pool: PoolHistory
    pit_counts: Floats | None
    reliability: Floats | None
    classes: NDArray[Any] | None
    feature_names: tuple[str, ...]
    target: str | None
    settings: Mapping[str, Any]
    timings: Timings
    n_rows: int
    n_scored: int
    n_learned: int
    n_bad: int = 0
    bad_reasons: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    interrupted: bool = False

    @property
    def forecasters(self) -> tuple[str, ...]:
        """The model and the baselines, in the order of the table."""
        return (MODEL, *self.baselines)

    def overall(self) -> dict[str, dict[str, float]]:
        """The scores over all scored rows: ``result.overall()["model"]["rmse"]``."""
        return self._last("value")

    def recent(self) -> dict[str, dict[str, float]]:
        """The scores over the last window of rows, in the same form as `overall`."""
        return self._last("window")

    def curve(self, metric: str, forecaster: str = MODEL, *, window: bool = True) -> tuple[NDArray[np.int64], Floats]:
        """A score over time: the rows at which it was recorded, and its values (over the window, or all so far)."""
        chosen = (self.scores["metric"] == metric) & (self.scores["forecaster"] == forecaster)
        if not chosen.any() and (metric not in self.metrics or forecaster not in self.forecasters):
            raise ValueError(
                f"there is no score {metric!r} of {forecaster!r}; the scores are {', '.join(self.metrics)} "
                f"of {', '.join(self.forecasters)}"
            )
        return self.scores["row"][chosen], self.scores["window" if window else "value"][chosen]

    def __repr__(self) -> str:
        """Return the facts of the run and its scores: a few lines, whatever was recorded."""
        return "\n".join([self._headline(), *_aligned(self._score_table())])

    def _repr_html_(self) -> str:
        """Return the same as HTML, with a small picture if matplotlib is installed."""
        head, *rows = self._score_table()
        cells = "".join(f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in rows)
        table = f"<table><tr>{''.join(f'<th>{escape(text)}</th>' for text in head)}</tr>{cells}</table>"
        return f"<p>{escape(self._headline())}</p>{table}{self._thumbnail()}"

    def _headline(self) -> str:
        state = ", interrupted" if self.interrupted else ""
        bad = f", {self.n_bad:,} bad rows" if self.n_bad else ""
        return (
            f"EvaluationResult: {self.task}, {self.n_rows:,} rows, {self.n_scored:,} scored{bad}{state}, "
            f"{self.timings.rows_per_second:,.0f} rows per second"
        )

    def _score_table(self) -> list[list[str]]:
        overall = self.overall()
        return [
            ["", *self.metrics],
            *([name, *(f"{overall[name][metric]:.4g}" for metric in self.metrics)] for name in self.forecasters),
        ]

    def _thumbnail(self) -> str:
        if not len(self.scores["row"]) or find_spec("matplotlib") is None:
            return ""
        from sapwood.plot import OverviewDisplay
        from sapwood.plot._canvas import off_screen

        picture = BytesIO()
        with off_screen():
            OverviewDisplay.from_result(self).figure_.savefig(picture, format="png", dpi=50)
        data = b64encode(picture.getvalue()).decode("ascii")
        return f'<img alt="overview of the run" src="data:image/png;base64,{data}">'

    def _last(self, column: str) -> dict[str, dict[str, float]]:
        found: dict[str, dict[str, float]] = {}
        for forecaster in self.forecasters:
            curves = {name: self.curve(name, forecaster, window=column == "window")[1] for name in self.metrics}
            found[forecaster] = {name: float(v[-1]) if len(v) else float("nan") for name, v in curves.items()}
        return found


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Align columns of text: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([first.ljust(widths[0]), *(text.rjust(width) for text, width in zip(rest, widths[1:], strict=True))])
        for first, *rest in rows
    ]

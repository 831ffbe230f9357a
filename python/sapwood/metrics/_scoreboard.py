"""Several metrics of one forecaster, over all rows and over a rolling window."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sapwood._state import Fields
from sapwood.metrics._base import Metric, Rolling
from sapwood.metrics._forecast import ClassForecast, RegressionForecast
from sapwood.metrics._registry import CLASSIFICATION_METRICS, METRICS, REGRESSION_METRICS


class Scoreboard:
    """Metrics by name, over all rows and over the last ``window`` rows.

    Parameters
    ----------
    names : iterable of str
        Keys of ``METRICS``. All must be of the same task.
    window : int
        Rows of the rolling scores.

    Examples
    --------
    >>> from sapwood.metrics import ClassForecast, Scoreboard
    >>> board = Scoreboard(["accuracy", "brier"], window=1)
    >>> board.update(ClassForecast(y=[0, 1], proba=[[0.5, 0.5], [0.0, 1.0]]))
    >>> board.overall()
    {'accuracy': 1.0, 'brier': 0.125}
    >>> board.rolling()
    {'accuracy': 1.0, 'brier': 0.0}
    """

    def __init__(self, names: Iterable[str], window: int = 1000) -> None:
        chosen = list(names)
        unknown = [name for name in chosen if name not in METRICS]
        if unknown:
            raise ValueError(f"there is no metric {unknown[0]!r}; the names are {', '.join(METRICS)}.")
        tasks = {METRICS[name].forecast_type for name in chosen}
        if len(tasks) > 1:
            raise ValueError(
                f"the metrics {', '.join(chosen)} mix tasks; choose among {', '.join(REGRESSION_METRICS)} "
                f"for regression or {', '.join(CLASSIFICATION_METRICS)} for classification."
            )
        self.window = window
        self._overall: dict[str, Metric[Any, float]] = {name: METRICS[name]() for name in chosen}
        self._rolling: dict[str, Rolling[Any, float]] = {name: METRICS[name]().rolling(window) for name in chosen}

    @property
    def n_rows(self) -> int:
        """Rows scored so far."""
        return max((metric.n_rows for metric in self._overall.values()), default=0)

    def update(self, forecast: RegressionForecast | ClassForecast) -> None:
        """Score some more rows with every metric."""
        known = forecast.known()
        for name, metric in self._overall.items():
            metric.update(known)
            self._rolling[name].update(known)

    def overall(self) -> dict[str, float]:
        """Every metric over all rows so far."""
        return {name: metric.value() for name, metric in self._overall.items()}

    def rolling(self) -> dict[str, float]:
        """Every metric over the last ``window`` rows."""
        return {name: metric.value() for name, metric in self._rolling.items()}

    def state(self) -> dict[str, Any]:
        """Return the state of every metric, as plain data."""
        return {
            "overall": {name: metric.state() for name, metric in self._overall.items()},
            "rolling": {name: metric.state() for name, metric in self._rolling.items()},
        }

    def restore(self, fields: Fields) -> None:
        """Continue from what ``state`` returned."""
        for name in self._overall:
            self._overall[name].restore(fields.part("overall").part(name))
            self._rolling[name].restore(fields.part("rolling").part(name))

"""Progress as lines of text on standard error, and the parts of such a line."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from sapwood._formats import duration, number
from sapwood.metrics._registry import by_importance

if TYPE_CHECKING:
    from sapwood.prequential.run import Progress

_FIRST_LINE = 2.0  # seconds; short runs need no lines
_BETWEEN_LINES = 10.0
_MOST_METRICS = 3
_TELLING_FRACTION = 0.01  # of the source, from which its length can be estimated


class ProgressLines:
    """Prints a line now and then: rows, rate, time left, and the scores over the window."""

    def __init__(self) -> None:
        self._next = _FIRST_LINE

    def __call__(self, progress: Progress) -> None:
        if progress.seconds >= self._next:
            self._next = progress.seconds + _BETWEEN_LINES
            line = f"{progress.n_rows:,}{of_total(progress)} rows, {rate(progress)}: {scores(progress)}"
            print(line, file=sys.stderr, flush=True)


def of_total(progress: Progress) -> str:
    """The number of rows in total, if it is known or can be estimated."""
    if progress.n_total is not None:
        return f" of {progress.n_total:,}"
    estimate = _estimated_total(progress)
    return "" if estimate is None else f" of about {float(f'{estimate:.2g}'):,.0f}"


def rate(progress: Progress) -> str:
    """Rows a second, and the time left if it can be estimated."""
    text = f"{progress.n_now / progress.seconds:,.0f} rows/s" if progress.seconds else ""
    total = progress.n_total or _estimated_total(progress)
    if total and progress.n_now:
        left = max(0.0, total - progress.n_rows) * progress.seconds / progress.n_now
        text += f", {duration(left)} left"
    return text


def _estimated_total(progress: Progress) -> float | None:
    """Estimate the number of rows from the share of the bytes that has been read; None if that says too little."""
    if progress.fraction is None or progress.fraction < _TELLING_FRACTION:
        return None
    return max(float(progress.n_rows), progress.n_rows / progress.fraction)


def scores(progress: Progress) -> str:
    """Format the most important rolling scores, with those of the no-change forecast in parentheses."""
    recent = progress.scores()
    model, last = recent["model"], recent["no_change"]
    important, others = by_importance(model)
    chosen = [*important, *others][:_MOST_METRICS]
    first, *rest = [(name, number(model[name]), number(last[name])) for name in chosen]
    parts = ["{} {} (no change: {})".format(*first), *(f"{name} {value} ({other})" for name, value, other in rest)]
    return ", ".join(parts)

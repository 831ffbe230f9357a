"""Progress: a live bar on a terminal, plain lines everywhere else; both on standard error."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Protocol

from rich.console import Console, Group
from rich.live import Live as Display
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bar
from rich.text import Text

from sapwood._formats import duration, number
from sapwood.metrics._registry import by_importance
from sapwood.stream import Progress

_FIRST_LINE = 2.0  # seconds; short runs need no lines
_BETWEEN_LINES = 10.0
_BETWEEN_SCORES = 0.5  # computing rolling scores takes some milliseconds
_MOST_METRICS = 3


class Watcher(Protocol):
    """Shows the progress of a run: called with it, and a context manager around the run."""

    def __enter__(self) -> Watcher: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def __call__(self, progress: Progress) -> None: ...


def watcher(*, quiet: bool) -> Watcher:
    """Return the appropriate way to show progress."""
    if quiet:
        return Silent()
    return Live() if sys.stderr.isatty() else Lines()


class Silent:
    """Shows nothing."""

    def __enter__(self) -> Silent:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def __call__(self, progress: Progress) -> None:
        pass


class Lines(Silent):
    """Prints a line every few seconds."""

    def __init__(self) -> None:
        self._next = _FIRST_LINE

    def __enter__(self) -> Lines:
        return self

    def __call__(self, progress: Progress) -> None:
        if progress.seconds >= self._next:
            self._next = progress.seconds + _BETWEEN_LINES
            of_total = "" if progress.n_total is None else f" of {progress.n_total:,}"
            line = f"{progress.n_rows:,}{of_total} rows, {rate(progress)}: {scores(progress)}"
            print(line, file=sys.stderr, flush=True)


class Live:
    """A bar with the rate and the remaining time, and below it the rolling scores."""

    def __init__(self) -> None:
        self._bar = Bar(BarColumn(bar_width=24), TextColumn("{task.fields[status]}"))
        self._task = self._bar.add_task("", total=None, status="reading")
        self._scores = Text(style="cyan", no_wrap=True, overflow="ellipsis")
        self._display = Display(
            Group(self._bar, self._scores), console=Console(stderr=True), transient=True, refresh_per_second=4
        )
        self._shown = -_BETWEEN_SCORES

    def __enter__(self) -> Live:
        self._display.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._display.stop()

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._shown < _BETWEEN_SCORES:
            return
        self._shown = now
        of_total = "" if progress.n_total is None else f" of {progress.n_total:,}"
        share = progress.n_rows / progress.n_total if progress.n_total else progress.fraction
        self._bar.update(
            self._task,
            total=None if share is None else 1.0,
            completed=share or 0.0,
            status=f"{progress.n_rows:,}{of_total} rows, {rate(progress)}",
        )
        self._scores.plain = scores(progress)


def rate(progress: Progress) -> str:
    """Format the rate in rows per second and, if the length of the stream is known, the remaining time."""
    text = f"{progress.n_now / progress.seconds:,.0f} rows/s" if progress.seconds else ""
    if progress.n_total and progress.n_now:
        left = (progress.n_total - progress.n_rows) * progress.seconds / progress.n_now
        text += f", {duration(left)} left"
    return text


def scores(progress: Progress) -> str:
    """Format the most important rolling scores, with those of the no-change forecast in parentheses."""
    recent = progress.scores()
    model, last = recent["model"], recent["no_change"]
    important, others = by_importance(model)
    chosen = [*important, *others][:_MOST_METRICS]
    first, *rest = [(name, number(model[name]), number(last[name])) for name in chosen]
    parts = ["{} {} (no change: {})".format(*first), *(f"{name} {value} ({other})" for name, value, other in rest)]
    return ", ".join(parts)

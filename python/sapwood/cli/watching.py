"""Progress: a live bar on a terminal, plain lines everywhere else; both on standard error."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from sapwood.cli.numbers import shown
from sapwood.stream import Progress

_FIRST_LINE = 2.0  # seconds; short runs need no lines
_BETWEEN_LINES = 10.0
_BETWEEN_SCORES = 0.5  # rolling scores cost some milliseconds
_SHOWN_METRICS = ("accuracy", "auc", "log_loss", "rmse", "coverage90", "log_score")


class Watcher(Protocol):
    """Called with the progress of a run; a context manager around the run."""

    def __enter__(self) -> Watcher: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def __call__(self, progress: Progress) -> None: ...


def watcher(*, quiet: bool) -> Watcher:
    """The way to show progress here."""
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
    """A line now and then."""

    def __init__(self) -> None:
        self._next = _FIRST_LINE

    def __enter__(self) -> Lines:
        return self

    def __call__(self, progress: Progress) -> None:
        if progress.seconds >= self._next:
            self._next = progress.seconds + _BETWEEN_LINES
            share = "" if progress.fraction is None else f" ({progress.fraction:.0%})"
            print(f"{progress.n_rows:,} rows{share}, {rate(progress)}  {scores(progress)}", file=sys.stderr, flush=True)


class Live:
    """A bar with the rate, the time left and the scores over the window."""

    def __init__(self) -> None:
        self._bar = Bar(
            SpinnerColumn(),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[rows]}"),
            TextColumn("{task.fields[rate]}"),
            TimeElapsedColumn(),
            TextColumn("[cyan]{task.fields[scores]}"),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task("", total=None, rows="", rate="", scores="")
        self._scored = -_BETWEEN_SCORES

    def __enter__(self) -> Live:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._scored < _BETWEEN_SCORES:
            return
        self._scored = now
        of_total = "" if progress.n_total is None else f" of {progress.n_total:,}"
        self._bar.update(
            self._task,
            total=None if progress.fraction is None else 1.0,
            completed=progress.fraction or 0.0,
            rows=f"{progress.n_rows:,}{of_total} rows",
            rate=rate(progress),
            scores=scores(progress),
        )


def rate(progress: Progress) -> str:
    """Rows a second, and the time left where that can be told."""
    text = f"{progress.n_now / progress.seconds:,.0f} rows/s" if progress.seconds else ""
    if progress.fraction and progress.n_total and progress.n_now:
        left = (progress.n_total - progress.n_rows) * progress.seconds / progress.n_now
        text += f", {duration(left)} left"
    return text


def duration(seconds: float) -> str:
    """A time for people.

    Examples
    --------
    >>> duration(5), duration(90), duration(7200)
    ('5 s', '1 min 30 s', '2 h 00 min')
    """
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60:02} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60:02} min"


def scores(progress: Progress) -> str:
    """The scores over the window that matter most, with those of "no change" in brackets."""
    recent = progress.scores()
    model, last = recent["model"], recent["no_change"]
    chosen = [name for name in _SHOWN_METRICS if name in model][:3]
    return "  ".join(f"{name} {shown(model[name])} ({shown(last[name])})" for name in chosen)

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

from sapwood.prequential.progress_lines import ProgressLines, of_total, rate, scores
from sapwood.stream import Progress

_BETWEEN_SCORES = 0.5  # computing rolling scores takes some milliseconds


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
    """A line now and then."""

    def __init__(self) -> None:
        self._lines = ProgressLines()

    def __enter__(self) -> Lines:
        return self

    def __call__(self, progress: Progress) -> None:
        self._lines(progress)


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
        share = progress.n_rows / progress.n_total if progress.n_total else progress.fraction
        self._bar.update(
            self._task,
            total=None if share is None else 1.0,
            completed=share or 0.0,
            status=f"{progress.n_rows:,}{of_total(progress)} rows, {rate(progress)}",
        )
        self._scores.plain = scores(progress)

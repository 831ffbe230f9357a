"""Stopping a run cleanly: a signal asks, and the loop stops where everything is consistent."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StopRequest:
    """Turns Ctrl-C (and SIGTERM) into a request that :func:`sapwood.stream.evaluate` grants at the next good moment.

    Use it around `evaluate`, in the main thread. A second signal interrupts at once.

    Attributes
    ----------
    signal : int or None
        The signal that asked to stop.

    Examples
    --------
    >>> import signal
    >>> with StopRequest() as stop:
    ...     signal.raise_signal(signal.SIGINT)
    ...     print(stop.signal == signal.SIGINT)
    True
    """

    def __init__(self) -> None:
        self.signal: int | None = None
        self._reading = False
        self._before: list[Any] = []

    def __enter__(self) -> StopRequest:
        self._before = [signal.signal(number, self._ask) for number in _SIGNALS]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in zip(_SIGNALS, self._before, strict=True):
            signal.signal(number, handler)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        again = self.signal is not None
        self.signal = number
        if again or self._reading:
            raise KeyboardInterrupt

    @contextmanager
    def reading(self) -> Iterator[None]:
        """While the source is read, which may wait for ever, a signal interrupts: no row is lost by that."""
        self._reading = True
        try:
            yield
        finally:
            self._reading = False

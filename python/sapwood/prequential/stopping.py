"""Stopping a run cleanly: a signal requests the stop, and the run ends where its state is consistent."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StopRequest:
    """Turns Ctrl-C (and SIGTERM) into a request that :func:`sapwood.stream.evaluate` honours at the next safe point.

    Use it around `evaluate`, in the main thread. A second signal interrupts at once.

    Attributes
    ----------
    signal : int or None
        The signal that was received.

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
        self._previous: list[Any] = []

    def __enter__(self) -> StopRequest:
        self._previous = [signal.signal(number, self._handle) for number in _SIGNALS]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in zip(_SIGNALS, self._previous, strict=True):
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        repeated = self.signal is not None
        self.signal = number
        if repeated or self._reading:
            raise KeyboardInterrupt(number)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Let a signal interrupt at once while the source is read, which may block for ever; no row is lost by it."""
        self._reading = True
        try:
            yield
        finally:
            self._reading = False

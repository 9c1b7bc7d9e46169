"""Ctrl-C and SIGTERM as requests: what lasts long ends early, and keeps what it has."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from types import FrameType

ONE_REQUEST_S = 0.5
"""Signals within this time are one request: `timeout` signals a process and then its group."""


@dataclass
class Interruption:
    """Whether Ctrl-C was pressed, and what it has to stop."""

    requested: bool = False
    stop: Callable[[], None] | None = None
    """Called when it is pressed."""
    clock: Callable[[], float] = monotonic
    """Seconds."""
    _requested_s: float = 0.0

    def _request(self, _signal: int, _frame: FrameType | None) -> None:
        """Handles a signal: a second request ends everything at once."""
        if self.requested:
            if self.clock() - self._requested_s < ONE_REQUEST_S:
                return
            raise KeyboardInterrupt
        # Before anything else: the other signal of the same request interrupts this handler, too.
        self._requested_s = self.clock()
        self.requested = True
        if self.stop is not None:
            self.stop()
            self._requested_s = self.clock()

    @contextmanager
    def listening(
        self, signals: Sequence[signal.Signals] = (signal.SIGINT, signal.SIGTERM)
    ) -> Iterator[None]:
        """While this lasts the signals are requests, and end nothing by themselves.

        Raises:
            KeyboardInterrupt: a second request came.

        """
        # When polars is loaded it takes SIGINT, and raises KeyboardInterrupt from what it computes.
        # Loaded before, it loses the signal to these handlers.
        import polars  # noqa: F401

        previous = {number: signal.signal(number, self._request) for number in signals}
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)

"""Ctrl-C and a polite kill: what lasts long ends early, and keeps what it has."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

INTERRUPTED_STATUS = 130
"""Exit status after Ctrl-C, as shells have it."""


@dataclass
class Interruption:
    """Whether Ctrl-C was pressed, and what it has to stop."""

    requested: bool = False
    stop: Callable[[], None] | None = None
    """Called when it is pressed."""

    def _request(self, _signal: int, _frame: FrameType | None) -> None:
        """The signal's handler: the second one ends everything at once."""
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        if self.stop is not None:
            self.stop()

    @contextmanager
    def listening(self) -> Iterator[None]:
        """While this lasts Ctrl-C and a polite kill are requests, and end nothing by themselves."""
        previous = {
            number: signal.signal(number, self._request)
            for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)

"""Processes that Ctrl-C in the terminal must not reach."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def ctrl_c_held() -> Iterator[None]:
    """Holds the signals of the terminal back from this thread, and from a process that it starts.

    Until its new session stands, that process belongs to the terminal like this one. It begins
    with these signals blocked, and may forget what reached it by then before it takes them again.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

"""Interfaces that are captured into a file, and its analysis as it grows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from mptcplab.trace.live.taking import Taking
from mptcplab.trace.reading import read
from mptcplab.trace.trace import Trace

LEAST_PAUSE_S = 1.0
"""Between two analyses at least."""
PAUSE_OF_ANALYSIS = 4.0
"""The pause is so many times as long as the last analysis took: that reads all of the file."""


@dataclass(frozen=True)
class Progress:
    """How far it is."""

    seconds: float
    packets: int
    size_bytes: int
    dropped: int
    """Packets that the kernel had no room for."""
    trace: Trace | None
    """The last analysis; null before the first."""


def record(
    interfaces: Sequence[str],
    path: Path,
    goes_on: Callable[[], bool],
    show: Callable[[Progress], None],
) -> Progress:
    """Captures interfaces into a new file until `goes_on` returns false; returns the last progress.

    `show` is called several times a second, and does not hold up the capture, which another process
    makes. The analysis is that of the whole file each time, in another thread, and takes a fifth of
    a processor's time at most in the long run.

    Raises:
        TraceError: an interface cannot be captured, or the file cannot be written. What came before
            an interface went down stands in the file.

    """
    with Taking(interfaces, path) as taking, Analysis(path) as analysis:
        begun = monotonic()
        while True:
            goes_on_now = goes_on()
            taken = taking.newest() if goes_on_now else taking.end()
            found = analysis.newest(taken.packets)
            counted = (taken.packets, taken.size_bytes, taken.dropped)
            progress = Progress(monotonic() - begun, *counted, found)
            show(progress)
            if not goes_on_now:
                return progress


class Analysis:
    """The newest analysis of a file that grows."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._pool = ThreadPoolExecutor(1)
        self._running: Future[Trace] | None = None
        self._found: Trace | None = None
        self.begun_with = 0
        """Packets that the file had when the last analysis began."""
        self._begun = 0.0
        self._next = monotonic() + LEAST_PAUSE_S / 2
        self._ended = False

    def __enter__(self) -> Analysis:
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = True
        self._pool.shutdown()
        if self._running is not None and self._running.exception() is None:
            self._running.result().close()
        if self._found is not None:
            self._found.close()

    def newest(self, packets: int) -> Trace | None:
        """Returns the newest analysis, and begins another one where it is time.

        `packets` tells how many the file has: without new ones there is nothing to analyse.
        """
        now = monotonic()
        if self._running is not None and self._running.done():
            ended, self._running = self._running, None
            # The capture goes on without an analysis, as where its tables have no room.
            if ended.exception() is None:
                if self._found is not None:
                    self._found.close()
                self._found = ended.result()
            self._next = now + max(LEAST_PAUSE_S, PAUSE_OF_ANALYSIS * (now - self._begun))
        if self._running is None and now >= self._next and packets > self.begun_with:
            self.begun_with, self._begun = packets, now
            self._running = self._pool.submit(self._analyse)
        return self._found

    def _analyse(self) -> Trace:
        """Analyses the file with one worker; the part of a packet that is being written is damage.

        Whatever is shown of it is read before it ends: the tables go with it.
        """
        found = read(
            self._path, packets=False, workers=1, progress=lambda _done, _of: not self._ended
        )
        for table in ("connections", "subflows", "samples", "events"):
            getattr(found, table)
        return found

"""Interfaces that are captured into a file by a process of its own.

What the other one does meanwhile, such as to draw a table, does not hold it up.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from contextlib import ExitStack
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from select import select
from time import monotonic
from typing import NamedTuple

from mptcplab.trace.errors import TraceError
from mptcplab.trace.live.capture_file import CaptureFile, Packet
from mptcplab.trace.live.packet_socket import PacketSocket

TICK_S = 0.25
"""Between two reports."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_LAST_READS = 32
"""As many empty the buffer of a socket."""


class Taken(NamedTuple):
    """All that was captured so far."""

    packets: int
    size_bytes: int
    dropped: int
    """Packets that the kernel had no room for."""
    is_last: bool
    """The capture has ended."""


class Taking:
    """The process, as the one that has begun it sees it."""

    def __init__(self, interfaces: Sequence[str], path: Path) -> None:
        """Begins to capture interfaces into a new file.

        Raises:
            TraceError: an interface cannot be captured, or the file cannot be written.

        """
        # Not a copy of this process, which has threads.
        context = get_context("spawn")
        self._pipe, its = context.Pipe()
        self._process = context.Process(
            target=capture, args=(list(interfaces), path, its), daemon=True
        )
        # Ctrl-C at a terminal would end it before it ignores signals: blocked ones wait until then.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        its.close()
        try:
            self._taken = self._report()
        except TraceError:
            self.close()
            raise

    def newest(self) -> Taken:
        """Returns what was captured up to the last report; waits for one for `TICK_S` at most.

        Raises:
            TraceError: the capture cannot go on, as where an interface is gone. What came before
                stands in the file.

        """
        timeout = TICK_S
        while self._pipe.poll(timeout):
            self._taken = self._report()
            timeout = 0.0
        return self._taken

    def end(self) -> Taken:
        """Ends the capture; returns what was captured in all.

        Raises:
            TraceError: it could not go on before.

        """
        try:
            self._pipe.send_bytes(b"")
        except BrokenPipeError:
            # It has told why, after the reports that are still to be read.
            while True:
                self._report()
        while not self._taken.is_last:
            self._taken = self._report()
        return self._taken

    def close(self) -> None:
        """Ends the process."""
        self._pipe.close()
        self._process.join()

    def __enter__(self) -> Taking:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _report(self) -> Taken:
        try:
            told: Taken | str = self._pipe.recv()
        except (EOFError, ConnectionResetError) as error:
            raise TraceError("the process that captures was ended") from error
        if isinstance(told, str):
            raise TraceError(told)
        return told


def capture(interfaces: list[str], path: Path, pipe: Connection) -> None:
    """Captures until something comes through the pipe, or nothing can any more."""
    # A terminal signals all of its processes. The other one ends this one.
    for each in _SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    try:
        with ExitStack() as stack:
            sockets = []
            for number, name in enumerate(interfaces):
                sockets.append(PacketSocket(name, number))
                stack.callback(sockets[-1].close)
            try:
                file = CaptureFile(path, [one.described for one in sockets])
            except OSError as error:
                raise TraceError(f"{path}: cannot be written: {error.strerror}") from error
            stack.callback(file.close)
            _take(sockets, file, pipe)
    except TraceError as error:
        _tell(pipe, str(error))


def _take(sockets: Sequence[PacketSocket], file: CaptureFile, pipe: Connection) -> None:
    packets = size_bytes = 0
    told_s = -TICK_S
    goes_on = True
    while goes_on:
        wait([pipe, *(one.fileno() for one in sockets)], TICK_S)
        goes_on = not pipe.poll()
        for one in sockets:
            # At the end all that waits, but not what comes for ever.
            for _ in range(1 if goes_on else _LAST_READS):
                came = one.take()
                packets += len(came)
                size_bytes += sum(packet.original_bytes for packet in came)
                _put(file, came)
                if not came:
                    break
        if not goes_on or monotonic() - told_s >= TICK_S:
            told_s = monotonic()
            dropped = sum(one.count_dropped() for one in sockets)
            # One that takes no reports, as its terminal takes no lines, holds nothing up.
            if not goes_on or select([], [pipe], [], 0)[1]:
                _tell(pipe, Taken(packets, size_bytes, dropped, not goes_on))


def _put(file: CaptureFile, packets: list[Packet]) -> None:
    try:
        file.put(packets)
    except OSError as error:
        raise TraceError(f"the capture cannot be written: {error.strerror}") from error


def _tell(pipe: Connection, report: Taken | str) -> None:
    try:
        pipe.send(report)
    except (BrokenPipeError, ConnectionResetError):
        # The other one is gone, and has asked for nothing more.
        return

"""How far all runs of a session are, in seconds of their expected length."""

from __future__ import annotations

import shlex
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Any, Protocol

from mptcplab.engine.job import Job

UNKNOWN_RUN_S = 10.0
"""Length of a run until one of its kind has ended."""
LINE_EVERY_S = 10.0
"""Shortest time between two lines where no terminal shows a bar."""
HOW_TO_GO_ON = """\
paused at {0:.6f} s; from another terminal:
  mptcplab queues {1}       shows the packets in the links
  mptcplab sockets {1}      shows each host's sockets
  mptcplab step-packet {1}  lets the next packet pass
  mptcplab resume {1}       goes on
The kernel's TCP timers run on: what they send meanwhile waits in the links."""
"""With the second, and the recording's folder."""


class Display(Protocol):
    """Shows that so many of all runs have ended; a run that goes on counts in part."""

    def begin(self) -> None:
        """Comes before the first run."""

    def end(self) -> None:
        """Comes after the last run."""

    def show(self, words: str, ended: float) -> None:
        """The words name the run that was begun last."""


class RunProgress:
    """Follows the runs of a session; several may go on at once, each in a thread of its own.

    Without a display it is silent.
    """

    def __init__(self, jobs: Sequence[Job], name: str, display: Display | None) -> None:
        self._jobs = jobs
        self._words = name
        self._expected_s: dict[int, float | None] = {}
        self._shares: dict[int, float] = {}
        self._unknown_s = UNKNOWN_RUN_S
        self._display = display
        self._lock = threading.Lock()

    def __enter__(self) -> RunProgress:
        if self._display is not None:
            self._display.begin()
        return self

    def __exit__(self, *_: object) -> None:
        if self._display is not None:
            self._display.end()

    def begun(self, number: int, expected_s: float | None) -> None:
        """See `mptcplab.engine.job.Progress`."""
        task = self._jobs[number].task
        place = f"({number + 1}/{len(self._jobs)})"
        with self._lock:
            self._expected_s[number] = expected_s
            self._words = f"{task.scenario.name} {task.variant} {task.repetition} {place}"
            self._show(number, 0.0)

    def reached(self, number: int, seconds: float) -> None:
        """See `mptcplab.engine.job.Progress`."""
        with self._lock:
            expected_s = self._expected_s[number]
            longest_s = self._unknown_s if expected_s is None else expected_s
            # A run that takes longer than expected stays just short of its end.
            self._show(number, min(seconds / longest_s, 0.99) if longest_s else 0.0)
            if expected_s is None:
                self._unknown_s = max(self._unknown_s, seconds)

    def watched(self, number: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """See `mptcplab.engine.job.Progress`: how far a run is does not depend on its rows."""

    def paused(self, number: int, seconds: float) -> None:
        """See `mptcplab.engine.job.Progress`: says how one looks, and goes on."""
        if sys.stderr is not None:
            print(
                HOW_TO_GO_ON.format(seconds, shlex.quote(str(self._jobs[number].folder))),
                file=sys.stderr,
            )

    def ended(self, number: int) -> None:
        """See `mptcplab.engine.job.Progress`."""
        with self._lock:
            self._show(number, 1.0)

    def _show(self, number: int, share: float) -> None:
        self._shares[number] = share
        if self._display is not None:
            self._display.show(self._words, sum(self._shares.values()))


class Lines:
    """A line now and then, for a log: a session that is soon over writes none."""

    def __init__(self, runs: int, clock: Callable[[], float] = monotonic) -> None:
        self._runs = runs
        self._clock = clock
        self._begun_s = self._told_s = clock()

    def begin(self) -> None:
        """See `Display`."""

    def end(self) -> None:
        """See `Display`."""

    def show(self, words: str, ended: float) -> None:
        """See `Display`."""
        now_s = self._clock()
        if now_s - self._told_s < LINE_EVERY_S or ended >= self._runs:
            return
        self._told_s = now_s
        left = ""
        if ended > 0:
            left_s = (now_s - self._begun_s) * (self._runs - ended) / ended
            left = f", about {in_words(left_s)} left"
        if sys.stderr is not None:
            print(f"{words}: {100 * ended / self._runs:.0f} % done{left}", file=sys.stderr)


def in_words(seconds: float) -> str:
    """A length of time, to the second."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {whole % 60} s"

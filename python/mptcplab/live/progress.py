"""The runs of a command while they last, for those who show them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from mptcplab.live.course import Course
from mptcplab.progress import RunProgress, in_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mptcplab.engine.job import Job


class Session:
    """The newest run of a command, and how far all of its runs are.

    Engines tell it, and others look at it, from threads of their own.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.folders: list[str] = []
        """Of the results, in the order in which they were begun."""
        self.has_ended = False
        """The command has no more runs."""
        self._lock = threading.Lock()
        self._clock = clock
        self._begun_s = clock()
        self._runs = 1
        self._share = 0.0
        self._courses: dict[int, Course] = {}
        self._series = 0

    @contextmanager
    def course(self) -> Iterator[Course | None]:
        """The run that was begun last, which stays as it is meanwhile; null before the first."""
        with self._lock:
            yield self._courses[max(self._courses)] if self._courses else None

    @property
    def share(self) -> float:
        """How much of the runs that were begun together is done, 0 to 1."""
        return self._share

    @property
    def left(self) -> str:
        """How long these runs will take from now on, in words; empty where that is not known."""
        if not 0.0 < self._share < 1.0:
            return ""
        left_s = (self._clock() - self._begun_s) * (1 - self._share) / self._share
        return f"about {in_words(left_s)} left"

    def begin(self, runs: int) -> None:
        """A series of runs begins; their numbers are counted from 0 anew."""
        with self._lock:
            self._runs, self._share, self._begun_s = runs, 0.0, self._clock()
            self._series += len(self._courses) and max(self._courses) + 1
            self._courses.clear()

    def begun(self, number: int, words: str, expected_s: float | None) -> None:
        """A run begins. Only those that go on, and the newest, are held."""
        with self._lock:
            self._courses[number] = Course(self._series + number, words, expected_s)
            newest = max(self._courses)
            ended = [at for at, one in self._courses.items() if one.has_ended and at != newest]
            for at in ended:
                del self._courses[at]

    def reached(self, number: int, seconds: float) -> None:
        """A run has come so far."""
        with self._lock:
            if number in self._courses:
                self._courses[number].reached_s = seconds

    def watched(self, number: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """A run has told rows."""
        with self._lock:
            if number in self._courses:
                self._courses[number].take(rows)

    def ended(self, number: int) -> None:
        """A run has ended."""
        with self._lock:
            if number in self._courses:
                self._courses[number].has_ended = True

    def show(self, ended: float) -> None:
        """So many of the runs have ended; one that goes on counts in part."""
        self._share = ended / self._runs


class Shown(Protocol):
    """Shows a session from `begin` to `end`."""

    def begin(self) -> None:
        """Comes before the first run."""

    def end(self) -> None:
        """Comes after the last run."""


class LiveProgress(RunProgress):
    """Tells a session of its runs."""

    def __init__(self, jobs: Sequence[Job], name: str, session: Session, shown: Shown) -> None:
        super().__init__(jobs, name, _Display(session, shown, len(jobs)))
        self._session = session

    def begun(self, number: int, expected_s: float | None) -> None:
        """See `mptcplab.engine.job.Progress`."""
        task = self._jobs[number].task
        words = f"{task.scenario.name} {task.variant} {task.repetition}"
        if len(self._jobs) > 1:
            words += f" ({number + 1}/{len(self._jobs)})"
        self._session.begun(number, words, expected_s)
        super().begun(number, expected_s)

    def reached(self, number: int, seconds: float) -> None:
        """See `mptcplab.engine.job.Progress`."""
        self._session.reached(number, seconds)
        super().reached(number, seconds)

    def watched(self, number: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """See `mptcplab.engine.job.Progress`."""
        self._session.watched(number, rows)

    def ended(self, number: int) -> None:
        """See `mptcplab.engine.job.Progress`."""
        self._session.ended(number)
        super().ended(number)


class _Display:
    """Tells a session how far its runs are."""

    def __init__(self, session: Session, shown: Shown, runs: int) -> None:
        self._session = session
        self._shown = shown
        self._runs = runs

    def begin(self) -> None:
        self._session.begin(self._runs)
        self._shown.begin()

    def end(self) -> None:
        self._shown.end()

    def show(self, words: str, ended: float) -> None:  # noqa: ARG002 - the course has words
        self._session.show(ended)

"""A run that goes on, in a terminal or as lines.

All that is written comes from a thread of its own: a terminal that takes nothing for a while holds
up neither the engine's rows nor the run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from mptcplab.live.course import Course
from mptcplab.live.progress import Session
from mptcplab.live.text import (
    PathRow,
    blocks,
    event_words,
    highest_mbps,
    path_rows,
    time_of,
    ways,
)

DRAWN_EVERY_S = 0.25
OF_DRAWING = 10.0
"""The pause is at least so many times as long as the last drawing took: of a slow terminal too."""
LINE_EVERY_S = 2.0
"""Where no terminal shows a table."""
FEW_EVENTS = 6
PATIENCE_S = 2.0
"""How long the end waits for an output that takes nothing; it is not written to any more then."""
NARROW = 60
"""Columns of a terminal below which the course is left out."""


class _Thread:
    """Calls a function again and again between `begin` and `end`."""

    def __init__(self, show: Callable[[], None], every_s: float) -> None:
        self._show = show
        self._every_s = every_s
        self._is_over = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def is_held(self) -> bool:
        """Whether the output takes nothing: it goes on after its end."""
        return self._is_over.is_set() and self._thread is not None and self._thread.is_alive()

    def begin(self) -> None:
        if self.is_held:
            return
        self._is_over.clear()
        self._thread = threading.Thread(target=self._work, name="live", daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._is_over.set()
        if self._thread is not None:
            self._thread.join(PATIENCE_S)

    def _work(self) -> None:
        pause_s = self._every_s
        while not self._is_over.wait(pause_s):
            begun_s = monotonic()
            try:
                self._show()
            except Exception:
                # The output takes no more; the command finds out as it prints its report.
                return
            pause_s = max(self._every_s, OF_DRAWING * (monotonic() - begun_s))


class Screen:
    """A table that moves, and goes when the runs are over."""

    def __init__(self, session: Session, console: Console) -> None:
        self._session = session
        self._console = console
        self._view: Live | None = None
        self._thread = _Thread(self._draw, DRAWN_EVERY_S)

    def begin(self) -> None:
        """See `Shown`."""
        if self._thread.is_held:
            return
        self._stop()
        # One that is started again moves up by the lines that it had before.
        self._view = Live(console=self._console, auto_refresh=False, transient=True)
        self._view.start()
        self._thread.begin()

    def end(self) -> None:
        """See `Shown`."""
        self._thread.end()
        if not self._thread.is_held:
            self._stop()

    def _stop(self) -> None:
        if self._view is not None:
            self._view.stop()

    def _draw(self) -> None:
        assert self._view is not None
        with self._session.course() as course:
            if course is None:
                return
            shown = view(course, self._session, self._console)
        self._view.update(shown, refresh=True)


class RunLines:
    """A line every two seconds, for pipes and terminals that cannot move the cursor."""

    def __init__(self, session: Session, write: Callable[[str], None]) -> None:
        self._session = session
        self._write = write
        self._thread = _Thread(self._tell, LINE_EVERY_S)

    def begin(self) -> None:
        """See `Shown`."""
        self._thread.begin()

    def end(self) -> None:
        """See `Shown`."""
        self._thread.end()

    def _tell(self) -> None:
        with self._session.course() as course:
            if course is None:
                return
            words = line(course, self._session)
        self._write(words)


def line(course: Course, session: Session) -> str:
    """The run in one line."""
    rates = ", ".join(f"{one.label} {one.counter.recent_mbps():.1f}" for one in course.lines)
    last = f"; {event_words(course.events[-1])}" if course.events else ""
    told = f"{course.words}: {time_of(course)}"
    return f"{told}; {rates or '–'} Mbit/s; {_whole(session)}{last}"


def view(course: Course, session: Session, console: Console) -> RenderableType:
    """The run as a table of its paths and the last events, as much as the terminal has room for."""
    head = Text(course.words, style="bold")
    head.append(f"  {time_of(course)}", style="not bold")
    whole = Text(_whole(session), style="dim")
    rows = path_rows(course)
    room = max(3, console.height - 6)
    events = list(course.events)[-min(FEW_EVENTS, max(1, room - len(rows) - 1)) :]
    most = max(1, room - len(events))
    if len(rows) > most:
        rows = sorted(rows, key=lambda row: -row.rate)[: most - 1]
        whole.append(f"; the {len(rows)} fastest of {len(course.paths)} paths")
    width = 0 if console.width < NARROW or not _has_blocks(console) else console.width // 3
    table = _table(course, rows, width)
    told = [Text(event_words(event), style="dim", no_wrap=True) for event in reversed(events)]
    return Group(head, whole, table, *told)


def _table(course: Course, rows: list[PathRow], width: int) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("path", no_wrap=True)
    for way in ways(course):
        table.add_column(f"{way} Mbit/s".strip(), justify="right", no_wrap=True)
    for name in ("MB", "subflows", "RTT ms", "cwnd"):
        table.add_column(name, justify="right", no_wrap=True)
    highest = highest_mbps(course, width) if width else 0.0
    if width:
        table.add_column(f"course, up to {highest:.0f} Mbit/s", no_wrap=True)
    for row in rows:
        cells = [row.name, *row.mbps, row.carried_mb, row.subflows, row.rtt_ms, row.cwnd]
        drawn = [Text(blocks(row.counter, width, highest), style="cyan")] if width else []
        table.add_row(*(Text(cell) for cell in cells), *drawn)
    return table


def _whole(session: Session) -> str:
    left = session.left
    return f"{int(100 * session.share)} % of these runs" + (f", {left}" if left else "")


def _has_blocks(console: Console) -> bool:
    return console.encoding.lower().startswith("utf")

"""A run that goes on as a page, and what has come since the reader's last question."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from jinja2 import Environment
from markupsafe import Markup

from mptcplab.live.course import GOODPUT, Counter, Course, Line
from mptcplab.live.progress import Session
from mptcplab.live.text import PathRow, event_words, path_rows, time_of, ways
from mptcplab.page.charts import TIME, Axis, Chart, Kind, Mark, Panel, Series
from mptcplab.page.script import LIVE, policy, script
from mptcplab.page.templates import templates

CHART = "throughput"
SHOWN_EVENTS = 20
COLOURS = 6
"""Of paths; one more is that of what the applications got."""
ONE_MOMENT_S = 0.05
_OTHER_WAY = (6, 4)
Points = Callable[[Counter], Sequence[tuple[float, float]]]
"""Gives the points that a chart has of a counter."""
PARTS = ("progress", "paths", "events")
"""Macros of the template `moving.html.j2`, and identifiers of the elements that hold them."""


@dataclass(frozen=True)
class Told:
    """The values that the templates show."""

    state: str
    """Another one where the page is to be made anew."""
    has_ended: bool
    share: int
    """Percent of the runs of this scenario and engine that are done."""
    left: str
    folder: str
    """Of the runs that go on."""
    folders: str
    """All until now, as words of a command line."""
    words: str = ""
    """The run; empty before the first one."""
    time: str = ""
    ways: Sequence[str] = ()
    rows: Sequence[PathRow] = ()
    events: Sequence[str] = ()
    samples: Sequence[int] = ()
    """How many there are of each line."""


def page(session: Session) -> str:
    """The page of the newest run, which asks for what comes later by its script."""
    with session.course() as course:
        told = _told(session, course)
        copied = None if course is None else course.copy()
    chart = None if copied is None else _chart(copied, Counter.mbps)
    template = _environment().get_template("live.html.j2")
    return template.render(told=told, chart=chart, charts={} if chart is None else {CHART: chart})


def update(session: Session, state: str, since: Sequence[int]) -> bytes:
    """Gives what is new for a page of this state that has so many samples of each line, as JSON.

    Of another state, as where another run has begun, it is the new state alone: the page is to be
    asked for again.
    """
    new: list[Counter] = []
    with session.course() as course:
        told = _told(session, course)
        answer: dict[str, object] = {"state": told.state, "ended": told.has_ended}
        if told.state == state and course is not None:
            lines = course.lines
            starts = [*since, *[0] * len(lines)]
            new = [one.counter.since(start) for one, start in zip(lines, starts, strict=False)]
            chart = _chart(course, Counter.extremes)
            answer |= {
                "samples": told.samples,
                "range": [chart.range("x"), chart.range("y")],
                "marks": [[mark.time_s, mark.label, ""] for mark in chart.panels[0].marks],
            }
    if told.state == state:
        macros = _environment().get_template("moving.html.j2").module
        shown = PARTS if told.words else PARTS[:1]
        answer = {"samples": [], "range": [[0, 1], [0, 1]], "marks": []} | answer
        answer["points"] = [one.mbps() for one in new]
        answer["shown"] = {name: str(getattr(macros, name)(told)) for name in shown}
    return json.dumps(answer, allow_nan=False).encode()


def page_policy() -> str:
    """The content security policy of the page."""
    return policy(LIVE)


@cache
def _environment() -> Environment:
    environment = templates("mptcplab.live")
    environment.globals |= {
        "page_policy": page_policy,
        "page_script": lambda: Markup(script(LIVE)),
    }
    return environment


def _told(session: Session, course: Course | None) -> Told:
    folder = session.folders[-1] if session.folders else ""
    folders = shlex.join(session.folders)
    whole = (session.has_ended, int(100 * session.share), session.left, folder, folders)
    if course is None:
        return Told("", *whole)
    return Told(
        f"{course.number}.{course.version}",
        *whole,
        words=course.words,
        time=time_of(course),
        ways=ways(course),
        rows=path_rows(course),
        events=[event_words(one) for one in reversed(course.events)][:SHOWN_EVENTS],
        samples=[len(line.counter.times_ns) for line in course.lines],
    )


def _chart(course: Course, points: Points) -> Chart:
    end_s = max(course.expected_s or 0.0, course.reached_s, 1.0)
    panel = Panel("", _series(course.lines, points), _marks(course))
    x = Axis("time", "s", limits=(0.0, end_s))
    return Chart(x, Axis("throughput", "Mbit/s"), (panel,), TIME)


def _series(lines: Sequence[Line], points: Points) -> tuple[Series, ...]:
    """A colour a path; the second way of one is dashed."""
    paths = list(dict.fromkeys(line.path for line in lines if line.path != GOODPUT))
    found = []
    for line in lines:
        place = COLOURS if line.path == GOODPUT else paths.index(line.path) % COLOURS
        drawn = np.array(points(line.counter), dtype=np.float64).reshape(-1, 2)
        found.append(
            Series(
                line.label,
                f"var(--s{place})",
                drawn[:, 0],
                drawn[:, 1],
                Kind.MEANS,
                _OTHER_WAY if line.way == "down" else (),
                line.counter.times_ns[0] / 1e9,
            )
        )
    return tuple(found)


def _marks(course: Course) -> tuple[Mark, ...]:
    """The changes of the network; those of one moment are one mark."""
    marks: list[Mark] = []
    for one in course.changes:
        time_s = one.t_ns / 1e9
        if marks and time_s - marks[-1].time_s < ONE_MOMENT_S:
            marks[-1] = Mark(marks[-1].time_s, f"{marks[-1].label}, {one.label}")
        else:
            marks.append(Mark(time_s, one.label))
    return tuple(marks)

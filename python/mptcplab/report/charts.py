"""Contents of plots as they stand in a page: charts, and rows of bars and boxes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from mptcplab.page.categories import Part, bar_rows, box_of, box_rows
from mptcplab.page.charts import TIME as OVER_TIME
from mptcplab.page.charts import Axis, Chart, Kind, Mark, Panel, Series
from mptcplab.report.contents import TIME, Boxes, Content, Courses, Distribution, Shares
from mptcplab.report.palette import COLOURS, Style
from mptcplab.report.series import Line

DASHES = {"-": (), "--": (6, 4), "-.": (7, 3, 2, 3), ":": (2, 3)}
"""Lengths of strokes and gaps by matplotlib's line styles."""
Targets = Mapping[Mark, str]
"""Identifiers of the rows of events by what is marked."""


def chart_of(content: Content, targets: Targets) -> Chart | None:
    """The chart of a content that is zoomed; null of categories."""
    if isinstance(content, Courses):
        return _courses(content, targets)
    return _distribution(content) if isinstance(content, Distribution) else None


def rows_of(content: Content) -> str | None:
    """The rows of bars or boxes of a content of categories; else null."""
    if isinstance(content, Shares):
        return bar_rows(
            {name: [_stack(bar, content.colours)] for name, bar in content.bars.items()},
            Axis("share of the payload", "%", limits=(0.0, 100.0)),
        )
    if isinstance(content, Boxes):
        told = {
            f"{name} (n = {len(values)})": box_of(values)
            for name, values in content.samples.items()
        }
        return box_rows(told, content.x)
    return None


def colour_of(style: Style) -> str:
    """The colour in a page, which is another on a dark ground."""
    return f"var(--s{COLOURS.index(style.colour)})"


def _courses(content: Courses, targets: Targets) -> Chart:
    is_over_time = content.x is TIME
    panels = tuple(
        Panel(
            course.variant,
            _lines(content.lines(course), content.colours),
            tuple(replace(mark, target=targets.get(mark, "")) for mark in course.marks)
            if is_over_time
            else (),
        )
        for course in content.courses
    )
    return Chart(content.x, content.y, panels, OVER_TIME if is_over_time else "")


def _lines(lines: Sequence[Line], colours: Mapping[str, Style]) -> tuple[Series, ...]:
    found = []
    seen: dict[str, int] = {}
    for line in lines:
        repeat = seen[line.subject] = seen.get(line.subject, -1) + 1
        style = colours[line.subject]
        dashes = style.dashes if not repeat else ("-", "--", "-.", ":")[repeat % 4]
        kind = Kind.LINE if line.since_s is None else Kind.MEANS
        found.append(
            Series(
                line.label,
                colour_of(style),
                line.places,
                line.values,
                kind,
                DASHES[dashes],
                line.since_s or 0.0,
            )
        )
    return tuple(found)


def _stack(bar: Mapping[str, float], colours: Mapping[str, Style]) -> list[Part]:
    """Parts of a bar, each from the end of the one before."""
    parts = []
    start = 0.0
    for name, share in bar.items():
        end = start + 100 * share
        words = f"{name} {100 * share:.0f} %"
        parts.append(Part(name, colour_of(colours[name]), start, end, words))
        start = end
    return parts


def _distribution(content: Distribution) -> Chart:
    series = tuple(
        Series(
            f"{name} (n = {len(values)})",
            colour_of(content.looks[name]),
            np.array([values[0], *values], dtype=np.float64),
            np.arange(len(values) + 1) / len(values),
            Kind.STEPS,
            DASHES[content.looks[name].dashes],
        )
        for name, values in content.samples.items()
    )
    return Chart(content.x, Axis("part of the samples", limits=(0.0, 1.02)), (Panel("", series),))

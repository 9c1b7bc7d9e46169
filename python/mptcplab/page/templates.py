"""Templates of pages: the frame around them, and what stands in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from mptcplab.page.charts import TIME, Chart, Kind
from mptcplab.page.drawing import panel_svg
from mptcplab.page.encoding import page_data, told_charts
from mptcplab.page.script import policy, script, style_sheet
from mptcplab.page.thinning import means

MOST_SHOWN = 40
"""Headings in the contents of a page; of more only the sections are shown."""


@dataclass(frozen=True)
class Entry:
    """A line of a legend."""

    label: str
    colour: str
    dashes: str


@dataclass(frozen=True)
class Heading:
    """A heading of the page, to which its contents link."""

    id: str
    title: str
    is_inner: bool


class Contents:
    """The headings of a page, in the order in which they are written."""

    def __init__(self) -> None:
        self.entries: list[Heading] = []
        self._section = ""

    def section(self, identifier: str, title: str) -> str:
        """Begins a section of this identifier, which is returned."""
        self._section = identifier
        return self._add(identifier, title, is_inner=False)

    def add(self, title: str) -> str:
        """Adds a heading within the section; its identifier."""
        return self._add(anchor(self._section, title), title, is_inner=bool(self._section))

    @property
    def shown(self) -> list[Heading]:
        """The headings in the list of contents: of many only those of the sections."""
        if len(self.entries) <= MOST_SHOWN:
            return self.entries
        return [entry for entry in self.entries if not entry.is_inner]

    def _add(self, identifier: str, title: str, *, is_inner: bool) -> str:
        taken = {entry.id for entry in self.entries}
        number = 2
        unique = identifier
        while unique in taken:
            unique, number = f"{identifier}-{number}", number + 1
        self.entries.append(Heading(unique, title, is_inner))
        return unique


def templates(package: str) -> Environment:
    """The templates of a package and of the frame: text is escaped, unknown names are errors."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("mptcplab.page")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "anchor": anchor,
        "charts": {},
        "contents": Contents(),
        "data": {},
        "data_element": _data,
        "legend": legend,
        "page_policy": policy,
        "page_script": lambda: Markup(script()),
        "page_style": lambda: Markup(style_sheet()),
        "panel_svg": lambda chart, panel: Markup(panel_svg(chart, panel)),
        "summary": summary,
        "told_charts": told_charts,
    }
    return environment


def anchor(*words: object) -> str:
    """An identifier of an element, of these words."""
    return re.sub(r"[^a-z0-9]+", "-", "-".join(map(str, words)).lower()).strip("-")


def _data(identifier: str, value: object) -> Markup:
    text, is_compressed = page_data(value)
    encoding = ' data-encoding="deflate"' if is_compressed else ""
    return Markup(f'<script type="application/json" id="{identifier}"{encoding}>{text}</script>')


def legend(chart: Chart) -> list[Entry]:
    """The series of all panels, each name once."""
    found: dict[str, Entry] = {}
    for panel in chart.panels:
        for one in panel.series:
            dashes = " ".join(map(str, one.dashes))
            found.setdefault(one.label, Entry(one.label, one.colour, dashes))
    return list(found.values())


def summary(chart: Chart) -> list[Sequence[str]]:
    """Of each series its panel, name, points, and least, mean and greatest value.

    Of a distribution, which rises in steps, the values are those along the axis of x. Of steps over
    time, each value counts for as long as it holds.
    """
    rows: list[Sequence[str]] = []
    for panel in chart.panels:
        for one in panel.series:
            known = one.y[np.isfinite(one.y)]
            if not known.size:
                continue
            mean = float(known.mean())
            lengths = np.diff(one.x)
            if one.kind is Kind.STEPS and chart.group != TIME:
                known = one.x[1:]
                mean = float(np.average(known, weights=np.diff(one.y)))
            elif one.kind is Kind.STEPS and lengths.any():
                mean = float(np.average(one.y[:-1], weights=lengths))
            if one.kind is Kind.MEANS:
                mean = float(means(one.since, one.x, one.y, 1)[1].mean())
            told = (float(known.min()), mean, float(known.max()))
            figures = [f"{value:.4g}" for value in told]
            rows.append([panel.title, one.label, str(known.size), *figures])
    return rows

"""The report as one page that needs nothing from elsewhere: neither font nor picture."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from mptcplab.explanation.words import (
    PHRASES,
    change_words,
    commands,
    cost_words,
    gain_words,
    sentences,
)
from mptcplab.page.charts import Chart, Mark
from mptcplab.page.templates import templates
from mptcplab.report import numbers
from mptcplab.report.beside import beside
from mptcplab.report.charts import chart_of, rows_of
from mptcplab.report.contents import Courses
from mptcplab.report.control import control_accounts
from mptcplab.report.engines import side_by_side
from mptcplab.report.figures import MOST_PANELS, Plot, plots
from mptcplab.report.flows import named, with_any
from mptcplab.report.loads import link_loads
from mptcplab.report.model import Report
from mptcplab.report.series import outputs
from mptcplab.report.settings import beside_document, labels, unlike
from mptcplab.report.terminal import (
    PROGRAM_COLUMNS,
    path_figures,
    program_sentences,
    theirs,
    verdict_numbers,
)
from mptcplab.scenario import ScenarioError, loads_kept
from mptcplab.scenario.topology import draw_svg


def to_html(reports: Sequence[Report]) -> str:
    """One self-contained page of HTML with a section for each report.

    Raises:
        RecordingError: a recording that a plot needs is damaged.

    """
    environment = templates("mptcplab.report")
    environment.globals |= {
        "beside_document": beside_document,
        "change_words": change_words,
        "commands": commands,
        "cost_words": cost_words,
        "estimate": numbers.estimate_shown,
        "estimate_with_unit": numbers.estimate_with_unit,
        "gain_words": gain_words,
        "heading": numbers.heading,
        "named": named,
        "number": numbers.number,
        "path_figures": path_figures,
        "phrases": PHRASES,
        "program_columns": PROGRAM_COLUMNS,
        "program_sentences": program_sentences,
        "sentences": sentences,
        "theirs": theirs,
        "verdict_numbers": verdict_numbers,
        "with_any": with_any,
    }
    together = beside(reports)
    charts = {one.id: one.chart for one in together if one.chart is not None}
    loads = {}
    sections = []
    told = zip(reports, labels(reports), unlike(reports), strict=True)
    for number, (report, label, (other, settings)) in enumerate(told, start=1):
        section = f"result-{number}"
        found = plots(report)
        events = _events(found, section)
        shown, own_charts = _shown(found, section, dict(events))
        control = control_accounts(report.variants, section)
        charts |= own_charts | {one.id: one.chart for own in control for one in own.charts}
        drawing = topology(report)
        if drawing is not None:
            loads[f"{section}-network"] = link_loads(report.variants[:MOST_PANELS])
        sections.append(
            {
                "id": section,
                "report": report,
                "label": label,
                "unlike": other,
                "settings": settings,
                "topology": drawing,
                "events": events,
                "plots": shown,
                "panels": _panels(own_charts),
                "control": control,
                "outputs": {v.name: own for v in report.variants if (own := outputs(v))},
            }
        )
    template = environment.get_template("page.html.j2")
    return template.render(
        sections=sections,
        pairs=side_by_side(reports),
        together=together,
        charts=charts,
        data={"loads": loads},
    )


def _events(found: Sequence[Plot], section: str) -> list[tuple[Mark, str]]:
    """The marks of the courses in order of time, and the identifiers of their rows."""
    contents = (plot.content for plot in found)
    courses = [one for own in contents if isinstance(own, Courses) for one in own.courses]
    marks = sorted({mark for one in courses for mark in one.marks}, key=lambda mark: mark.time_s)
    return [(mark, f"{section}-event-{number}") for number, mark in enumerate(marks, start=1)]


def _shown(
    found: Sequence[Plot], section: str, targets: Mapping[Mark, str]
) -> tuple[list[dict[str, Any]], dict[str, Chart]]:
    """The plots as the template takes them, and the charts among them by their identifiers."""
    shown, charts = [], {}
    for plot in found:
        identifier = f"{section}-plot-{plot.name}"
        chart = chart_of(plot.content, targets)
        if chart is not None:
            charts[identifier] = chart
        rows = rows_of(plot.content)
        shown.append(
            {
                "id": identifier,
                "title": plot.title,
                "note": plot.note,
                "chart": chart,
                "rows": None if rows is None else Markup(rows),
            }
        )
    return shown, charts


def _panels(charts: Mapping[str, Chart]) -> dict[str, str]:
    """The panel of the first chart of each variant, to which its row links."""
    found: dict[str, str] = {}
    for identifier, chart in charts.items():
        for number, panel in enumerate(chart.panels, start=1):
            if panel.title:
                found.setdefault(panel.title, f"{identifier}-{number}")
    return found


def topology(report: Report) -> Markup | None:
    """The drawing of the scenario; null if this version cannot read the scenario's text."""
    try:
        return Markup(draw_svg(loads_kept(report.description.scenario.text)))
    except ScenarioError:
        return None

"""The report as one page that needs nothing else: no script, no font, no picture from elsewhere."""

from collections.abc import Sequence

from markupsafe import Markup

from mptcplab.report import numbers
from mptcplab.report.canvas import page_svg
from mptcplab.report.control import control_accounts
from mptcplab.report.engines import side_by_side
from mptcplab.report.figures import plots
from mptcplab.report.flows import named, with_any
from mptcplab.report.model import Report
from mptcplab.report.pages import templates
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
        "estimate": numbers.estimate_shown,
        "estimate_with_unit": numbers.estimate_with_unit,
        "heading": numbers.heading,
        "named": named,
        "number": numbers.number,
        "path_figures": path_figures,
        "program_columns": PROGRAM_COLUMNS,
        "program_sentences": program_sentences,
        "theirs": theirs,
        "verdict_numbers": verdict_numbers,
        "with_any": with_any,
    }
    sections = [
        {
            "report": report,
            "label": label,
            "unlike": other,
            "settings": settings,
            "topology": topology(report),
            "plots": [(one, Markup(page_svg(one.drawing))) for one in plots(report)],
            "control": control_accounts(report.variants),
            "outputs": {v.name: found for v in report.variants if (found := outputs(v))},
        }
        for report, label, (other, settings) in zip(
            reports, labels(reports), unlike(reports), strict=True
        )
    ]
    template = environment.get_template("page.html.j2")
    return template.render(sections=sections, pairs=side_by_side(reports))


def topology(report: Report) -> Markup | None:
    """The drawing of the scenario; null if this version cannot read the scenario's text."""
    try:
        return Markup(draw_svg(loads_kept(report.description.scenario.text)))
    except ScenarioError:
        return None

"""The report of a sweep as one page that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup
from matplotlib.figure import Figure

from mptcplab.campaign.plots import curves, distributions, heat_maps
from mptcplab.campaign.report import SweepReport
from mptcplab.page.templates import templates
from mptcplab.report.canvas import svg_of
from mptcplab.report.numbers import heading
from mptcplab.scenario import ScenarioError, loads_kept
from mptcplab.scenario.topology import draw_svg

MOST_ROWS = 200
"""Points of a table of the page."""
MOST_PLOTTED = 4
"""Metrics with plots, where the reader has chosen none."""
POINTS_AN_INCH = 96


def to_html(report: SweepReport) -> str:
    """One self-contained page of HTML."""
    environment = templates("mptcplab.campaign")
    drawn = [
        (title, round(POINTS_AN_INCH * figure.get_figwidth()), Markup(svg_of(figure)))
        for title, figure in plots(report)
    ]
    return environment.get_template("sweep.html.j2").render(
        report=report,
        told=report.sweep.campaign.result,
        most_rows=MOST_ROWS,
        plots=drawn,
        topology=_topology(report),
    )


def plots(report: SweepReport) -> Iterator[tuple[str, Figure]]:
    """The plots that the sweep has data for, each with its title."""
    sweep = report.sweep
    if len(sweep) < 2:
        return
    for metric in report.columns if report.is_chosen else report.columns[:MOST_PLOTTED]:
        if not sweep.frame(metric)[metric].count():
            continue
        title = heading(metric)[0]
        if any(axis.is_drawn for axis in sweep.every_axis):
            yield f"Distribution of the {title}", distributions(sweep, metric)
            continue
        longest = max(sweep.every_axis, key=lambda axis: len(axis.rows))
        if len(longest.rows) > 1:
            key = longest.keys[0]
            yield f"{title} over {key}".capitalize(), curves(sweep, metric, key)
        if len(sweep.every_axis) == 2 and all(len(axis.rows) > 1 for axis in sweep.every_axis):
            yield f"{title} over both axes".capitalize(), heat_maps(sweep, metric)


def _topology(report: SweepReport) -> Markup | None:
    try:
        return Markup(draw_svg(loads_kept(report.sweep.campaign.result.scenario.text)))
    except ScenarioError:
        return None

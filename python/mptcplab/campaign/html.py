"""The report of a sweep as one page that needs nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from mptcplab.campaign.charts import HeatMap, curves, distributions, heat_maps
from mptcplab.campaign.report import SweepReport
from mptcplab.page.charts import Chart
from mptcplab.page.templates import anchor, templates
from mptcplab.report.numbers import heading
from mptcplab.scenario import ScenarioError, loads_kept
from mptcplab.scenario.topology import draw_svg

MOST_ROWS = 200
"""Points of a table of the page."""
MOST_PLOTTED = 4
"""Metrics with plots, where the reader has chosen none."""


@dataclass(frozen=True)
class Plot:
    """A chart, or heat maps."""

    id: str
    title: str
    chart: Chart | None = None
    heat_maps: tuple[HeatMap, ...] = ()


def to_html(report: SweepReport) -> str:
    """One self-contained page of HTML."""
    drawn = list(plots(report))
    return (
        templates("mptcplab.campaign")
        .get_template("sweep.html.j2")
        .render(
            report=report,
            told=report.sweep.campaign.result,
            most_rows=MOST_ROWS,
            plots=drawn,
            charts={plot.id: plot.chart for plot in drawn if plot.chart is not None},
            topology=_topology(report),
        )
    )


def plots(report: SweepReport) -> Iterator[Plot]:
    """The plots that the sweep has data for."""
    sweep = report.sweep
    if len(sweep) < 2:
        return
    for metric in report.columns if report.is_chosen else report.columns[:MOST_PLOTTED]:
        if not sweep.frame(metric)[metric].count():
            continue
        title = heading(metric)[0]
        identifier = anchor("plot", metric)
        if any(axis.is_drawn for axis in sweep.every_axis):
            chart = distributions(sweep, metric)
            yield Plot(identifier, f"Distribution of the {title}", chart)
            continue
        longest = max(sweep.every_axis, key=lambda axis: len(axis.rows))
        if len(longest.rows) > 1:
            key = longest.keys[0]
            chart = curves(sweep, metric, key)
            yield Plot(identifier, f"{title} over {key}".capitalize(), chart)
        if len(sweep.every_axis) == 2 and all(len(axis.rows) > 1 for axis in sweep.every_axis):
            maps = tuple(heat_maps(sweep, metric))
            over = f"{title} over both axes".capitalize()
            yield Plot(f"{identifier}-map", over, heat_maps=maps)


def _topology(report: SweepReport) -> Markup | None:
    try:
        return Markup(draw_svg(loads_kept(report.sweep.campaign.result.scenario.text)))
    except ScenarioError:
        return None

"""Common parts of the plots of a connection: styles, points, lines and the time axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from mptcplab.page.charts import Mark
from mptcplab.report.canvas import draw_marks
from mptcplab.report.palette import Style, styles
from mptcplab.trace.series import Line, Points

MOST_MARKERS = 3000
"""More points than this are a picture in the plot: the page would be large otherwise."""


@dataclass(frozen=True)
class Span:
    """Common settings of all plots over time of a connection."""

    left_s: float
    right_s: float
    marks: tuple[Mark, ...]


def looks(subflows: Sequence[int]) -> dict[int, Style]:
    """Returns a style for each subflow, the same in all plots of a connection."""
    found = styles(str(subflow) for subflow in subflows)
    return {subflow: found[str(subflow)] for subflow in subflows}


def scatter(axes: Axes, points: Points, styles_of: Mapping[int, Style]) -> None:
    """Draws points, each subflow in its style; many of them as a picture."""
    dense = points.frame.height > MOST_MARKERS
    for (subflow,), own in points.frame.sort("subflow").group_by("subflow", maintain_order=True):
        style = styles_of[int(str(subflow))]
        axes.plot(
            own["x"],
            own["y"],
            linestyle="",
            marker=style.marker,
            markersize=2.6,
            markeredgewidth=0,
            color=style.colour,
            label=f"subflow {subflow}",
            rasterized=dense,
        )


def draw_line(axes: Axes, line: Line, styles_of: Mapping[int, Style]) -> None:
    """Draws a line over time, a subflow's in its style."""
    if line.subflow is None:
        axes.plot(
            line.times_s, line.values, color="#000000", linewidth=0.9, label="all", zorder=1.5
        )
        return
    style = styles_of[line.subflow]
    axes.plot(
        line.times_s,
        line.values,
        color=style.colour,
        linestyle=style.dashes,
        marker=style.marker,
        markevery=(0.05 + 0.03 * (line.subflow % 4), 0.12),
        markersize=3.5,
        label=f"subflow {line.subflow}",
    )


def set_span(axes: Axes, span: Span) -> None:
    """Sets the time axis, and marks what happened."""
    axes.set_xlim(span.left_s, span.right_s)
    draw_marks(axes, span.marks)


def draw_legend(axes: Axes) -> None:
    """Puts the legend beside the axes."""
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), markerscale=1.6)

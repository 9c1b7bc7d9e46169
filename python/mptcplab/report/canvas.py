"""Common parts of all figures of matplotlib: look, margins, legend and marks."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mptcplab.page.charts import Mark, Numbers

WIDTH_INCHES = 8.2
NARROW_INCHES = 5.0
"""Of a figure that is narrower the legend stands above, as in the column of a paper."""
_LETTERS_AN_INCH = 14
"""Of a legend."""
LOOK: dict[Any, Any] = {
    "text.parse_math": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "mptcplab",
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.linewidth": 1.4,
    "path.simplify": True,
    "path.simplify_threshold": 0.3,
}
"""Settings of matplotlib, for `rc_context`."""


def figure_of(height_inches: float, width_inches: float = WIDTH_INCHES) -> Figure:
    """A figure with fixed margins: room for labels on the left, for the legend on the right.

    One that is narrow has the margins that it needs.
    """
    if width_inches < NARROW_INCHES:
        return Figure(figsize=(width_inches, height_inches), layout="constrained")
    figure = Figure(figsize=(width_inches, height_inches))
    figure.subplots_adjust(
        left=0.6 / width_inches,
        right=1 - 1.6 / width_inches,
        bottom=0.45 / height_inches,
        top=1 - 0.25 / height_inches,
        hspace=0.22,
    )
    return figure


def draw_legends(figure: Figure, panels: Sequence[Axes]) -> None:
    """Draws the legend of each panel beside it, or one of all above a narrow figure."""
    if figure.get_figwidth() >= NARROW_INCHES:
        for panel in panels:
            panel.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        return
    known: dict[str, Any] = {}
    for panel in panels:
        handles, names = panel.get_legend_handles_labels()
        known |= dict(zip(names, handles, strict=True))
    longest = max(map(len, known))
    across = max(1, int(figure.get_figwidth() * _LETTERS_AN_INCH / (longest + 6)))
    figure.legend(
        known.values(), known.keys(), loc="outside upper center", ncols=min(across, len(known))
    )


def from_zero(axes: Axes, values: Iterable[Numbers]) -> None:
    """Scales the axis of the values from 0 to just above the highest; to 1 where none is above 0.

    A line at 0 alone would leave the axis without a length, of which matplotlib warns.
    """
    highest = max((float(np.nanmax(one)) for one in values), default=0.0)
    axes.set_ylim(0, 1.08 * highest if highest > 0 else 1)


def draw_marks(axes: Axes, marks: Sequence[Mark]) -> None:
    """Draws a dashed line with its label at the time of each mark."""
    for mark in marks:
        axes.axvline(mark.time_s, color="#555555", linewidth=0.9, linestyle=(0, (2, 2)))
        axes.annotate(
            mark.label,
            (mark.time_s, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(2, -2),
            textcoords="offset points",
            rotation=90,
            va="top",
            ha="left",
            fontsize=7,
            color="#333333",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.7},
        )

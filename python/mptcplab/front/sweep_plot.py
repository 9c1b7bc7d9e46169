"""A sweep's plot: a metric over the values of an axis."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mptcplab.report.canvas import LOOK
from mptcplab.report.numbers import heading
from mptcplab.report.palette import Style, styles
from mptcplab.scenario.units import UnitError, parse_rate, parse_size, parse_time

if TYPE_CHECKING:
    from mptcplab.front.sweeps import Point, Sweep

PANEL_INCHES = (5.2, 3.2)
PANELS_A_ROW = 3
_DPI = 110


class SweepFigure(Figure):
    """A figure that a notebook shows without any setting of matplotlib's."""

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        self.savefig(file, format="png", dpi=_DPI)
        return file.getvalue()


def draw(sweep: Sweep, metric: str, path: str) -> Figure:
    """Draws a metric over the axis `path`, a panel for each choice of the other axes."""
    panels: dict[str, list[Point]] = {}
    for point in sweep:
        others = {key: value for key, value in point.values.items() if key != path}
        words = ", ".join(f"{key} {value}" for key, value in others.items())
        panels.setdefault(words, []).append(point)
    across = min(len(panels), PANELS_A_ROW) or 1
    down = -(-len(panels) // across) or 1
    places, names = _places(sweep.axes[path])
    with mpl.rc_context(LOOK):
        size = (PANEL_INCHES[0] * across, PANEL_INCHES[1] * down)
        figure = SweepFigure(figsize=size, layout="constrained")
        every = figure.subplots(down, across, sharey=True, squeeze=False).flat
        look = styles(sweep.variants)
        for axes, (title, points) in zip(every, panels.items(), strict=False):
            axes.set_title(title, fontsize=9)
            at = [places[sweep.axes[path].index(point.values[path])] for point in points]
            _panel(axes, points, metric, at, look)
            axes.set_xlabel(path)
            axes.set_xticks(places, names, rotation=30 if len(names) > 6 else 0)
        for axes in list(figure.axes)[len(panels) :]:
            axes.set_visible(False)
        first = figure.axes[0]
        name, unit = heading(metric)
        first.set_ylabel(f"{name} in {unit}" if unit else name)
        if metric != "aggregation_benefit" and first.get_ylim()[0] >= 0:
            first.set_ylim(bottom=0)
        handles, labels = first.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside right upper")
    return figure


def _panel(
    axes: Axes,
    points: Sequence[Point],
    metric: str,
    places: Sequence[float],
    look: Mapping[str, Style],
) -> None:
    for name, style in look.items():
        xs, means, below, above = [], [], [], []
        for place, point in zip(places, points, strict=True):
            found = next((one for one in point.variants if one.name == name), None)
            figure = None if found is None else found.metrics.get(metric)
            if figure is None or figure.mean is None:
                continue
            half = figure.half_width or 0.0
            xs.append(place)
            means.append(figure.mean)
            below.append(half)
            above.append(half)
        axes.errorbar(
            xs,
            means,
            yerr=[below, above] if any(below) else None,
            label=name,
            color=style.colour,
            linestyle=style.dashes,
            marker=style.marker,
            markersize=4,
            capsize=3,
        )


def _places(values: Sequence[Any]) -> tuple[list[float], list[str]]:
    """Where the values stand: to scale where all are quantities of one kind, else side by side."""
    words = [str(value) for value in values]
    for parse in (_number, parse_time, parse_rate, parse_size):
        try:
            return [float(parse(value)) for value in values], words
        except (UnitError, ValueError, TypeError):
            continue
    return [float(place) for place in range(len(values))], words


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError
    return float(value.removesuffix("%") if isinstance(value, str) else value)

"""Plots of results as figures of matplotlib, as wide as is asked for."""

from collections.abc import Iterable, Mapping, Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mptcplab.page.charts import Axis, Numbers
from mptcplab.page.drawing import MOST_POINTS
from mptcplab.page.thinning import extremes, means, pieces
from mptcplab.report.canvas import (
    LOOK,
    draw_legends,
    draw_marks,
    figure_of,
    from_zero,
)
from mptcplab.report.contents import TIME, Boxes, Courses, Distribution, Shares
from mptcplab.report.palette import Style
from mptcplab.report.series import Line

PANEL_INCHES = 2.0


def draw_courses(content: Courses, width_inches: float) -> Figure:
    """One panel a variant, one below the other."""
    drawn, lines = content.courses, content.lines
    with mpl.rc_context(LOOK):
        figure = figure_of(0.7 + PANEL_INCHES * len(drawn), width_inches)
        panels = figure.subplots(len(drawn), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        for panel, course in zip(panels, drawn, strict=True):
            _panel(panel, lines(course), content.colours)
            if content.x is TIME:
                draw_marks(panel, course.marks)
            panel.set_title(course.variant, loc="left", fontsize=9, fontweight="bold")
            panel.set_ylabel(content.y.words)
        panels[-1].set_xlabel(content.x.words)
        panels[-1].set_xlim(left=0)
        from_zero(panels[-1], (line.values for course in drawn for line in lines(course)))
        draw_legends(figure, list(panels))
    return figure


def _panel(panel: Axes, lines: Sequence[Line], colours: Mapping[str, Style]) -> None:
    seen: dict[str, int] = {}
    for line in lines:
        style = colours[line.subject]
        repeat = seen.get(line.subject, 0)
        seen[line.subject] = repeat + 1
        dashes = style.dashes if not repeat else ("-", "--", "-.", ":")[repeat % 4]
        places, values = _thinned(line)
        panel.plot(
            places,
            values,
            color=style.colour,
            linestyle=dashes,
            marker=style.marker,
            markevery=(0.05 + 0.03 * len(seen), 0.12),
            markersize=3.5,
            label=line.label,
            alpha=1.0 if repeat == 0 else 0.75,
        )


def _thinned(line: Line) -> tuple[Numbers, Numbers]:
    """As many points as can be told apart in print."""
    places, values = line.places, line.values
    if line.since_s is not None:
        return means(line.since_s, places, values, MOST_POINTS)
    parts = pieces(places, values)
    room = max(4, MOST_POINTS // max(len(parts), 1))
    told: list[Numbers] = []
    for part in parts:
        kept = extremes(values[part], room)
        told += [np.array([places[part][kept], values[part][kept]]), np.full((2, 1), np.nan)]
    whole = np.concatenate(told[:-1], axis=1)
    return whole[0], whole[1]


def draw_shares(content: Shares, width_inches: float) -> Figure:
    """A bar a variant, of its paths."""
    bars, colours = content.bars, content.colours
    with mpl.rc_context(LOOK | {"axes.grid.axis": "x"}):
        figure = Figure(figsize=(width_inches, 0.9 + 0.34 * len(bars)), layout="constrained")
        axes = figure.subplots()
        places = list(range(len(bars)))[::-1]
        left = [0.0] * len(bars)
        hatches = ("", "///", "...", "\\\\\\", "xxx", "++", "oo")
        interfaces = dict.fromkeys(name for bar in bars.values() for name in bar)
        for number, interface in enumerate(interfaces):
            widths = [100 * bar.get(interface, 0.0) for bar in bars.values()]
            drawn = axes.barh(
                places,
                widths,
                left=left,
                height=0.62,
                label=interface,
                color=colours[interface].colour,
                edgecolor="white",
                hatch=hatches[number % len(hatches)],
            )
            labels = [f"{width:.0f} %" if width >= 6 else "" for width in widths]
            axes.bar_label(
                drawn,
                labels,
                label_type="center",
                fontsize=8,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0, "alpha": 0.85},
            )
            left = [start + width for start, width in zip(left, widths, strict=True)]
        axes.set_yticks(places, list(bars))
        axes.set_xlim(0, 100)
        axes.set_xlabel("share of the payload in %")
        draw_legends(figure, [axes])
    return figure


def draw_distribution(content: Distribution, width_inches: float) -> Figure:
    """A line a variant."""
    known, looks = content.samples, content.looks
    with mpl.rc_context(LOOK):
        figure = figure_of(max(2.6, 0.6 + 0.17 * len(known)), width_inches)
        axes = figure.subplots()
        for name, values in known.items():
            steps = _thin(
                [(value, (place + 1) / len(values)) for place, value in enumerate(values)]
            )
            axes.step(
                [values[0], *(value for value, _ in steps)],
                [0.0, *(part for _, part in steps)],
                where="post",
                color=looks[name].colour,
                linestyle=looks[name].dashes,
                marker=looks[name].marker,
                markevery=max(1, len(steps) // 8),
                markersize=3.5,
                label=f"{name} (n = {len(values)})",
            )
        axes.set_ylim(0, 1.02)
        axes.set_ylabel("part of the samples")
        axes.set_xlabel(content.x.words)
        _scale(axes, content.x, known.values())
        draw_legends(figure, [axes])
    return figure


def draw_boxes(content: Boxes, width_inches: float) -> Figure:
    """A box a variant, one below the other."""
    known = content.samples
    with mpl.rc_context(LOOK | {"axes.grid.axis": "x"}):
        figure = Figure(figsize=(width_inches, 0.9 + 0.26 * len(known)), layout="constrained")
        axes = figure.subplots()
        axes.boxplot(
            list(known.values()),
            orientation="horizontal",
            positions=list(range(len(known)))[::-1],
            tick_labels=[f"{name} (n = {len(values)})" for name, values in known.items()],
            widths=0.6,
            flierprops={"marker": "o", "markersize": 3, "markerfacecolor": "none"},
            medianprops={"color": "#b3261e"},
        )
        axes.set_xlabel(content.x.words)
        _scale(axes, content.x, known.values())
    return figure


def _scale(axes: Axes, axis: Axis, samples: Iterable[Sequence[float]]) -> None:
    """From 0, or logarithmic."""
    if axis.logarithmic:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    elif min(map(min, samples)) > 0:
        axes.set_xlim(left=0)


def _thin(points: list[tuple[float, float]], most: int = 300) -> list[tuple[float, float]]:
    step = max(1, len(points) // most)
    return points if step == 1 else [*points[::step], points[-1]]

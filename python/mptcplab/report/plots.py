"""Plots of results: those of a page, as wide as is asked for."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mptcplab.metrics import VariantMetrics
from mptcplab.report.canvas import (
    LOOK,
    Drawing,
    draw_legends,
    draw_marks,
    figure_of,
    from_zero,
)
from mptcplab.report.palette import Style, styles
from mptcplab.report.series import Course, Line

PANEL_INCHES = 2.0
LEAST_SAMPLES = 5
"""Of fewer values a box says less than the values themselves."""
WIDE = 30
"""Ratio of the largest to the least value from which on an axis is logarithmic."""


def courses_over_time(
    courses: Sequence[Course],
    lines: Callable[[Course], Sequence[Line]],
    ylabel: str,
    colours: Mapping[str, Style],
    xlabel: str | None = None,
) -> Drawing | None:
    """One panel a variant over the same time, events marked; null if there is nothing to draw.

    With an ``xlabel`` over another figure than the time, without the events.
    """
    drawn = [course for course in courses if lines(course)]
    return partial(_courses, drawn, lines, ylabel, colours, xlabel) if drawn else None


def _courses(
    drawn: Sequence[Course],
    lines: Callable[[Course], Sequence[Line]],
    ylabel: str,
    colours: Mapping[str, Style],
    xlabel: str | None,
    width_inches: float,
) -> Figure:
    with mpl.rc_context(LOOK):
        figure = figure_of(0.7 + PANEL_INCHES * len(drawn), width_inches)
        panels = figure.subplots(len(drawn), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        for panel, course in zip(panels, drawn, strict=True):
            _panel(panel, lines(course), colours)
            if xlabel is None:
                draw_marks(panel, course.marks)
            panel.set_title(course.variant, loc="left", fontsize=9, fontweight="bold")
            panel.set_ylabel(ylabel)
        panels[-1].set_xlabel(xlabel or "time in s")
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
        panel.plot(
            line.places,
            line.values,
            color=style.colour,
            linestyle=dashes,
            marker=style.marker,
            markevery=(0.05 + 0.03 * len(seen), 0.12),
            markersize=3.5,
            label=line.label,
            alpha=1.0 if repeat == 0 else 0.75,
        )


def path_utilisation(
    variants: Sequence[VariantMetrics], colours: Mapping[str, Style]
) -> Drawing | None:
    """Share of the payload by path, a bar a variant; null if there are no paths."""
    bars = {variant.name: _shares(variant) for variant in variants if variant.paths}
    return partial(_stacked, bars, colours) if bars else None


def _stacked(
    bars: Mapping[str, Mapping[str, float]], colours: Mapping[str, Style], width_inches: float
) -> Figure:
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


def _shares(variant: VariantMetrics) -> dict[str, float]:
    """Interface to mean share, all clients together."""
    interfaces = dict.fromkeys(path.interface for path in variant.paths)
    shares = {interface: variant.metrics[f"share.{interface}"].mean for interface in interfaces}
    return {interface: share or 0.0 for interface, share in shares.items()}


def distribution(samples: Mapping[str, Sequence[float]], xlabel: str) -> Drawing | None:
    """Empirical cumulative distribution, a line a variant; null if there are no samples."""
    known = {name: sorted(values) for name, values in samples.items() if values}
    return partial(_steps, known, styles(samples), xlabel) if known else None


def _steps(
    known: Mapping[str, Sequence[float]],
    looks: Mapping[str, Style],
    xlabel: str,
    width_inches: float,
) -> Figure:
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
        axes.set_xlabel(xlabel)
        _scale_times(axes, list(known.values()))
        draw_legends(figure, [axes])
    return figure


def boxes(samples: Mapping[str, Sequence[float]], xlabel: str) -> Drawing | None:
    """A box a variant, by Tukey: quartiles, whiskers, outliers as circles.

    Of the variants with at least `LEAST_SAMPLES`; null if there are none.
    Tukey: Exploratory Data Analysis, 1977.
    """
    known = {name: values for name, values in samples.items() if len(values) >= LEAST_SAMPLES}
    return partial(_boxes, known, xlabel) if known else None


def _boxes(known: Mapping[str, Sequence[float]], xlabel: str, width_inches: float) -> Figure:
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
        axes.set_xlabel(xlabel)
        _scale_times(axes, list(known.values()))
    return figure


def _scale_times(axes: Axes, samples: Sequence[Sequence[float]]) -> None:
    """From 0, or logarithmic where the values differ by more than `WIDE`."""
    least, most = min(map(min, samples)), max(map(max, samples))
    if least > 0 and most / least > WIDE:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    elif least > 0:
        axes.set_xlim(left=0)


def _thin(points: list[tuple[float, float]], most: int = 300) -> list[tuple[float, float]]:
    step = max(1, len(points) // most)
    return points if step == 1 else [*points[::step], points[-1]]

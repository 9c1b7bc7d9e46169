"""The plots of a connection as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import polars as pl
from matplotlib.axes import Axes

from mptcplab.page.charts import Mark
from mptcplab.report.canvas import LOOK, figure_of, from_zero, svg_of
from mptcplab.report.palette import Style
from mptcplab.trace import many_subflows, series, words
from mptcplab.trace.render.axes import (
    MOST_MARKERS,
    Span,
    draw_legend,
    draw_line,
    looks,
    scatter,
    set_span,
)
from mptcplab.trace.series import Line, Points
from mptcplab.trace.views import View

HEIGHT_INCHES = 3.0
MARKED = {
    "traffic_moved": "moved",
    "fallback": "fallback",
    "fast_close": "fast close",
    "mp_fail": "MP_FAIL",
    "priority_changed": "priority",
}
"""Events that stand in the plots over time, and their labels."""
MOST_MARKS = 8
MOST_RINGS = 80
"""More marks on packets than this would hide the packets: then they stand below only."""


@dataclass(frozen=True)
class Plot:
    """A plot and what to say about it."""

    title: str
    note: str
    svg: str


def plots(view: View, connection: int) -> list[Plot]:
    """Returns all plots of a connection, each for the ends that sent data."""
    row = view.connections.filter(connection=connection).row(0, named=True)
    drawn = many_subflows.shown(view.subflows.filter(connection=connection))["subflow"].to_list()
    styles_of = looks(drawn)
    chosen = (pl.col("connection") == connection) & pl.col("subflow").is_in(drawn)
    packets = view.packets.filter(chosen)
    samples = view.samples.filter(chosen)
    span = _span(view, row)
    origin = view.origin_ns
    lifetime = (row["start_ns"], row["end_ns"])
    found: list[Plot | None] = []
    for sender in series.senders(view, connection):
        way = words.direction(sender)
        found += [
            _sequence(packets, sender, origin, styles_of, row["protocol"], span),
            _over_time(
                f"Throughput, {way}",
                "Payload in bins of 100 ms, or more where the plot is long; retransmissions "
                "included.",
                series.throughput(samples, sender, origin, lifetime),
                "Mbit/s",
                styles_of,
                span,
            ),
            _trips(
                f"Round-trip time against time, {way}",
                series.trips_over_time(packets, sender, origin),
                "time in s",
                styles_of,
                span,
            ),
            _trips(
                f"Round-trip time against sequence number, {way}",
                series.trips_over_sequence(packets, sender),
                "sequence number of the subflow in MB",
                styles_of,
            ),
            _over_time(
                f"Cumulative data, {way}",
                "Distinct bytes of each subflow; all: distinct bytes of the connection.",
                series.carried(samples, sender, origin),
                "MB",
                styles_of,
                span,
            ),
            _windows(samples, sender, origin, styles_of, span),
        ]
    return [plot for plot in found if plot is not None]


def delays(view: View, connection: int, matched: pl.DataFrame) -> list[Plot]:
    """Returns plots of one-way delays over time, one a direction, for a pair of captures."""
    row = view.connections.filter(connection=connection).row(0, named=True)
    styles_of = looks(view.subflows.filter(connection=connection)["subflow"].to_list())
    span = _span(view, row)
    found = []
    for sender in ("server", "client"):
        points = series.one_way(matched.filter(connection=connection), sender, view.origin_ns)
        title = f"One-way delay, {words.direction(sender)}"
        note = "Of each packet that both captures hold, clocks brought together."
        found.append(_over(title, note, points, ("time in s", "delay in ms"), styles_of, span))
    return [plot for plot in found if plot is not None]


def _span(view: View, connection: Mapping[str, Any]) -> Span:
    events = view.events.filter(
        pl.col("connection") == connection["connection"], pl.col("kind").is_in(list(MARKED))
    )
    marks = [
        Mark((event["t_ns"] - view.origin_ns) / 1e9, MARKED[event["kind"]])
        for event in events.head(MOST_MARKS).iter_rows(named=True)
    ]
    left, right = ((connection[name] - view.origin_ns) / 1e9 for name in ("start_ns", "end_ns"))
    if view.span.from_ns is not None:
        left = max(left, view.span.from_ns / 1e9)
    if view.span.to_ns is not None:
        right = min(right, view.span.to_ns / 1e9)
    margin = 0.02 * max(right - left, 1e-6)
    return Span(left - margin, right + margin, tuple(marks))


def _sequence(
    packets: pl.LazyFrame,
    sender: str,
    origin_ns: int,
    styles_of: Mapping[int, Style],
    protocol: str,
    span: Span,
) -> Plot | None:
    points = series.data_sequence(packets, sender, origin_ns)
    if points["all"].frame.is_empty():
        return None
    name = "Data sequence" if protocol == "mptcp" else "Sequence"
    rows = _strip_rows(points)
    strip = 0.12 + 0.16 * len(rows)
    with mpl.rc_context(LOOK):
        figure = figure_of(1.4 * HEIGHT_INCHES + strip)
        heights = (1.4 * HEIGHT_INCHES - 0.7, strip)
        look = {"height_ratios": heights, "hspace": 0.06}
        panels = figure.subplots(2, 1, sharex=True, squeeze=False, gridspec_kw=look)
        axes, below = panels[0, 0], panels[1, 0]
        _in_order(axes, points["all"].frame, styles_of)
        _sent_again(axes, points)
        set_span(axes, span)
        axes.set_ylabel(f"{name.lower()} number in MB")
        draw_legend(axes)
        _strip(below, rows, styles_of)
        below.set_xlabel("time in s")
        svg = svg_of(figure)
    note = (
        "Each packet with data at its first byte, coloured by subflow; below, when each subflow "
        "carried data."
    )
    marked = [("reinjected", "Ringed: carried by another subflow before.")]
    marked += [("again", "Crossed: sent again on its subflow.")]
    for which, sentence in marked:
        if 0 < points[which].frame.height <= MOST_RINGS:
            note += f" {sentence}"
    if any(points[which].frame.height > MOST_RINGS for which, _ in marked):
        note += " Where rings or crosses would hide the packets, they stand below only."
    return Plot(
        f"{name} numbers over time, {words.direction(sender)}",
        f"{note} {points['all'].note}".rstrip(),
        svg,
    )


def _in_order(axes: Axes, frame: pl.DataFrame, styles_of: Mapping[int, Style]) -> None:
    """Points of all subflows in turn, so that none hides another."""
    colours = [styles_of[subflow].colour for subflow in frame["subflow"]]
    dense = frame.height > MOST_MARKERS
    axes.scatter(frame["x"], frame["y"], s=7, c=colours, linewidths=0, rasterized=dense)
    for subflow in frame["subflow"].unique().sort():
        style = styles_of[subflow]
        axes.plot([], [], "o", color=style.colour, markersize=3.5, label=f"subflow {subflow}")


def _sent_again(axes: Axes, points: Mapping[str, Points]) -> None:
    """Marks on what was sent before: on this subflow, and on another."""
    for name, marker, size, label in (
        ("again", "x", 5.5, "sent again"),
        ("reinjected", "o", 6.5, "reinjected"),
    ):
        own = points[name].frame
        if 0 < own.height <= MOST_RINGS:
            axes.plot(
                own["x"],
                own["y"],
                linestyle="",
                marker=marker,
                markersize=size,
                markerfacecolor="none",
                markeredgecolor="black",
                markeredgewidth=0.8,
                label=label,
            )


def _strip_rows(points: Mapping[str, Points]) -> list[tuple[str, pl.DataFrame]]:
    """Returns the rows below: data of each subflow, and of all of them what was sent before."""
    every = points["all"].frame
    rows = [
        (f"subflow {subflow}", every.filter(pl.col("subflow") == subflow))
        for subflow in every["subflow"].unique().sort()
    ]
    others = (("reinjected", "reinjected"), ("again", "sent again"))
    found = [(label, points[name].frame) for name, label in others]
    return rows + [(label, frame) for label, frame in found if not frame.is_empty()]


def _strip(
    axes: Axes, rows: Sequence[tuple[str, pl.DataFrame]], styles_of: Mapping[int, Style]
) -> None:
    """A row of strokes for each, in the colours of the subflows; its name at the right."""
    for place, (label, frame) in enumerate(rows):
        strokes = frame.unique(["subflow", "x"]).sort("x")
        colours = [styles_of[subflow].colour for subflow in strokes["subflow"]]
        axes.vlines(strokes["x"], -place - 0.38, -place + 0.38, colors=colours, linewidth=0.7)
        axes.annotate(
            label,
            (1.0, -place),
            xycoords=("axes fraction", "data"),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=7.5,
        )
    axes.set_yticks([])
    axes.set_ylim(-len(rows) + 0.4, 0.6)
    axes.grid(visible=False)


def _trips(
    title: str,
    points: Points,
    xlabel: str,
    styles_of: Mapping[int, Style],
    span: Span | None = None,
) -> Plot | None:
    note = "As seen where the capture was made: near the receiver it is short."
    return _over(title, note, points, (xlabel, "RTT in ms"), styles_of, span)


def _over(
    title: str,
    note: str,
    points: Points,
    labels: tuple[str, str],
    styles_of: Mapping[int, Style],
    span: Span | None,
) -> Plot | None:
    """Points from 0 up."""
    if points.frame.is_empty():
        return None
    with mpl.rc_context(LOOK):
        figure = figure_of(HEIGHT_INCHES)
        axes = figure.subplots()
        scatter(axes, points, styles_of)
        if span is not None:
            axes.set_xlim(span.left_s, span.right_s)
        axes.set_xlabel(labels[0])
        axes.set_ylabel(labels[1])
        _scale(axes, points)
        draw_legend(axes)
        svg = svg_of(figure)
    return Plot(title, f"{note} {points.note}".rstrip(), svg)


def _scale(axes: Axes, points: Points) -> None:
    """From 0 up, or logarithmic."""
    if points.logarithmic:
        heights = points.frame["y"].to_numpy()
        axes.set_yscale("log")
        axes.set_ylim(0.8 * heights.min(), 1.25 * heights.max())
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    else:
        axes.set_ylim(bottom=0)


def _over_time(
    title: str,
    note: str,
    lines: Sequence[Line],
    ylabel: str,
    styles_of: Mapping[int, Style],
    span: Span,
) -> Plot | None:
    if not lines:
        return None
    with mpl.rc_context(LOOK):
        figure = figure_of(HEIGHT_INCHES)
        axes = figure.subplots()
        for line in lines:
            draw_line(axes, line, styles_of)
        set_span(axes, span)
        axes.set_xlabel("time in s")
        axes.set_ylabel(ylabel)
        from_zero(axes, (line.values for line in lines))
        draw_legend(axes)
        svg = svg_of(figure)
    return Plot(title, note, svg)


def _windows(
    samples: pl.DataFrame,
    sender: str,
    origin_ns: int,
    styles_of: Mapping[int, Style],
    span: Span,
) -> Plot | None:
    flying = series.in_flight(samples, sender, origin_ns)
    window = series.window(samples, sender, origin_ns)
    if not flying:
        return None
    panels = 1 if window is None else 2
    with mpl.rc_context(LOOK):
        figure = figure_of(0.7 + 1.9 * panels)
        every = figure.subplots(panels, 1, sharex=True, squeeze=False)[:, 0]
        for line in flying:
            draw_line(every[0], line, styles_of)
        every[0].set_ylabel("in flight in kB")
        draw_legend(every[0])
        if window is not None:
            every[1].plot(window.times_s, window.values, color="black", label="window")
            every[1].set_ylabel("window in kB")
            draw_legend(every[1])
        for axes in every:
            axes.set_ylim(bottom=0)
        every[-1].set_xlabel("time in s")
        every[-1].set_xlim(span.left_s, span.right_s)
        svg = svg_of(figure)
    note = (
        "Unacknowledged bytes of each subflow at the end of a bin, and the window that the "
        "receiver granted, the largest that any subflow told."
    )
    return Plot(f"Bytes in flight and window, {words.direction(sender)}", note, svg)

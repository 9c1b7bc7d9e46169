"""The charts of a connection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from mptcplab.page.charts import Axis, Chart, Kind, Mark, Panel, Series
from mptcplab.report.charts import DASHES, colour_of
from mptcplab.report.palette import Style
from mptcplab.trace import many_subflows, series, words
from mptcplab.trace.render.looks import looks
from mptcplab.trace.series import Line, Points
from mptcplab.trace.views import View

MARKED = {
    "traffic_moved": "moved",
    "fallback": "fallback",
    "fast_close": "fast close",
    "mp_fail": "MP_FAIL",
    "priority_changed": "priority",
}
"""Events that stand in the charts over time, and their labels."""
MOST_MARKS = 8
_INK = "var(--ink)"


@dataclass(frozen=True)
class Plot:
    """A chart and what to say about it."""

    title: str
    note: str
    chart: Chart


@dataclass(frozen=True)
class _Frame:
    """Common settings of all charts of a connection."""

    time: Axis
    group: str
    marks: tuple[Mark, ...]
    looks: Mapping[int, Style]

    def chart(self, y: Axis, drawn: Sequence[Series], x: Axis | None = None) -> Chart:
        """A chart over time, with the marks; over another figure without them."""
        if x is not None:
            return Chart(x, y, (Panel("", tuple(drawn)),))
        return Chart(self.time, y, (Panel("", tuple(drawn), self.marks),), self.group)


def charts(view: View, connection: int) -> list[Plot]:
    """Returns all charts of a connection, each for the ends that sent data."""
    row = view.connections.filter(connection=connection).row(0, named=True)
    drawn = many_subflows.shown(view.subflows.filter(connection=connection))["subflow"].to_list()
    frame = _frame(view, row, drawn)
    chosen = (pl.col("connection") == connection) & pl.col("subflow").is_in(drawn)
    packets = view.packets.filter(chosen)
    samples = view.samples.filter(chosen)
    origin = view.origin_ns
    lifetime = (row["start_ns"], row["end_ns"])
    found: list[Plot | None] = []
    for sender in series.senders(view, connection):
        way = words.direction(sender)
        found += [
            _sequence(packets, sender, origin, row["protocol"], frame),
            _over_time(
                f"Throughput, {way}",
                "Payload, retransmissions included.",
                series.throughput(samples, sender, origin, lifetime),
                Axis("throughput", "Mbit/s"),
                frame,
            ),
            _trips(
                f"Round-trip time against time, {way}",
                series.trips_over_time(packets, sender, origin),
                frame,
            ),
            _trips(
                f"Round-trip time against sequence number, {way}",
                series.trips_over_sequence(packets, sender),
                frame,
                Axis("sequence number of the subflow", "MB"),
            ),
            _over_time(
                f"Cumulative data, {way}",
                "Distinct bytes of each subflow; all: distinct bytes of the connection.",
                series.carried(samples, sender, origin),
                Axis("data", "MB"),
                frame,
            ),
            _windows(samples, sender, origin, frame),
        ]
    return [plot for plot in found if plot is not None]


def delays(view: View, connection: int, matched: pl.DataFrame) -> list[Plot]:
    """Returns charts of one-way delays over time, one a direction, for a pair of captures."""
    row = view.connections.filter(connection=connection).row(0, named=True)
    subflows = view.subflows.filter(connection=connection)["subflow"].to_list()
    frame = _frame(view, row, subflows)
    found = []
    for sender in ("server", "client"):
        points = series.one_way(matched.filter(connection=connection), sender, view.origin_ns)
        title = f"One-way delay, {words.direction(sender)}"
        note = "Of each packet that both captures hold, clocks brought together."
        found.append(_heights(title, note, points, "delay", frame, None))
    return [plot for plot in found if plot is not None]


def event_row(connection: int, number: int) -> str:
    """Returns the identifier of the row of an event, by its place in the table."""
    return f"connection-{connection}-event-{number}"


def group_of(connection: int) -> str:
    """Returns the group of a connection's charts over time, which are zoomed together."""
    return f"time-{connection}"


def _frame(view: View, connection: Mapping[str, Any], subflows: Sequence[int]) -> _Frame:
    number = connection["connection"]
    events = view.events.filter(connection=number).with_row_index("place")
    marks = tuple(
        Mark(
            (event["t_ns"] - view.origin_ns) / 1e9,
            MARKED[event["kind"]],
            event_row(number, event["place"]),
        )
        for event in events.filter(pl.col("kind").is_in(list(MARKED)))
        .head(MOST_MARKS)
        .iter_rows(named=True)
    )
    left, right = ((connection[name] - view.origin_ns) / 1e9 for name in ("start_ns", "end_ns"))
    if view.span.from_ns is not None:
        left = max(left, view.span.from_ns / 1e9)
    if view.span.to_ns is not None:
        right = min(right, view.span.to_ns / 1e9)
    margin = 0.01 * max(right - left, 1e-6)
    time = Axis("time", "s", limits=(left - margin, right + margin))
    return _Frame(time, group_of(number), marks, looks(subflows))


def _sequence(
    packets: pl.LazyFrame, sender: str, origin_ns: int, protocol: str, frame: _Frame
) -> Plot | None:
    points = series.data_sequence(packets, sender, origin_ns)
    if points["all"].frame.is_empty():
        return None
    name = "Data sequence" if protocol == "mptcp" else "Sequence"
    drawn = _scattered(points["all"], frame.looks)
    note = "Each packet with data at its first byte."
    for which, label, sentence in (
        ("reinjected", "reinjected", "Reinjected: carried by another subflow before."),
        ("again", "sent again", "Sent again: on its subflow."),
    ):
        own = points[which].frame
        if not own.is_empty():
            drawn.append(_points_of(own, label, _INK))
            note += f" {sentence}"
    return Plot(
        f"{name} numbers over time, {words.direction(sender)}",
        f"{note} {points['all'].note}".rstrip(),
        frame.chart(Axis(f"{name.lower()} number", "MB", from_zero=False), drawn),
    )


def _trips(title: str, points: Points, frame: _Frame, x: Axis | None = None) -> Plot | None:
    note = "As seen where the capture was made: near the receiver it is short."
    return _heights(title, note, points, "RTT", frame, x)


def _heights(
    title: str, note: str, points: Points, figure: str, frame: _Frame, x: Axis | None
) -> Plot | None:
    """Points from 0 up, in ms."""
    if points.frame.is_empty():
        return None
    y = Axis(figure, "ms", logarithmic=points.logarithmic)
    chart = frame.chart(y, _scattered(points, frame.looks), x)
    return Plot(title, f"{note} {points.note}".rstrip(), chart)


def _scattered(points: Points, styles_of: Mapping[int, Style]) -> list[Series]:
    return [
        _points_of(own, f"subflow {subflow}", colour_of(styles_of[int(str(subflow))]))
        for (subflow,), own in points.frame.sort("subflow", maintain_order=True).group_by(
            "subflow", maintain_order=True
        )
    ]


def _points_of(own: pl.DataFrame, label: str, colour: str) -> Series:
    frames = own["frame"].to_numpy() if "frame" in own.columns else None
    x, y = own["x"].to_numpy(), own["y"].to_numpy()
    return Series(label, colour, x, y, Kind.POINTS, frames=frames)


def _over_time(title: str, note: str, lines: Sequence[Line], y: Axis, frame: _Frame) -> Plot | None:
    if not lines:
        return None
    # All together comes first: what comes later is drawn above it.
    ordered = sorted(lines, key=lambda line: line.subflow is not None)
    return Plot(title, note, frame.chart(y, [_line(line, frame.looks) for line in ordered]))


def _line(line: Line, styles_of: Mapping[int, Style], label: str = "all") -> Series:
    colour = _INK
    dashes: tuple[int, ...] = ()
    if line.subflow is not None:
        style = styles_of[line.subflow]
        label, colour, dashes = f"subflow {line.subflow}", colour_of(style), DASHES[style.dashes]
    if line.ends_s is None:
        return Series(label, colour, line.times_s, line.values, dashes=dashes)
    # Beyond its ends a line has no values.
    known = np.isfinite(line.values)
    since = float(line.times_s[known][0])
    x, y = line.ends_s[known], line.values[known]
    return Series(label, colour, x, y, Kind.MEANS, dashes, since)


def _windows(samples: pl.DataFrame, sender: str, origin_ns: int, frame: _Frame) -> Plot | None:
    flying = series.in_flight(samples, sender, origin_ns)
    window = series.window(samples, sender, origin_ns)
    if not flying:
        return None
    drawn = [_line(line, frame.looks) for line in flying]
    if window is not None:
        drawn.append(_line(window, frame.looks, "window"))
    note = (
        "Unacknowledged bytes of each subflow at the end of a bin of 100 ms, and the window that "
        "the receiver granted, the largest that any subflow told."
    )
    title = f"Bytes in flight and window, {words.direction(sender)}"
    return Plot(title, note, frame.chart(Axis("in flight", "kB"), drawn))

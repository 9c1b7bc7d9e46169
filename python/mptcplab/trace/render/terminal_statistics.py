"""The statistics of the connected-car page, as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl
from rich.console import Console, RenderableType

from mptcplab.report.numbers import UNKNOWN
from mptcplab.trace import many_subflows, words
from mptcplab.trace.figures import cumulative, rtt_by_sequence
from mptcplab.trace.handover import BIN_NS
from mptcplab.trace.render.direction_tables import ROWS, Titled, by_direction, over_time
from mptcplab.trace.render.grid import columns, divided, titled
from mptcplab.trace.render.json import intervals
from mptcplab.trace.views import View


def statistics_tables(view: View, connection: int, console: Console) -> Iterable[RenderableType]:
    """Packets by address, intervals between starts, bytes over time, RTT over sequence numbers."""
    for title, head, rows in statistics(view, connection):
        keys = 2 if head[0] in ("address", "subflow") else 1
        words_first = ("address", "of the", "direction", "subflows", "from")
        first = columns(head[:keys], [row[:keys] for row in rows], words_first)
        rest = columns(head[keys:], [row[keys:] for row in rows])
        yield titled(title, divided(first, rest, console))


def statistics(view: View, connection: int) -> Iterable[Titled]:
    """Returns the tables as texts."""
    yield _addresses(view, connection)
    subflows = view.subflows.filter(connection=connection)
    if subflows.height > 1:
        yield _intervals(subflows)
    samples = view.samples.filter(connection=connection)
    for sender in ("client", "server"):
        own = samples.filter(pl.col("from") == sender)
        if own["new_bytes"].sum():
            yield _courses(view, own, many_subflows.shown(subflows), sender)
    yield from over_time(view, connection)
    if view.trace.has_packets:
        yield from by_direction(view, connection)
        every = rtt_by_sequence(view.packets.filter(pl.col("connection") == connection))
        # Where only a handshake was measured there is no course.
        trips = every.filter(pl.col("last_sequence").max().over("subflow", "from") > 1)
        if not trips.is_empty():
            yield _trips(trips)


def _addresses(view: View, connection: int) -> Titled:
    head = (
        "address",
        "of the",
        "packets",
        "rate\n1/ms",
        "share\n%",
        "burst rate\n1/ms",
        "burst start\ns",
        "bytes",
    )
    rows = [
        (
            row["address"],
            row["end"],
            words.count(row["packets"]),
            UNKNOWN if row["packets_per_ms"] is None else f"{row['packets_per_ms']:.4f}",
            f"{100 * row['share']:.2f}",
            f"{row['burst_packets_per_ms']:.4f}",
            words.seconds(row["burst_start_ns"], view.origin_ns),
            words.size(row["bytes"]),
        )
        for row in view.addresses.filter(connection=connection).iter_rows(named=True)
    ]
    return "packets by address", head, rows


def _intervals(subflows: pl.DataFrame) -> Titled:
    rows = [
        (f"{one['from_subflow']} – {one['to_subflow']}", f"{one['interval_ns'] / 1e9:.4f}")
        for one in intervals(subflows.iter_rows(named=True))
    ]
    title = "intervals between the starts of subflows"
    if len(rows) > many_subflows.SHOWN:
        title += f", the first {many_subflows.SHOWN} and from the first to the last"
        rows = [*rows[: many_subflows.SHOWN], rows[-1]]
    return title, ("subflows", "interval\ns"), rows


def _courses(view: View, samples: pl.DataFrame, shown: pl.DataFrame, sender: str) -> Titled:
    """Returns the data that each subflow, and all together, had carried at some times."""
    course = cumulative(samples.filter(pl.col("subflow").is_in(shown["subflow"].implode())))
    subflows = course["subflow"].unique().sort().to_list()
    first, last = int(str(course["t_ns"].min())), int(str(course["t_ns"].max())) + BIN_NS
    bins = (last - first) // BIN_NS
    count = min(ROWS, bins)
    rows = []
    for place in range(1, count + 1):
        # A row ends where a bin does: nothing is known of a part of one.
        until = first + bins * place // count * BIN_NS
        carried = [
            course.filter(pl.col("subflow") == subflow, pl.col("t_ns") < until)["bytes"].max()
            for subflow in subflows
        ]
        known = [int(str(value or 0)) for value in carried]
        every = int(samples.filter(pl.col("t_ns") < until)["new_bytes"].sum())
        cells = [words.size(value) for value in (*known, every)]
        rows.append((words.seconds(until, view.origin_ns), *cells))
    head = ("until\ns", *(f"subflow {subflow}" for subflow in subflows), "all")
    return f"cumulative data of the subflows, {words.direction(sender)}", head, rows


def _trips(trips: pl.DataFrame) -> Titled:
    rows = [
        (
            str(row["subflow"]),
            words.direction(row["from"]),
            f"{row['first_sequence']} – {row['last_sequence']}",
            words.count(row["samples"]),
            *(words.milliseconds(row[f"rtt_{which}_ns"]) for which in ("min", "mean", "max")),
        )
        for row in trips.iter_rows(named=True)
    ]
    head = (
        "subflow",
        "direction",
        "sequence numbers",
        "samples",
        "min\nms",
        "mean\nms",
        "max\nms",
    )
    return "round trips by sequence number", head, rows

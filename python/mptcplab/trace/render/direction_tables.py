"""Figures by direction, of each subflow and of the connection, in cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from mptcplab.report.numbers import UNKNOWN, number
from mptcplab.trace import many_subflows, words
from mptcplab.trace.directions import data_directions, directions
from mptcplab.trace.figures import ENDS, shares
from mptcplab.trace.views import View

Titled = tuple[str, Sequence[str], Sequence[Sequence[str]]]
"""Title, head and rows of a table."""

ROWS = 10
"""Rows of a course over time, at the most."""
BY_DIRECTION = (
    "subflow",
    "from",
    "data\npackets",
    "segment B\nmin/mean/max",
    "pure\nACKs",
    "duplicate\nACKs",
    "SACK/D-SACK\nblocks",
    "out of\norder",
    "initial window\npackets, bytes",
    "longest gap\nof packets",
    "throughput\nMbit/s",
    "RTT ms\nmedian/95 %/99 %",
)
OF_DATA = ("from", "in flight\nat most", "in flight\nmean", "data RTT ms\nmedian/95 %/99 %")


def by_direction(view: View, connection: int) -> Iterable[Titled]:
    """Returns the figures of packets by subflow and end, and of the data of each end."""
    packets = view.numbered_packets.filter(pl.col("connection") == connection)
    shown = many_subflows.shown(view.subflows.filter(connection=connection))
    counts = {row["subflow"]: row for row in shown.iter_rows(named=True)}
    rows = [
        _cells(row, counts[row["subflow"]])
        for row in directions(packets).iter_rows(named=True)
        if row["subflow"] in counts
    ]
    if rows:
        yield "packets by direction", BY_DIRECTION, rows
    data = data_directions(packets)
    if not data.is_empty():
        yield "data of the connection", OF_DATA, [_data(row) for row in data.iter_rows(named=True)]


def _cells(row: Mapping[str, Any], counted: Mapping[str, Any]) -> Sequence[str]:
    end = row["from"]
    # Columns about the data of an end count the packets that the other one sends.
    other = ENDS[1 - ENDS.index(end)]
    sizes = [row[f"segment_{which}_bytes"] for which in ("min", "mean", "max")]
    window = row["initial_window_packets"]
    return (
        str(row["subflow"]),
        end,
        words.count(row["data_packets"]),
        UNKNOWN if sizes[0] is None else "/".join(f"{size:.0f}" for size in sizes),
        words.count(row["pure_acknowledgements"]),
        words.count(counted[f"{other}_duplicate_acknowledgements"]),
        f"{counted[f'{other}_sack_blocks']}/{counted[f'{other}_dsack_blocks']}",
        words.count(counted[f"{end}_out_of_order"]),
        UNKNOWN if window is None else f"{window}, {words.size(row['initial_window_bytes'])}",
        words.length(row["packet_gap_max_ns"]),
        number(row["throughput_mbps"]),
        _quantiles(row, "rtt"),
    )


def _data(row: Mapping[str, Any]) -> Sequence[str]:
    return (
        row["from"],
        words.size(row["flight_max_bytes"]),
        UNKNOWN
        if row["flight_mean_bytes"] is None
        else words.size(round(row["flight_mean_bytes"])),
        _quantiles(row, "data_rtt"),
    )


def _quantiles(row: Mapping[str, Any], name: str) -> str:
    values = [row[f"{name}_{which}_ns"] for which in ("median", "p95", "p99")]
    return UNKNOWN if values[0] is None else "/".join(words.milliseconds(one) for one in values)


def over_time(view: View, connection: int) -> Iterable[Titled]:
    """Returns the part that each subflow had in the payload of an end, over time."""
    samples = view.samples.filter(connection=connection)
    held = many_subflows.shown(view.subflows.filter(connection=connection))["subflow"].to_list()
    for sender in ENDS:
        course = shares(samples.filter(pl.col("from") == sender), ROWS)
        subflows = [one for one in held if one in course["subflow"]]
        if len(subflows) < 2:
            continue
        rows = [
            (
                words.seconds(until, view.origin_ns),
                *(_part(own.filter(subflow=subflow)) for subflow in subflows),
            )
            for (until,), own in course.group_by("until_ns", maintain_order=True)
        ]
        head = ("until\ns", *(f"subflow {one}\n%" for one in subflows))
        yield f"share of the subflows in the payload, {words.direction(sender)}", head, rows


def _part(own: pl.DataFrame) -> str:
    return number(100 * own["share"][0]) if own.height else "0"

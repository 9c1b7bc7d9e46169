"""Packets that a page shows decoded: those around events, and an even sample of the others."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

import polars as pl

from mptcplab.trace.packet_list import COLUMNS, decoded
from mptcplab.trace.views import View

AROUND = 8
"""Packets before and after an event."""
OF_SAMPLE = 10
"""Packets in a row at each place of the even sample."""
EVENTS_PART = 0.5
"""Part of the room that events have; the sample has the rest, so that it is never without."""


def packet_sample(view: View, connection: int, events_ns: Sequence[int], room: int) -> list[Any]:
    """At most about `room` packets of a connection as data, in pieces without a gap.

    All of them where there is room; else those around the events, the first ones first, and some in
    a row at places that are even in time. Of each packet: seconds after the capture's first one,
    subflow, sender, what `packet_list` tells of it, and frame. No more than these are in memory.
    """
    every = view.numbered_packets
    packets = every.filter(pl.col("connection") == connection).with_row_index("index")
    events = events_ns[: int(EVENTS_PART * room) // (2 * AROUND)]
    cells = max(1, (room - 2 * AROUND * len(events)) // OF_SAMPLE)
    [(start_ns, end_ns)] = (
        view.connections.filter(connection=connection).select("start_ns", "end_ns").iter_rows()
    )
    if view.span.from_ns is not None:
        start_ns = max(start_ns, view.origin_ns + view.span.from_ns)
    if view.span.to_ns is not None:
        end_ns = min(end_ns, view.origin_ns + view.span.to_ns)
    width_ns = (end_ns - start_ns) // cells + 1
    is_event = pl.col("t_ns").is_in(events)
    # Events have numbers below 0, which no cell of time has.
    number = (
        pl.when(is_event)
        .then(-1 - pl.col("t_ns"))
        .otherwise((pl.col("t_ns") - start_ns) // width_ns)
    )
    found = packets.group_by(number.alias("number")).agg(pl.col("index").min(), pl.len())
    chosen = _chosen(found.collect(engine="streaming"), room)
    places = packets.filter(pl.col("index").is_in(chosen)).select("index", "place")
    indices = dict(places.collect(engine="streaming").select("place", "index").iter_rows())
    # By their places alone they are read without the columns of all others.
    rows = every.filter(pl.col("place").is_in(list(indices))).select("place", *COLUMNS)
    pieces: list[list[Any]] = []
    before = None
    for row in rows.collect(engine="streaming").sort("place").iter_rows(named=True):
        index = indices[row["place"]]
        if before is None or index > before + 1:
            pieces.append([])
        before = index
        at_s = (row["t_ns"] - view.origin_ns) / 1e9
        pieces[-1].append([at_s, row["subflow"], row["from"], decoded(row), row["frame"]])
    return pieces


def command(view: View, connection: int) -> str:
    """The command that lists the packets of a connection; a range of time can be added."""
    files = shlex.join(file.path for file in view.trace.capture.files)
    return f"mptcplab trace {files} --connection {connection} --packets"


def _chosen(found: pl.DataFrame, room: int) -> list[int]:
    """Indices of packets: around events, and from the first packet of each cell of time on."""
    held = int(found["len"].sum())
    if held <= room:
        return list(range(held))
    chosen: set[int] = set()
    for number, index, _ in found.iter_rows():
        before, after = (AROUND, AROUND) if number < 0 else (0, OF_SAMPLE)
        chosen.update(range(max(0, index - before), min(held, index + after)))
    return sorted(chosen)

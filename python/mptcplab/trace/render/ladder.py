"""The ladder: the packets that open, announce, change and close, between the addresses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from mptcplab.trace.figures import ENDS
from mptcplab.trace.views import View

SIGNALS = "MP_CAPABLE|MP_JOIN|ADD_ADDR|REMOVE_ADDR|MP_PRIO|MP_FAIL|MP_FASTCLOSE|MP_TCPRST|DSS fin"
"""Options whose packets are shown."""
TOLD = (
    "subflow_established",
    "data_fin_acknowledged",
    "fallback",
    "checksum_wrong",
    "join_rejected",
    "hmac_wrong",
)
"""Events whose packets are shown too."""
FIRST, LAST = 60, 20
"""With more steps than both, those in between are left out."""


@dataclass(frozen=True)
class Step:
    """A packet of the ladder."""

    t_ns: int
    frame: int
    subflow: int
    sender: str
    source: str
    """Address."""
    target: str
    head: str
    """Flags and payload in words."""
    options: tuple[str, ...]
    """Of MPTCP, spelled out."""
    skipped: int
    """Packets of the connection between the step before and this one."""


@dataclass(frozen=True)
class Ladder:
    """The steps of a connection, and the addresses between which they go."""

    clients: tuple[str, ...]
    servers: tuple[str, ...]
    steps: tuple[Step, ...]
    left_out: int
    """Steps that are left out after the first ones."""


def ladder(view: View, connection: int) -> Ladder:
    """Returns the ladder of a connection, within the range of the view."""
    packets = view.numbered_packets.filter(
        pl.col("connection") == connection, pl.col("kind") != "duplicate"
    )
    told = view.events.filter(pl.col("connection") == connection, pl.col("kind").is_in(TOLD))
    rows = _shown(packets, told)
    left_out = max(0, rows.height - FIRST - LAST)
    kept = pl.concat([rows.head(FIRST), rows.tail(LAST)]) if left_out else rows
    addresses = {
        row["subflow"]: (row["client_address"], row["server_address"])
        for row in view.subflows.filter(connection=connection).iter_rows(named=True)
    }
    steps = [
        _step(row, addresses[row["subflow"]], skipped)
        for row, skipped in zip(kept.iter_rows(named=True), _between(packets, kept), strict=True)
    ]
    used = [addresses[step.subflow] for step in steps]
    sides = [tuple(dict.fromkeys(pair[side] for pair in used)) for side in range(len(ENDS))]
    return Ladder(sides[0], sides[1], tuple(steps), left_out)


COLUMNS = ("place", "t_ns", "frame", "subflow", "from", "flags", "payload_bytes", "mptcp")


def _shown(packets: pl.LazyFrame, told: pl.DataFrame) -> pl.DataFrame:
    """Returns the packets of the ladder, in order."""
    wanted = packets.select(COLUMNS)
    signals = pl.col("flags").str.contains("[SFR]") | pl.col("mptcp").str.contains(SIGNALS)
    found = wanted.filter(signals.fill_null(value=False)).collect(engine="streaming").sort("place")
    # An end that is done answers every packet by RST: the first one tells it.
    bare = pl.col("flags").str.contains("R") & pl.col("mptcp").is_null()
    again = bare & (pl.int_range(pl.len()).over("subflow", "from", bare) > 0)
    moments = told.select("t_ns", "frame").unique()
    third = _third_packets(packets, found)
    more = wanted.filter(
        (pl.col("t_ns").is_in(moments["t_ns"].to_list()))
        & (pl.col("frame").is_in(moments["frame"].to_list()))
        | pl.col("place").is_in(third)
    ).collect(engine="streaming")
    also = more.filter(pl.col("place").is_in(third))
    by_event = more.join(moments, on=["t_ns", "frame"], how="semi")
    return pl.concat([found.filter(~again), also, by_event]).unique("place").sort("place")


def _third_packets(packets: pl.LazyFrame, found: pl.DataFrame) -> list[int]:
    """Places of the first packet that answers the SYN/ACK of each subflow.

    It ends the handshake of TCP.
    """
    answers = (
        found.filter(pl.col("flags").str.contains("S") & pl.col("flags").str.contains("A"))
        .group_by("subflow")
        .agg(pl.col("place").min().alias("answered"), pl.col("from").first().alias("answerer"))
    )
    first = (
        packets.select("subflow", "from", "place")
        .join(answers.lazy(), on="subflow")
        .filter(pl.col("place") > pl.col("answered"), pl.col("from") != pl.col("answerer"))
        .group_by("subflow")
        .agg(pl.col("place").min())
    )
    return first.collect(engine="streaming")["place"].to_list()


def _between(packets: pl.LazyFrame, kept: pl.DataFrame) -> list[int]:
    """Returns how many packets are between each step and the one before it."""
    if kept.is_empty():
        return []
    places = kept["place"].to_numpy()
    before = packets.filter(pl.col("place") < places[-1]).select("place")
    every = before.collect(engine="streaming")["place"].to_numpy()
    counts = np.bincount(np.searchsorted(places, every, side="right"), minlength=places.size)
    # A step itself stands in the count of the next one.
    return [int(counts[step]) - (step > 0) for step in range(places.size)]


def _step(row: dict[str, object], ends: tuple[str, str], skipped: int) -> Step:
    sender = str(row["from"])
    source, target = ends if sender == "client" else ends[::-1]
    options = tuple(str(row["mptcp"]).split("; ")) if row["mptcp"] is not None else ()
    return Step(
        t_ns=int(str(row["t_ns"])),
        frame=int(str(row["frame"])),
        subflow=int(str(row["subflow"])),
        sender=sender,
        source=source,
        target=target,
        head=_head(str(row["flags"]), int(str(row["payload_bytes"]))),
        options=options,
        skipped=skipped,
    )


_FLAGS = {"S": "SYN", "F": "FIN", "R": "RST", "A": "ACK"}


def _head(flags: str, payload_bytes: int) -> str:
    """`SYN ACK`, `ACK, 1400 B`."""
    named = " ".join(word for letter, word in _FLAGS.items() if letter in flags)
    return f"{named}, {payload_bytes} B" if payload_bytes else named

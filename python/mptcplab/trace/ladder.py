"""The ladder: the packets that open, announce, change and close, between the addresses."""

from __future__ import annotations

from dataclasses import dataclass

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
    """The ladder of a connection, within the range of the view."""
    packets = view.packets.filter(
        pl.col("connection") == connection, pl.col("kind") != "duplicate"
    ).with_row_index("place")
    told = view.events.filter(pl.col("connection") == connection, pl.col("kind").is_in(TOLD))
    moments = told.select("t_ns", "frame").unique()
    columns = ("place", "t_ns", "frame", "subflow", "from", "flags", "payload_bytes", "mptcp")
    signals = pl.col("flags").str.contains("[SFR]") | pl.col("mptcp").str.contains(SIGNALS)
    shown = packets.filter(signals.fill_null(value=False)).select(columns).collect()
    also = packets.join(moments.lazy(), on=["t_ns", "frame"], how="semi").select(columns).collect()
    third = _third_packets(packets).select(columns).collect()
    # An end that is done answers every packet by RST: the first one tells it.
    bare = pl.col("flags").str.contains("R") & pl.col("mptcp").is_null()
    again = bare & (pl.int_range(pl.len()).over("subflow", "from", bare) > 0)
    rows = pl.concat([shown.filter(~again), also, third]).unique("place").sort("place")
    left_out = max(0, rows.height - FIRST - LAST)
    kept = pl.concat([rows.head(FIRST), rows.tail(LAST)]) if left_out else rows
    addresses = {
        row["subflow"]: (row["client_address"], row["server_address"])
        for row in view.subflows.filter(connection=connection).iter_rows(named=True)
    }
    steps = []
    before = -1
    for row in kept.iter_rows(named=True):
        steps.append(_step(row, addresses[row["subflow"]], before))
        before = row["place"]
    used = [addresses[step.subflow] for step in steps]
    sides = [tuple(dict.fromkeys(pair[side] for pair in used)) for side in range(len(ENDS))]
    return Ladder(sides[0], sides[1], tuple(steps), left_out)


def _third_packets(packets: pl.LazyFrame) -> pl.LazyFrame:
    """The client's first packet after the SYN/ACK of each subflow: it ends the handshake of TCP."""
    keys = ["subflow"]
    answers = (
        packets.filter(pl.col("flags").str.contains("S") & pl.col("flags").str.contains("A"))
        .group_by(keys)
        .agg(pl.col("place").min().alias("answered"), pl.col("from").first().alias("answerer"))
    )
    return (
        packets.join(answers, on=keys)
        .filter(pl.col("place") > pl.col("answered"), pl.col("from") != pl.col("answerer"))
        .sort("place")
        .unique(keys, keep="first", maintain_order=True)
    )


def _step(row: dict[str, object], ends: tuple[str, str], before: int) -> Step:
    sender = str(row["from"])
    source, target = ends if sender == "client" else ends[::-1]
    options = tuple(str(row["mptcp"]).split("; ")) if row["mptcp"] is not None else ()
    place = int(str(row["place"]))
    return Step(
        t_ns=int(str(row["t_ns"])),
        frame=int(str(row["frame"])),
        subflow=int(str(row["subflow"])),
        sender=sender,
        source=source,
        target=target,
        head=_head(str(row["flags"]), int(str(row["payload_bytes"]))),
        options=options,
        skipped=place - before - 1,
    )


_FLAGS = {"S": "SYN", "F": "FIN", "R": "RST", "A": "ACK"}


def _head(flags: str, payload_bytes: int) -> str:
    """`SYN ACK`, `ACK, 1400 B`."""
    named = " ".join(word for letter, word in _FLAGS.items() if letter in flags)
    return f"{named}, {payload_bytes} B" if payload_bytes else named

"""Two captures of the same connections, one from each end."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import polars as pl

from mptcplab.trace.errors import TraceError
from mptcplab.trace.pairs.choice import choices, summary
from mptcplab.trace.pairs.clock import SAME, Clock, Cloud, estimate
from mptcplab.trace.pairs.match import COLUMNS, match_packets
from mptcplab.trace.pairs.paths import KEYS, paths
from mptcplab.trace.pairs.reinjections import reinjections
from mptcplab.trace.pairs.subflows import match_subflows
from mptcplab.trace.trace import Trace

_FURTHER = (
    "in_flight_bytes",
    "newly_acknowledged_bytes",
    "new_data_bytes",
    "rtt_ns",
    "reinjected_bytes",
    "data_sequence",
)
"""Columns that the choices and the reinjections need, beside those of the matching."""


@dataclass(frozen=True)
class Pair:
    """Results of two captures together. Numbers and times are those of the first one."""

    clock: Clock
    """The clock of the second capture by that of the first."""
    files: tuple[str, ...]
    """Those of the second capture."""
    subflows: pl.DataFrame
    """A row for each subflow that both hold: `connection`, `subflow`, and its numbers in the second
    capture, `peer_connection` and `peer_subflow`."""
    near: str
    """The end that the first capture is nearer to: `client` or `server`."""
    packets: pl.DataFrame
    """A row for each packet that both hold: `connection`, `subflow`, `from`, `t_ns` (at the first
    capture), `peer_t_ns` (at the second, by the first one's clock), `frame`, `peer_frame`, `bytes`,
    `delay_ns`."""
    paths: pl.DataFrame
    """A row for each direction of each subflow: see :func:`mptcplab.trace.pairs.paths.paths`."""
    choices: pl.DataFrame
    """A row for each new data segment and subflow, of both ends: see
    :func:`mptcplab.trace.pairs.choice.choices`."""
    reinjections: pl.DataFrame
    """A row for each subflow and end that reinjected data over it: see
    :func:`mptcplab.trace.pairs.reinjections.reinjections`."""

    @property
    def negative_delays(self) -> int:
        """Packets that came before they were sent, by more than rounding: the clock is wrong."""
        return self.packets.filter(pl.col("delay_ns") < -1).height

    @property
    def choice_summary(self) -> pl.DataFrame:
        """One row a subflow and end: see :func:`mptcplab.trace.pairs.choice.summary`."""
        return summary(self.choices)


def pair(
    here: Trace,
    there: Trace,
    connections: Collection[int] | None = None,
    *,
    same_clock: bool = False,
) -> Pair:
    """Puts two captures together; `connections` are numbers of the first one, all unless given.

    Both must have their packets. They are read into memory. With `same_clock` one clock made both
    captures, and nothing is estimated.

    Raises:
        TraceError: they have no connection in common, or packets of one direction only.

    """
    same = match_subflows(here, there)
    if connections is not None:
        same = same.filter(pl.col("connection").is_in(list(connections)))
    if same.is_empty():
        raise TraceError(
            "the captures have no subflow in common: neither the same initial sequence numbers nor "
            "the same addresses and ports"
        )
    own = _packets(here, same.select("connection", "subflow"))
    other = _packets(there, same.rename({"connection": "own_connection", "subflow": "own_subflow"}))
    near = _near(own, other)
    ways = [_way(own, other, sender, near) for sender in ("client", "server")]
    every = pl.concat(ways)
    clock = SAME if same_clock else estimate(_clouds(every, near))
    if clock is None:
        raise TraceError("no subflow has packets of both directions in both captures")
    matched = _corrected(every, clock, near)
    return Pair(
        clock=clock,
        files=tuple(file.path for file in there.capture.files),
        subflows=same,
        near=near,
        packets=matched.select(
            *KEYS, "t_ns", "peer_t_ns", "frame", "peer_frame", "bytes", "delay_ns"
        ).sort("t_ns"),
        paths=_paths(own, other, matched, clock, near),
        choices=_choices(own, other, matched, clock, near),
        reinjections=_reinjections(own, other, matched, near),
    )


def _packets(trace: Trace, chosen: pl.DataFrame) -> pl.DataFrame:
    """Returns the packets of the chosen subflows by time, with the numbers of the first capture."""
    wanted = [*COLUMNS, *_FURTHER]
    frame = trace.packets.filter(pl.col("kind") != "duplicate").select(wanted)
    if "own_connection" not in chosen.columns:
        found = frame.join(chosen.lazy(), on=["connection", "subflow"], how="semi")
    else:
        found = (
            frame.join(
                chosen.lazy(),
                left_on=["connection", "subflow"],
                right_on=["peer_connection", "peer_subflow"],
            )
            .with_columns(
                pl.col("own_connection").alias("connection"), pl.col("own_subflow").alias("subflow")
            )
            .select(wanted)
        )
    return (
        found.sort("t_ns", maintain_order=True)
        .with_row_index("place")
        .with_columns(pl.col("place").cast(pl.Int64))
        .collect()
    )


def _way(own: pl.DataFrame, other: pl.DataFrame, sender: str, near: str) -> pl.DataFrame:
    """Returns the matched packets of one direction, with places and times in both captures."""
    mine, theirs = (side.filter(pl.col("from") == sender) for side in (own, other))
    leaves_here = sender == near
    sent, received = (mine, theirs) if leaves_here else (theirs, mine)
    columns = list(COLUMNS)
    pairs = match_packets(sent.select(columns), received.select(columns))
    names = ("sent", "received") if leaves_here else ("received", "sent")
    here, there = mine[pairs[names[0]]], theirs[pairs[names[1]]]
    return pl.DataFrame(
        [
            *(here[name] for name in (*KEYS, "t_ns", "frame")),
            there["t_ns"].alias("peer_raw_ns"),
            there["frame"].alias("peer_frame"),
            pairs["bytes"],
            pairs["sure"],
            here["place"].alias("own_place"),
            there["place"].alias("peer_place"),
        ]
    )


def _near(own: pl.DataFrame, other: pl.DataFrame) -> str:
    """Returns the end that the first capture is nearer to.

    What the client sends comes later to the capture that is nearer to the server; of what the
    server sends the reverse is true. Whatever the clocks say, the difference of the two tells.
    """
    keys = [*KEYS, "raw_sequence", "raw_acknowledgement", "flags", "payload_bytes"]
    once = [side.filter(pl.len().over(keys) == 1).select(*keys, "t_ns") for side in (own, other)]
    apart = once[0].join(once[1], on=keys, nulls_equal=True, suffix="_there")
    medians = dict(
        apart.group_by("from").agg((pl.col("t_ns_there") - pl.col("t_ns")).median()).iter_rows()
    )
    if len(medians) < 2:
        raise TraceError("the captures have packets of one direction only in common")
    return "client" if medians["client"] >= medians["server"] else "server"


def _clouds(every: pl.DataFrame, near: str) -> list[Cloud]:
    """Returns the packets that show the clocks: one taken for another would spoil it."""
    clouds = []
    for _, rows in every.filter("sure").group_by(["connection", "subflow"], maintain_order=True):
        away = rows.filter(pl.col("from") == near)
        back = rows.filter(pl.col("from") != near)
        clouds.append(
            Cloud(
                away["t_ns"].to_numpy(),
                (away["peer_raw_ns"] - away["t_ns"]).to_numpy(),
                back["t_ns"].to_numpy(),
                (back["peer_raw_ns"] - back["t_ns"]).to_numpy(),
            )
        )
    return clouds


def _by_own_clock(raw_ns: pl.Series, clock: Clock) -> pl.Series:
    """Times of the second capture by the clock of the first."""
    # second − offset − zero = (1 + drift) · (first − zero)
    passed = raw_ns.to_numpy() - clock.offset_ns - clock.zero_ns
    gained = np.rint(passed * (clock.drift / (1 + clock.drift))).astype(np.int64)
    return pl.Series(clock.zero_ns + passed - gained)


def _corrected(every: pl.DataFrame, clock: Clock, near: str) -> pl.DataFrame:
    corrected = every.with_columns(_by_own_clock(every["peer_raw_ns"], clock).alias("peer_t_ns"))
    later = pl.col("peer_t_ns") - pl.col("t_ns")
    away = pl.col("from") == near
    delayed = corrected.with_columns(pl.when(away).then(later).otherwise(-later).alias("delay_ns"))
    # Of equal packets, such as several RST, one may have been taken for another.
    least = pl.col("delay_ns").filter("sure").min().over(KEYS).fill_null(0).clip(upper_bound=0)
    return delayed.filter(pl.col("sure") | (pl.col("delay_ns") >= least))


def _paths(
    own: pl.DataFrame, other: pl.DataFrame, matched: pl.DataFrame, clock: Clock, near: str
) -> pl.DataFrame:
    theirs = other.with_columns(_by_own_clock(other["t_ns"], clock).alias("t_ns"))
    rows = []
    for sender in ("client", "server"):
        leaves_here = sender == near
        sent, received = (own, theirs) if leaves_here else (theirs, own)
        of_sent, of_received = (
            ("own_place", "peer_place") if leaves_here else ("peer_place", "own_place")
        )
        pairs = matched.filter(pl.col("from") == sender).with_columns(
            pl.col(of_sent).alias("sent"),
            pl.col("peer_t_ns" if leaves_here else "t_ns").alias("t_ns"),
        )
        begin, end = received["t_ns"][0], received["t_ns"][-1]
        delays = pairs.group_by("connection", "subflow").agg(
            pl.col("delay_ns").min().alias("least"), pl.col("delay_ns").max().alias("most")
        )
        # Packets that were sent just before the other capture ended may have come just after.
        came = pl.col("place").is_in(pairs["sent"].implode())
        expected = (pl.col("t_ns") + pl.col("least").fill_null(0) >= begin) & (
            pl.col("t_ns") + pl.col("most").fill_null(0) <= end
        )
        mine = (
            sent.filter(pl.col("from") == sender)
            .join(delays, on=["connection", "subflow"], how="left")
            .with_columns((came | expected).alias("counted"))
        )
        strays = received.filter(
            pl.col("from") == sender, ~pl.col("place").is_in(pairs[of_received].implode())
        )
        rows.append(paths(mine, pairs, strays))
    return pl.concat(rows).sort(KEYS)


def _choices(
    own: pl.DataFrame, other: pl.DataFrame, matched: pl.DataFrame, clock: Clock, near: str
) -> pl.DataFrame:
    """Returns the choices of both ends, by the clock of each capture, in times of the first."""
    theirs = other.with_columns(_by_own_clock(other["t_ns"], clock).alias("t_ns"))
    far = "server" if near == "client" else "client"
    found = []
    for end, seen, came, left in (
        (near, own, "t_ns", "peer_t_ns"),
        (far, theirs, "peer_t_ns", "t_ns"),
    ):
        heard = matched.filter(pl.col("from") != end).select(
            "connection",
            pl.lit(end).alias("from"),
            "subflow",
            pl.col(came).alias("t_ns"),
            pl.col(left).alias("left_ns"),
        )
        known = choices(seen, heard)
        found.append(known.filter(pl.col("from") == end))
    return pl.concat(found).sort("t_ns", "frame", "subflow")


def _reinjections(
    own: pl.DataFrame, other: pl.DataFrame, matched: pl.DataFrame, near: str
) -> pl.DataFrame:
    rows = []
    for sender in ("client", "server"):
        is_near = sender == near
        sent, received = (own, other) if is_near else (other, own)
        places = ("own_place", "peer_place") if is_near else ("peer_place", "own_place")
        is_own = pl.col("from") == sender
        pairs = matched.filter(is_own).select(
            pl.col(places[0]).alias("sent"), pl.col(places[1]).alias("received"), "bytes"
        )
        rows.append(reinjections(sent.filter(is_own), received.filter(is_own), pairs))
    return pl.concat(rows).sort(KEYS)

"""The course of a path in a capture, in the direction of the data: arrivals, trips, losses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

Numbers = npt.NDArray[np.float64]

_NEIGHBOURS = 5
"""Trips of which the median counts, where others than the path may have made one longer."""
_AGAIN = ("fast_retransmission", "timeout_retransmission")


@dataclass(frozen=True)
class Course:
    """Times in ns from the capture's epoch, ascending, and what was seen at them."""

    arrived_ns: Numbers
    """Data that came to the receiver; at the sender, its acknowledgements."""
    arrived_bytes: Numbers
    """IP bytes of each."""
    trip_at_ns: Numbers
    trips_ns: Numbers
    """Round trips, the queue of the data's direction included."""
    sent_ns: Numbers
    """New data packets."""
    again_ns: Numbers
    """Packets that were sent again."""


def course(packets: pl.DataFrame, sender: str, *, near_receiver: bool) -> Course:
    """The course of one path, of the packets of all its subflows.

    A sender's capture has its own losses and the round trips of its data. In a receiver's, a round
    trip goes from an acknowledgement's timestamp to the first data that echoes it, and a lost
    packet is seen when it comes at last.
    """
    data = packets.filter((pl.col("from") == sender) & (pl.col("payload_bytes") > 0))
    back = packets.filter(pl.col("from") != sender)
    again = data.filter(pl.col("kind").is_in(_AGAIN))
    if near_receiver:
        arrived = data.select("t_ns", size="packet_bytes")
        trips = _echoed(back, data)
    else:
        # Headers come on top of what is acknowledged.
        payload = float(data["payload_bytes"].sum())
        whole = float(data["packet_bytes"].sum()) / max(1.0, payload)
        arrived = back.filter(pl.col("newly_acknowledged_bytes") > 0).select(
            "t_ns", size=pl.col("newly_acknowledged_bytes") * whole
        )
        trips = back.filter(pl.col("rtt_ns").is_not_null()).select("t_ns", trip="rtt_ns")
    return Course(
        _numbers(arrived["t_ns"]),
        _numbers(arrived["size"]),
        _numbers(trips["t_ns"]),
        _numbers(trips["trip"]),
        _numbers(data.filter(pl.col("kind") == "new")["t_ns"]),
        _numbers(again["t_ns"]),
    )


def _echoed(back: pl.DataFrame, data: pl.DataFrame) -> pl.DataFrame:
    """The trips from the first packet with a timestamp to the first data that echoes it."""
    asked = (
        back.filter(pl.col("ts_value").is_not_null())
        .group_by("subflow", "ts_value")
        .agg(begin_ns=pl.col("t_ns").min())
    )
    echoed = (
        data.filter(pl.col("ts_echo").is_not_null())
        .group_by("subflow", "ts_echo")
        .agg(t_ns=pl.col("t_ns").min())
    )
    both = echoed.join(asked, left_on=["subflow", "ts_echo"], right_on=["subflow", "ts_value"])
    return (
        both.select("t_ns", trip=pl.col("t_ns") - pl.col("begin_ns"))
        .filter(pl.col("trip") > 0)
        .sort("t_ns")
        # A sender that had to wait for something else answers late.
        .with_columns(pl.col("trip").rolling_median(_NEIGHBOURS, min_samples=1, center=True))
    )


def _numbers(column: pl.Series) -> Numbers:
    return column.cast(pl.Float64).to_numpy()

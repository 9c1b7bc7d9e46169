"""The order of events: by time, and of one packet what it says before what follows from it."""

from __future__ import annotations

import polars as pl

ORDER = (
    "connection_opened",
    "subflow_opened",
    "subflow_established",
    "key_changed",
    "hmac_wrong",
    "join_rejected",
    "fallback",
    "address_announced",
    "address_changed",
    "address_echoed",
    "address_removed",
    "priority_changed",
    "window_opened",
    "zero_window",
    "timeout",
    "silence",
    "traffic_moved",
    "reinjection",
    "checksum_wrong",
    "mp_fail",
    "data_fin_acknowledged",
    "data_fin",
    "fast_close",
    "fin",
    "reset_ignored",
    "reset",
    "subflow_closed",
    "connection_closed",
)
"""Kinds of events: the end of a subflow and of the connection comes after what ends it."""


def in_order(events: pl.DataFrame) -> pl.DataFrame:
    """Returns the events by time; those of a packet stand together at the first of them."""
    packet = ["t_ns", "connection", "frame"]
    rank = pl.col("kind").replace_strict(
        list(ORDER), list(range(len(ORDER))), default=len(ORDER), return_dtype=pl.Int64
    )
    told = events.with_row_index("told")
    return (
        told.with_columns(pl.col("told").min().over(packet).alias("packet"), rank.alias("rank"))
        .sort("t_ns", "packet", "rank", "told")
        .drop("told", "packet", "rank")
    )

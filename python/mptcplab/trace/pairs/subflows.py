"""Which subflow of one capture is which of the other."""

from __future__ import annotations

import polars as pl

from mptcplab.trace.trace import Trace

_ENDPOINTS = ["client_address", "client_port", "server_address", "server_port"]
_NUMBERS = ["client_isn", "server_isn"]

SCHEMA = pl.Schema(
    {
        "connection": pl.Int64(),
        "subflow": pl.Int64(),
        "peer_connection": pl.Int64(),
        "peer_subflow": pl.Int64(),
    }
)
"""A row for each subflow that both captures hold: its numbers in the one and in the other."""


def match_subflows(here: Trace, there: Trace) -> pl.DataFrame:
    """Returns the subflows that both captures hold.

    Those with the same two initial sequence numbers, which translated addresses leave as they are;
    then those with the same addresses and ports, in the order in which they began.
    """
    own, other = _subflows(here), _subflows(there)
    by_numbers = _joined(own, other, _NUMBERS)
    left = own.join(by_numbers, on=["connection", "subflow"], how="anti")
    right = other.join(
        by_numbers,
        left_on=["connection", "subflow"],
        right_on=["peer_connection", "peer_subflow"],
        how="anti",
    )
    by_endpoints = _joined(left, right, [*_ENDPOINTS, "which"])
    return (
        pl.concat([by_numbers, by_endpoints]).match_to_schema(SCHEMA).sort("connection", "subflow")
    )


def _joined(own: pl.DataFrame, other: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Pairs with equal keys that are known, and of which there is one on each side."""
    sides = [
        side.drop_nulls(keys)
        .filter(pl.len().over(keys) == 1)
        .select("connection", "subflow", *keys)
        for side in (own, other)
    ]
    names = {"connection": "peer_connection", "subflow": "peer_subflow"}
    return sides[0].join(sides[1].rename(names), on=keys).select(SCHEMA.names())


def _subflows(trace: Trace) -> pl.DataFrame:
    """Subflows with their initial sequence numbers, and which of its endpoints each is."""
    numbers = (
        trace.packets.filter(pl.col("flags").str.contains("S"))
        .group_by("connection", "subflow", "from")
        .agg(pl.col("raw_sequence").first())
        .collect(engine="streaming")
    )
    found = trace.subflows.select("connection", "subflow", "start_ns", *_ENDPOINTS)
    for end in ("client", "server"):
        own = numbers.filter(pl.col("from") == end).select(
            "connection", "subflow", pl.col("raw_sequence").alias(f"{end}_isn")
        )
        found = found.join(own, on=["connection", "subflow"], how="left")
    return found.sort("start_ns").with_columns(
        pl.int_range(pl.len()).over(_ENDPOINTS).alias("which")
    )

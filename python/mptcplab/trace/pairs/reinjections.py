"""Reinjected data at its receiver: did the copy come before the original."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

KEYS = ["connection", "subflow", "from"]
_SCHEMA = {
    "connection": pl.Int64,
    "subflow": pl.Int64,
    "from": pl.String,
    "packets": pl.Int64,
    "reinjected_bytes": pl.Int64,
    "useful_bytes": pl.Int64,
    "redundant_bytes": pl.Int64,
    "lost_bytes": pl.Int64,
    "lead_median_ns": pl.Int64,
}


def reinjections(sent: pl.DataFrame, received: pl.DataFrame, matched: pl.DataFrame) -> pl.DataFrame:
    """Returns a row for each subflow and end that reinjected data over it.

    `sent` and `received` are packets of one end in the sender's and the receiver's capture, with
    `place`; `matched` has `sent` and `received`, places in these, and `bytes`, what the two have in
    common.

    Columns: `packets` and `reinjected_bytes`, as sent; of these `useful_bytes` came before any
    other copy, `redundant_bytes` after one, and `lost_bytes` did not come, or not while the
    receiver's capture ran; `lead_median_ns` is how much earlier the copy came than the other
    subflow's, less than 0 where it came later, among those of which both came.
    """
    copies = sent.filter(pl.col("reinjected_bytes") > 0).select(
        *KEYS,
        pl.col("place").alias("sent"),
        "reinjected_bytes",
        (pl.col("reinjected_bytes") / pl.col("payload_bytes")).alias("part"),
    )
    arrivals = received.select(
        pl.col("place").alias("received"),
        "t_ns",
        "data_sequence",
        (pl.col("new_data_bytes") / pl.col("payload_bytes")).fill_nan(0.0).alias("new_part"),
    )
    pieces = (
        copies.join(matched.select("sent", "received", "bytes"), on="sent")
        .join(arrivals, on="received")
        .with_columns((pl.col("bytes") * pl.col("part")).alias("came"))
        .with_columns((pl.col("came") * pl.col("new_part")).alias("useful"))
    )
    came = (
        _with_lead(pieces, received)
        .group_by(KEYS)
        .agg(
            pl.col("came").sum(),
            pl.col("useful").sum(),
            pl.col("lead_ns").median().round().cast(pl.Int64).alias("lead_median_ns"),
        )
    )
    whole = copies.group_by(KEYS).agg(
        pl.len().cast(pl.Int64).alias("packets"), pl.col("reinjected_bytes").sum()
    )
    useful = pl.col("useful").fill_null(0).round().cast(pl.Int64)
    arrived = pl.col("came").fill_null(0).round().cast(pl.Int64)
    return (
        whole.join(came, on=KEYS, how="left")
        .with_columns(
            useful.alias("useful_bytes"),
            (arrived - useful).alias("redundant_bytes"),
            (pl.col("reinjected_bytes") - arrived).alias("lost_bytes"),
        )
        .select(_SCHEMA.keys())
        .cast(_SCHEMA)  # type: ignore[arg-type]
        .sort(KEYS)
    )


def _with_lead(pieces: pl.DataFrame, received: pl.DataFrame) -> pl.DataFrame:
    """Adds `lead_ns`: the first arrival of the same byte over another subflow, less this one."""
    parts = []
    data = received.filter(pl.col("payload_bytes") > 0, pl.col("data_sequence").is_not_null())
    for (connection,), own in pieces.group_by("connection", maintain_order=True):
        others = data.filter(pl.col("connection") == connection).sort("data_sequence")
        parts.append(own.with_columns(pl.Series("lead_ns", _leads(own, others), pl.Int64)))
    return (
        pl.concat(parts) if parts else pieces.with_columns(pl.lit(None, pl.Int64).alias("lead_ns"))
    )


def _leads(own: pl.DataFrame, others: pl.DataFrame) -> list[int | None]:
    starts = _numbers(others, "data_sequence")
    ends = starts + _numbers(others, "payload_bytes")
    times, subflows = _numbers(others, "t_ns"), _numbers(others, "subflow")
    longest = int((ends - starts).max(initial=0))
    found: list[int | None] = []
    for start, at, subflow in own.select("data_sequence", "t_ns", "subflow").iter_rows():
        if start is None:
            found.append(None)
            continue
        first = np.searchsorted(starts, start - longest, side="right")
        last = np.searchsorted(starts, start, side="right")
        near = slice(first, last)
        held = times[near][(ends[near] > start) & (subflows[near] != subflow)]
        found.append(int(held.min()) - at if held.size else None)
    return found


def _numbers(frame: pl.DataFrame, column: str) -> npt.NDArray[np.int64]:
    return frame[column].to_numpy().astype(np.int64)

"""Delay, loss and reordering of each direction of each subflow, from matched packets."""

from __future__ import annotations

import numpy as np
import polars as pl

KEYS = ["connection", "subflow", "from"]


def paths(sent: pl.DataFrame, matched: pl.DataFrame, strays: pl.DataFrame) -> pl.DataFrame:
    """Returns a row for each direction of a subflow.

    `sent` has the keys, `place`, `payload_bytes` and `counted`: it came, or the receiver's capture
    was running when it should have. `matched` has the keys, `sent` (a place), `bytes`,
    `t_ns` of arrival, `delay_ns`. `strays` are packets that only the receiver's capture holds.

    Lost: sent while the receiver's capture was running, and not in it. Reordered (RFC 4737, section
    3.3): arrived after a packet that had been sent later. Of these, the reordering extent (section
    4.2.1) is how many packets came between the first such packet and this one, and the late time
    (section 4.3) how much later it came; the table has the largest. Delays of a packet that was cut
    on its way are those of its pieces.
    """
    arrived = matched.group_by("sent").agg(pl.col("bytes").sum().alias("arrived_bytes"))
    offered = (
        sent.filter("counted")
        .join(arrived, left_on="place", right_on="sent", how="left")
        .group_by(KEYS)
        .agg(
            pl.len().cast(pl.Int64).alias("packets"),
            pl.col("arrived_bytes").is_null().sum().cast(pl.Int64).alias("lost"),
            pl.col("payload_bytes").sum().alias("payload_bytes"),
            (pl.col("payload_bytes") - pl.col("arrived_bytes").fill_null(0).clip(0))
            .clip(0)
            .sum()
            .alias("lost_bytes"),
        )
    )
    delay = pl.col("delay_ns")
    travelled = matched.group_by(KEYS).agg(
        delay.min().alias("delay_min_ns"),
        delay.mean().alias("delay_mean_ns"),
        delay.median().alias("delay_median_ns"),
        delay.quantile(0.95).alias("delay_p95_ns"),
        delay.max().alias("delay_max_ns"),
        delay.std().alias("delay_deviation_ns"),
    )
    unknown = strays.group_by(KEYS).agg(pl.len().cast(pl.Int64).alias("strays"))
    return (
        offered.join(travelled, on=KEYS, how="left")
        .join(_reordered(matched), on=KEYS, how="left")
        .join(unknown, on=KEYS, how="left")
        .with_columns(
            (pl.col("lost") / pl.col("packets")).alias("loss"),
            pl.col("reordered", "reordering_extent_max", "late_max_ns", "strays").fill_null(0),
            pl.col("^delay_.*$").round().cast(pl.Int64),
        )
        .select(
            *KEYS,
            "packets",
            "lost",
            "loss",
            "payload_bytes",
            "lost_bytes",
            "delay_min_ns",
            "delay_median_ns",
            "delay_mean_ns",
            "delay_p95_ns",
            "delay_max_ns",
            "delay_deviation_ns",
            "reordered",
            "reordering_extent_max",
            "late_max_ns",
            "strays",
        )
        .sort(KEYS)
    )


def _reordered(matched: pl.DataFrame) -> pl.DataFrame:
    """Returns how many packets arrived after one that was sent later, and how late at most."""
    latest = pl.col("sent").cum_max().over(KEYS)
    arrived = matched.sort("t_ns", "sent").with_columns(
        latest.alias("latest"), pl.int_range(pl.len()).over(KEYS).alias("order")
    )
    rows = [
        {**dict(zip(KEYS, key, strict=True)), **_late(own)}
        for key, own in arrived.group_by(KEYS, maintain_order=True)
    ]
    columns = {name: matched.schema[name] for name in KEYS} | {
        name: pl.Int64() for name in ("reordered", "reordering_extent_max", "late_max_ns")
    }
    return pl.DataFrame(rows, schema=columns)


def _late(arrived: pl.DataFrame) -> dict[str, int]:
    """Returns the reordering of one direction of a subflow, in the order of arrival."""
    late = arrived.filter(pl.col("sent") < pl.col("latest"))
    # The first to arrive of the packets that were sent later is where the maximum passed this one.
    first = np.searchsorted(arrived["latest"].to_numpy(), late["sent"].to_numpy(), side="right")
    times = arrived["t_ns"].to_numpy()
    return {
        "reordered": late.height,
        "reordering_extent_max": int((late["order"].to_numpy() - first).max(initial=0)),
        "late_max_ns": int((late["t_ns"].to_numpy() - times[first]).max(initial=0)),
    }

"""Knowledge of an end about each subflow when it chose one for new data."""

from __future__ import annotations

import polars as pl

from mptcplab.trace.figures import other_end

_STATE = ["connection", "from", "subflow"]


def choices(packets: pl.DataFrame, heard: pl.DataFrame) -> pl.DataFrame:
    """Returns a row for each new data segment and each subflow that its sender had open then.

    Open: something came over it, and nothing with FIN or RST went either way.

    `packets` are those of the sender's own capture. `heard` has a row for each packet that came to
    it: `connection`, `from` (the end that chooses), `subflow`, `t_ns`, and `left_ns`, when it left
    the other end, by the chooser's clock.

    Columns: `connection`, `from`, `t_ns`, `frame`, `chosen` (the subflow that was taken), `subflow`
    (the one that the row is about), `rtt_ns` (the last round trip measured on it),
    `in_flight_bytes` (unacknowledged on it), `heard_ns` (time since the last packet from the other
    end on it) and `age_ns` (time since that packet left the other end: what the chooser knows of
    the subflow is so old).
    """
    segments = packets.filter(pl.col("new_data_bytes") > 0).select(
        "connection", "from", "t_ns", "frame", pl.col("subflow").alias("chosen")
    )
    opened = heard.group_by(_STATE).agg(pl.col("t_ns").min().alias("open_ns"))
    closed = (
        packets.filter(pl.col("flags").str.contains("[FR]"))
        .group_by("connection", "subflow")
        .agg(pl.col("t_ns").min().alias("closed_ns"))
    )
    every = (
        segments.join(opened, on=["connection", "from"])
        .join(closed, on=["connection", "subflow"], how="left")
        .filter(
            pl.col("open_ns") < pl.col("t_ns"),
            (pl.col("t_ns") <= pl.col("closed_ns")).fill_null(value=True),
        )
        .drop("open_ns", "closed_ns")
        .sort("t_ns", maintain_order=True)
    )
    known = every
    for state in (_round_trips(packets), _sent(packets), _acknowledged(packets), _newest(heard)):
        known = known.join_asof(
            state.sort("t_ns", maintain_order=True),
            on="t_ns",
            by=_STATE,
            strategy="backward",
            allow_exact_matches=False,
            check_sortedness=False,
        )
    flying = pl.col("flying") - (
        pl.col("acknowledged").fill_null(0) - pl.col("acknowledged_before").fill_null(0)
    )
    return known.select(
        "connection",
        "from",
        "t_ns",
        "frame",
        "chosen",
        "subflow",
        "rtt_ns",
        flying.clip(0).fill_null(0).alias("in_flight_bytes"),
        (pl.col("t_ns") - pl.col("heard_at_ns")).alias("heard_ns"),
        (pl.col("t_ns") - pl.col("left_ns")).alias("age_ns"),
    ).sort("connection", "from", "t_ns", "frame", "subflow")


def summary(choices: pl.DataFrame) -> pl.DataFrame:
    """Returns a row for each subflow and end: how often it was taken, and its state then.

    `offered` counts the segments for which the subflow was open, `taken` those that it got. Of the
    offered ones `lowest_rtt` are those for which it had the lowest known round trip.
    """
    keys = ["connection", "from", "t_ns", "frame"]
    least = pl.col("rtt_ns").min().over(keys)
    return (
        choices.with_columns((pl.col("rtt_ns") == least).fill_null(value=False).alias("lowest"))
        .group_by("connection", "from", "subflow")
        .agg(
            pl.len().cast(pl.Int64).alias("offered"),
            (pl.col("chosen") == pl.col("subflow")).sum().cast(pl.Int64).alias("taken"),
            pl.col("lowest").sum().cast(pl.Int64).alias("lowest_rtt"),
            (pl.col("lowest") & (pl.col("chosen") == pl.col("subflow")))
            .sum()
            .cast(pl.Int64)
            .alias("taken_as_lowest_rtt"),
            pl.col("rtt_ns").median().round().cast(pl.Int64).alias("rtt_median_ns"),
            pl.col("in_flight_bytes")
            .median()
            .round()
            .cast(pl.Int64)
            .alias("in_flight_median_bytes"),
            pl.col("age_ns").median().round().cast(pl.Int64).alias("age_median_ns"),
            pl.col("age_ns").quantile(0.95).round().cast(pl.Int64).alias("age_p95_ns"),
        )
        .sort("connection", "from", "subflow")
    )


def _round_trips(packets: pl.DataFrame) -> pl.DataFrame:
    """Returns round trips of what an end sent, when it learnt of them."""
    return packets.filter(pl.col("rtt_ns").is_not_null()).select(
        "connection", other_end(), "subflow", "t_ns", "rtt_ns"
    )


def _acknowledged(packets: pl.DataFrame) -> pl.DataFrame:
    """Returns the acknowledged part of an end's data on a subflow, over time."""
    return (
        packets.filter(pl.col("newly_acknowledged_bytes") > 0)
        .select("connection", other_end(), "subflow", "t_ns", "newly_acknowledged_bytes")
        .with_columns(
            pl.col("newly_acknowledged_bytes").cum_sum().over(_STATE).alias("acknowledged")
        )
        .drop("newly_acknowledged_bytes")
    )


def _sent(packets: pl.DataFrame) -> pl.DataFrame:
    """Returns the data in flight and acknowledged after each packet of an end."""
    return (
        packets.select(*_STATE, "t_ns", pl.col("in_flight_bytes").alias("flying"))
        .sort("t_ns", maintain_order=True)
        .join_asof(
            _acknowledged(packets)
            .sort("t_ns", maintain_order=True)
            .rename({"acknowledged": "acknowledged_before"}),
            on="t_ns",
            by=_STATE,
            strategy="backward",
            check_sortedness=False,
        )
    )


def _newest(heard: pl.DataFrame) -> pl.DataFrame:
    """Returns the packets from the other end, and the newest departure among them."""
    return heard.sort("t_ns", maintain_order=True).select(
        *_STATE,
        "t_ns",
        pl.col("t_ns").alias("heard_at_ns"),
        pl.col("left_ns").cum_max().over(_STATE).alias("left_ns"),
    )

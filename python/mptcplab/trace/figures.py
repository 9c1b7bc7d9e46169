"""Figures that are computed from the tables of an analysis."""

import polars as pl

from mptcplab.trace.handover import BIN_NS

ENDS = ("client", "server")


def with_rates(connections: pl.DataFrame) -> pl.DataFrame:
    """Returns the connections with `duration_ns`, and for each end `goodput_mbps` of what it sent.

    Goodput: distinct bytes of data over the time from the connection's first packet to the last
    new byte, in Mbit/s. Null where nothing was sent.
    """
    return connections.with_columns(
        (pl.col("end_ns") - pl.col("start_ns")).alias("duration_ns"),
        *(
            mbps(pl.col(f"{end}_bytes"), pl.col(f"{end}_last_data_ns") - pl.col("start_ns")).alias(
                f"{end}_goodput_mbps"
            )
            for end in ENDS
        ),
    )


def with_intervals(subflows: pl.DataFrame) -> pl.DataFrame:
    """Returns the subflows in order with `after_previous_ns` and `after_first_ns`.

    These are the intervals from the start of the previous subflow, and of the first one of the
    connection, to this one's start.
    """
    start = pl.col("start_ns")
    return subflows.sort("connection", "subflow").with_columns(
        (start - start.shift(1).over("connection")).alias("after_previous_ns"),
        (start - start.first().over("connection")).alias("after_first_ns"),
    )


def cumulative(samples: pl.DataFrame, column: str = "new_bytes") -> pl.DataFrame:
    """Bytes since the start at the end of each bin, by direction and subflow."""
    keys = ["connection", "from", "subflow"]
    bins = samples.group_by(*keys, "t_ns").agg(pl.col(column).sum()).sort(*keys, "t_ns")
    return bins.select(*keys, "t_ns", pl.col(column).cum_sum().over(keys).alias("bytes"))


def shares(samples: pl.DataFrame, spans: int) -> pl.DataFrame:
    """Returns the parts of the subflows in the payload of one end of one connection, over time.

    The time is divided into at most so many equal spans of whole bins; one without payload has no
    rows. Columns: `until_ns`, `subflow`, `share` (0 to 1). `samples` are of one end.
    """
    sent = samples.filter(pl.col("payload_bytes") > 0)
    first = pl.col("t_ns").min()
    bins = (pl.col("t_ns").max() - first) // BIN_NS + 1
    count = pl.min_horizontal(bins, pl.lit(spans))
    span = (((pl.col("t_ns") - first) // BIN_NS) * count) // bins
    until = first + -(-(span + 1) * bins // count) * BIN_NS
    payload = pl.col("payload_bytes")
    return (
        sent.with_columns(until.alias("until_ns"))
        .group_by("until_ns", "subflow")
        .agg(payload.sum())
        .select("until_ns", "subflow", (payload / payload.sum().over("until_ns")).alias("share"))
        .sort("until_ns", "subflow")
    )


def round_trips(packets: pl.LazyFrame) -> pl.LazyFrame:
    """Returns the round trips: time of the end, length, and sequence number that it is about.

    `from` is the end whose data was acknowledged. `sequence` is the number that the acknowledgement
    names: the end of what had been sent, relative on its subflow.
    """
    return packets.filter(
        pl.col("rtt_ns").is_not_null() & pl.col("acknowledgement").is_not_null()
    ).select(
        "connection",
        "subflow",
        other_end(),
        "t_ns",
        "frame",
        pl.col("acknowledgement").alias("sequence"),
        "rtt_ns",
    )


def data_round_trips(packets: pl.LazyFrame) -> pl.LazyFrame:
    """Returns the data-level round trips likewise, of the connection: `rtt_ns` is their length.

    `subflow` is the one over which the data acknowledgement came.
    """
    return packets.filter(pl.col("data_rtt_ns").is_not_null()).select(
        "connection",
        "subflow",
        other_end(),
        "t_ns",
        pl.col("data_acknowledgement").alias("sequence"),
        pl.col("data_rtt_ns").alias("rtt_ns"),
    )


def other_end() -> pl.Expr:
    """Returns the end that a packet goes to, as `from`."""
    return (
        pl.when(pl.col("from") == "client")
        .then(pl.lit("server"))
        .otherwise(pl.lit("client"))
        .alias("from")
    )


def rtt_by_sequence(packets: pl.LazyFrame, slices: int = 10) -> pl.DataFrame:
    """Returns round-trip times by sequence number: so many equal slices of each subflow's data."""
    keys = ["connection", "from", "subflow"]
    last = pl.col("sequence").max().over(keys)
    place = ((pl.col("sequence") - 1).clip(0) * slices // last.clip(1)).clip(0, slices - 1)
    return (
        round_trips(packets)
        .with_columns(place.alias("slice"))
        .group_by(*keys, "slice")
        .agg(
            pl.col("sequence").min().alias("first_sequence"),
            pl.col("sequence").max().alias("last_sequence"),
            pl.len().cast(pl.Int64).alias("samples"),
            pl.col("rtt_ns").min().alias("rtt_min_ns"),
            pl.col("rtt_ns").mean().round().cast(pl.Int64).alias("rtt_mean_ns"),
            pl.col("rtt_ns").max().alias("rtt_max_ns"),
        )
        .sort(*keys, "slice")
        .collect(engine="streaming")
    )


def mbps(size_bytes: pl.Expr, time_ns: pl.Expr) -> pl.Expr:
    """Mbit/s; null where there is no time or nothing was carried."""
    return pl.when((time_ns > 0) & (size_bytes > 0)).then(8e3 * size_bytes / time_ns)

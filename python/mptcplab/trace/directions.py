"""Figures of each direction of each subflow, from its packets: those that tcptrace has, too."""

from __future__ import annotations

import polars as pl

from mptcplab.trace.figures import data_round_trips, other_end, round_trips

KEYS = ["connection", "subflow", "from"]
QUANTILES = (("median", 0.5), ("p95", 0.95), ("p99", 0.99))
"""Names and parts of 1."""


def directions(packets: pl.LazyFrame) -> pl.DataFrame:
    """Returns a row for each direction of a subflow, of the packets that an end sent.

    `packets` have `place`, their order. Duplicates of other interfaces are left out.

    Columns: `data_packets`; `segment_min_bytes`, `segment_mean_bytes` and `segment_max_bytes`, of
    packets with payload; `pure_acknowledgements`, without payload, SYN, FIN and RST;
    `initial_window_packets` and `initial_window_bytes`, sent before the other end acknowledged any
    data, null where the first byte is not among the packets; `packet_gap_max_ns`, the longest time
    between two packets; `throughput_mbps`, distinct bytes of the subflow over the time from its
    first to its last packet; `rtt_median_ns`, `rtt_p95_ns` and `rtt_p99_ns`.
    """
    own = packets.filter(pl.col("kind") != "duplicate")
    acknowledged = (
        own.filter(pl.col("newly_acknowledged_bytes") > 0)
        .group_by("connection", "subflow", other_end())
        .agg(pl.col("place").min().alias("acknowledged"))
    )
    lifetime = own.group_by("connection", "subflow").agg(
        (pl.col("t_ns").max() - pl.col("t_ns").min()).alias("lifetime_ns")
    )
    return (
        own.join(acknowledged, on=KEYS, how="left")
        .group_by(KEYS)
        .agg(*_packets(), *_initial_window())
        .join(lifetime, on=["connection", "subflow"])
        .join(quantiles(round_trips(own), KEYS, "rtt"), on=KEYS, how="left")
        .with_columns(
            pl.when(pl.col("lifetime_ns") > 0, pl.col("new_bytes") > 0)
            .then(8e3 * pl.col("new_bytes") / pl.col("lifetime_ns"))
            .alias("throughput_mbps")
        )
        .drop("lifetime_ns", "new_bytes")
        .sort(KEYS)
        .collect()
    )


def _packets() -> list[pl.Expr]:
    payload = pl.col("payload_bytes")
    segment = payload.filter(payload > 0)
    pure = (payload == 0) & ~pl.col("flags").str.contains("[SFR]")
    return [
        (payload > 0).sum().cast(pl.Int64).alias("data_packets"),
        segment.min().alias("segment_min_bytes"),
        segment.mean().alias("segment_mean_bytes"),
        segment.max().alias("segment_max_bytes"),
        pure.sum().cast(pl.Int64).alias("pure_acknowledgements"),
        pl.col("t_ns").sort_by("place").diff().max().alias("packet_gap_max_ns"),
        pl.col("new_bytes").sum(),
    ]


def _initial_window() -> list[pl.Expr]:
    is_new = pl.col("new_bytes") > 0
    is_first = is_new & (
        pl.col("acknowledged").is_null() | (pl.col("place") < pl.col("acknowledged"))
    )
    begins = (is_new & (pl.col("sequence") <= 1)).any()
    return [
        pl.when(begins).then(is_first.sum().cast(pl.Int64)).alias("initial_window_packets"),
        pl.when(begins)
        .then(pl.col("new_bytes").filter(is_first).sum())
        .alias("initial_window_bytes"),
    ]


def quantiles(trips: pl.LazyFrame, keys: list[str], name: str) -> pl.LazyFrame:
    """Returns the median, 95 % and 99 % of `rtt_ns` as columns such as `rtt_median_ns`."""
    return trips.group_by(keys).agg(
        pl.col("rtt_ns").quantile(part).round().cast(pl.Int64).alias(f"{name}_{which}_ns")
        for which, part in QUANTILES
    )


def data_directions(packets: pl.LazyFrame) -> pl.DataFrame:
    """Returns a row for each direction of a connection, at the level of its data.

    Columns: `connection`, `from`, `flight_max_bytes` and `flight_mean_bytes`, the data in flight of
    the whole connection, the mean over time; `data_rtt_median_ns`, `data_rtt_p95_ns` and
    `data_rtt_p99_ns`.
    """
    keys = ["connection", "from"]
    flight = pl.col("in_flight_bytes")
    lasting = pl.col("t_ns").diff().shift(-1).fill_null(0)
    whole = (
        data_flight(packets)
        .group_by(keys)
        .agg(
            flight.max().alias("flight_max_bytes"),
            ((flight * lasting).sum() / lasting.sum()).fill_nan(None).alias("flight_mean_bytes"),
        )
    )
    trips = quantiles(data_round_trips(packets), keys, "data_rtt")
    return whole.join(trips, on=keys, how="left").sort(keys).collect()


def data_flight(packets: pl.LazyFrame) -> pl.LazyFrame:
    """Returns the data in flight of a whole connection after each packet that changes it.

    `packets` have `place`. Columns: `connection`, `from` (whose data), `t_ns`, `in_flight_bytes`:
    what was sent beyond the highest data acknowledgement, over whichever subflows. Of a connection
    without data sequence numbers it is that of its subflow.
    """
    keys = ["connection", "from"]
    own = packets.filter(pl.col("kind") != "duplicate")
    mapped = own.group_by("connection").agg(
        pl.col("data_sequence").is_not_null().any().alias("mapped")
    )
    known = own.join(mapped, on="connection")
    at = ["connection", "place", "t_ns"]
    is_mapped = pl.col("mapped")
    start = pl.when(is_mapped).then(pl.col("data_sequence")).otherwise(pl.col("sequence"))
    acknowledgement = (
        pl.when(is_mapped).then(pl.col("data_acknowledgement")).otherwise(pl.col("acknowledgement"))
    )
    sent = known.filter(pl.col("payload_bytes") > 0).select(
        *at, "from", start.alias("start"), (start + pl.col("payload_bytes")).alias("sent")
    )
    answers = known.select(*at, other_end(), acknowledgement.alias("acknowledged"))
    acknowledged = pl.max_horizontal(
        pl.col("acknowledged").cum_max().forward_fill().over(keys),
        pl.col("start").forward_fill().backward_fill().first().over(keys),
    )
    edge = pl.col("sent").cum_max().forward_fill().over(keys)
    return (
        pl.concat(
            [sent.filter(pl.col("sent").is_not_null()), answers.drop_nulls("acknowledged")],
            how="diagonal",
        )
        .sort("place")
        .select(*keys, "t_ns", (edge - acknowledged).clip(0).alias("in_flight_bytes"))
        .drop_nulls("in_flight_bytes")
    )

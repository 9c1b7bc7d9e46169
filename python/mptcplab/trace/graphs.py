"""The graphs of tcptrace and mptcptrace as tables: sequence numbers, round trips, data in flight.

Each table has `t_ns`, `what` (a name of `SERIES`), `subflow`, `low`, `high` and `frame`, in the
order of time. A segment goes from `low`, its first number, to `high`, the one behind its last; of a
point both are the same.
"""

from __future__ import annotations

import polars as pl

from mptcplab.trace.directions import data_flight
from mptcplab.trace.figures import data_round_trips, round_trips

SERIES = (
    "new",
    "fast_retransmission",
    "timeout_retransmission",
    "out_of_order",
    "keep_alive",
    "window_probe",
    "reinjected",
    "acknowledgement",
    "window",
    "sack",
    "rtt",
    "data_rtt",
    "in_flight",
    "data_in_flight",
)
"""Names of what is drawn; the segments first."""
COLUMNS = ("t_ns", "what", "subflow", "low", "high", "frame")
_SCHEMA = {
    "t_ns": pl.Int64,
    "what": pl.String,
    "subflow": pl.Int64,
    "low": pl.Int64,
    "high": pl.Int64,
    "frame": pl.Int64,
}


def time_sequence(packets: pl.LazyFrame, sender: str) -> pl.DataFrame:
    """Returns the time-sequence graph of one subflow, of the data that `sender` sent.

    Segments by their kind, `acknowledgement` and `window`, its right edge, as the other end told
    them, and `sack`, the blocks that it reported. Numbers are relative on the subflow.
    """
    own = _known(packets)
    answers = own.filter(pl.col("from") != sender, pl.col("acknowledgement").is_not_null())
    acknowledgement = pl.col("acknowledgement")
    edge = acknowledgement + pl.col("window_bytes")
    return _collected(
        _segments(own, sender, pl.col("sequence"), pl.col("kind")),
        _points(answers, "acknowledgement", acknowledgement),
        _points(answers, "window", edge),
        _sack(answers),
    )


def data_sequence(packets: pl.LazyFrame, sender: str) -> pl.DataFrame:
    """Returns the same of a connection, by data sequence numbers.

    A segment is `reinjected` where another subflow had carried its data; `acknowledgement` is the
    highest data acknowledgement, and `window` the farthest end of a window, which begins at the
    data acknowledgement that came with it. Both have a row where they grow.
    """
    own = _known(packets)
    answers = own.filter(pl.col("from") != sender, pl.col("data_acknowledgement").is_not_null())
    acknowledgement = pl.col("data_acknowledgement")
    kind = pl.when(pl.col("reinjected_bytes") > 0).then(pl.lit("reinjected")).otherwise("kind")
    return _collected(
        _segments(own, sender, pl.col("data_sequence"), kind),
        _growing(answers, "acknowledgement", acknowledgement),
        _growing(answers, "window", acknowledgement + pl.col("window_bytes")),
    )


def rtt(packets: pl.LazyFrame, sender: str) -> pl.DataFrame:
    """Returns the round trips of the data of an end, in ns: `rtt` by subflow, and `data_rtt`."""
    own = _known(packets)
    parts = []
    for what, trips in (("rtt", round_trips(own)), ("data_rtt", data_round_trips(own))):
        mine = trips.filter(pl.col("from") == sender)
        parts.append(
            mine.select(
                "t_ns",
                pl.lit(what).alias("what"),
                "subflow",
                pl.col("rtt_ns").alias("low"),
                pl.col("rtt_ns").alias("high"),
                pl.lit(None, pl.Int64).alias("frame"),
            )
        )
    return _collected(*parts)


def in_flight(packets: pl.LazyFrame, sender: str) -> pl.DataFrame:
    """Returns the data of an end in flight, in bytes: of each subflow, and of the connection.

    `packets` have `place`. That of a subflow counts after each packet of the sender, and falls by
    what the other end acknowledges first.
    """
    own = _known(packets)
    fallen = pl.col("newly_acknowledged_bytes").cum_sum().over("subflow")
    sent = pl.when(pl.col("from") == sender).then(pl.col("in_flight_bytes") + fallen)
    after = (sent.forward_fill().over("subflow") - fallen).clip(0)
    flying = (
        own.sort("place")
        .with_columns(
            pl.when(pl.col("from") == sender)
            .then(0)
            .otherwise("newly_acknowledged_bytes")
            .alias("newly_acknowledged_bytes")
        )
        .with_columns(after.alias("value"))
        .drop_nulls("value")
    )
    whole = data_flight(packets).filter(pl.col("from") == sender)
    return _collected(
        _points(flying, "in_flight", pl.col("value")),
        whole.select(
            "t_ns",
            pl.lit("data_in_flight").alias("what"),
            pl.lit(None, pl.Int64).alias("subflow"),
            pl.col("in_flight_bytes").alias("low"),
            pl.col("in_flight_bytes").alias("high"),
            pl.lit(None, pl.Int64).alias("frame"),
        ),
    )


def _known(packets: pl.LazyFrame) -> pl.LazyFrame:
    return packets.filter(~pl.col("kind").is_in(["duplicate", "not_acceptable"]))


def _segments(packets: pl.LazyFrame, sender: str, start: pl.Expr, kind: pl.Expr) -> pl.LazyFrame:
    own = packets.filter(pl.col("from") == sender, pl.col("payload_bytes") > 0, start.is_not_null())
    return own.select(
        "t_ns",
        kind.alias("what"),
        "subflow",
        start.alias("low"),
        (start + pl.col("payload_bytes")).alias("high"),
        "frame",
    )


def _points(packets: pl.LazyFrame, what: str, value: pl.Expr) -> pl.LazyFrame:
    return packets.filter(value.is_not_null()).select(
        "t_ns",
        pl.lit(what).alias("what"),
        "subflow",
        value.alias("low"),
        value.alias("high"),
        "frame",
    )


def _growing(packets: pl.LazyFrame, what: str, value: pl.Expr) -> pl.LazyFrame:
    points = _points(packets, what, value)
    highest = pl.col("low").cum_max()
    return points.filter((pl.col("low") > highest.shift(1)).fill_null(value=True))


def _sack(answers: pl.LazyFrame) -> pl.LazyFrame:
    """Returns the blocks of SACK in relative numbers, as the acknowledgement beside them is."""
    edges = pl.col("sack").str.split_exact("-", 1)
    blocks = (
        answers.filter(pl.col("sack").is_not_null())
        .with_columns(pl.col("sack").str.split(","))
        .explode("sack")
        .with_columns(
            edges.struct.field("field_0").cast(pl.Int64).alias("left"),
            edges.struct.field("field_1").cast(pl.Int64).alias("right"),
        )
    )

    def relative(edge: str) -> pl.Expr:
        distance = (pl.col(edge) - pl.col("raw_acknowledgement") + 2**31) % 2**32 - 2**31
        return (pl.col("acknowledgement") + distance).alias(edge)

    return blocks.select(
        "t_ns",
        pl.lit("sack").alias("what"),
        "subflow",
        relative("left").alias("low"),
        relative("right").alias("high"),
        "frame",
    )


def _collected(*parts: pl.LazyFrame) -> pl.DataFrame:
    columns = [pl.col(name).cast(kind) for name, kind in _SCHEMA.items()]
    typed = [part.select(columns) for part in parts]
    return pl.concat(typed).sort("t_ns", maintain_order=True).collect()

"""Which packet of the sender's capture is which of the receiver's."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
import polars as pl

_GROUP = ["connection", "subflow", "from"]
_EXACT = ["raw_sequence", "raw_acknowledgement", "flags", "payload_bytes"]
PASSES = (
    [*_EXACT, "identification", "ts_value", "ts_echo"],
    [*_EXACT, "ts_value", "ts_echo"],
    _EXACT,
)
"""Fields that packets must have in common; each pass takes the packets left by those before."""

COLUMNS = (
    *_GROUP,
    "t_ns",
    "frame",
    "flags",
    "raw_sequence",
    "raw_acknowledgement",
    "sequence",
    "payload_bytes",
    "identification",
    "ts_value",
    "ts_echo",
)
"""Columns of `packets` that are needed."""


def match_packets(sent: pl.DataFrame, received: pl.DataFrame) -> pl.DataFrame:
    """Pairs of packets: `sent` and `received`, places in the two frames, `bytes`, and `sure`.

    Both frames have `COLUMNS`, in order of time, with the same numbers of connections and subflows.
    A packet is found again by its numbers, flags, length, identification and timestamps; equal ones
    in order: from the last one back where more were sent than came, since what is sent again was
    lost before. What is left then is matched by ranges of sequence numbers, as a sender hands over
    segments that its interface cuts (TSO), and a receiver sees what its interface joined (GRO):
    then one packet sent pairs with several received, or the reverse, and `bytes` is what they have
    in common. A range that was sent more than once pairs with the sending that has the receiver's
    timestamp, or else with the last one that was not sent after it arrived. A pair is `sure` where
    each capture has one such packet only.
    """
    left = sent.with_row_index("place").with_columns(pl.col("place").cast(pl.Int64))
    right = received.with_row_index("place").with_columns(pl.col("place").cast(pl.Int64))
    found = []
    for number, keys in enumerate(PASSES):
        pairs = _equal(left, right, [*_GROUP, *keys], first=number == 0)
        found.append(pairs)
        left = left.filter(~pl.col("place").is_in(pairs["sent"].implode()))
        right = right.filter(~pl.col("place").is_in(pairs["received"].implode()))
    known = pl.concat(found)
    pieces = _by_range(left, right, _delays(sent, received, known))
    return pl.concat([known, pieces]).sort("sent", "received")


def _equal(
    left: pl.DataFrame, right: pl.DataFrame, keys: list[str], *, first: bool
) -> pl.DataFrame:
    """Pairs with equal keys, one to one; in the first pass those that are alone are sure."""
    numbered = []
    for side, name in ((left, "sent"), (right, "received")):
        numbered.append(
            side.select(
                *keys,
                pl.col("place").alias(name),
                pl.int_range(pl.len()).over(keys).alias("which"),
                pl.len().over(keys).cast(pl.Int64).alias(f"of_{name}"),
            )
        )
    counts = numbered[1].select(*keys, "of_received").unique(keys)
    surplus = (pl.col("of_sent") - pl.col("of_received")).clip(0)
    alone = (pl.col("of_sent") == 1) & (pl.col("of_received") == 1)
    mine = (
        numbered[0]
        .join(counts, on=keys, nulls_equal=True)
        .with_columns((pl.col("which") - surplus).alias("which"))
    )
    return mine.join(numbered[1].drop("of_received"), on=[*keys, "which"], nulls_equal=True).select(
        "sent",
        "received",
        pl.col("payload_bytes").alias("bytes"),
        (alone & pl.lit(first)).alias("sure"),
    )


def _delays(sent: pl.DataFrame, received: pl.DataFrame, pairs: pl.DataFrame) -> dict[object, int]:
    """Returns the least difference of the two clocks' times for each subflow and direction."""
    times = pairs.select(
        *(sent[name].gather(pairs["sent"]).alias(name) for name in _GROUP),
        (received["t_ns"].gather(pairs["received"]) - sent["t_ns"].gather(pairs["sent"])).alias(
            "least"
        ),
    )
    least = times.group_by(_GROUP).agg(pl.col("least").min())
    return {row[:3]: row[3] for row in least.iter_rows()}


def _by_range(left: pl.DataFrame, right: pl.DataFrame, delays: dict[object, int]) -> pl.DataFrame:
    schema = {"sent": pl.Int64, "received": pl.Int64, "bytes": pl.Int64, "sure": pl.Boolean}
    with_data = pl.col("payload_bytes") > 0
    mine = left.filter(with_data).partition_by(_GROUP, as_dict=True)
    theirs = right.filter(with_data).partition_by(_GROUP, as_dict=True)
    rows: list[tuple[int, int, int, bool]] = []
    for group in mine.keys() & theirs.keys():
        pairs = _ranges(mine[group], theirs[group], delays.get(group))
        rows += [(*pair, False) for pair in pairs]
    return pl.DataFrame(rows, schema=schema, orient="row")


def _ranges(
    mine: pl.DataFrame, theirs: pl.DataFrame, delay: int | None
) -> list[tuple[int, int, int]]:
    """Pairs of packets whose ranges overlap, of one direction of a subflow."""
    shift = _shift(mine, theirs)
    starts = mine["sequence"].to_numpy() + shift
    order = np.argsort(starts, kind="stable")
    begins = starts[order].tolist()
    lengths = mine["payload_bytes"].to_numpy()[order].tolist()
    places = mine["place"].to_numpy()[order].tolist()
    times = mine["t_ns"].to_numpy()[order].tolist()
    stamps = mine["ts_value"].gather(order).to_list()
    longest = max(lengths)
    found = []
    arrivals = zip(
        theirs["place"], theirs["sequence"], theirs["payload_bytes"], theirs["t_ns"],
        theirs["ts_value"], strict=True,
    )  # fmt: skip
    for place, begin, length, at, stamp in arrivals:
        end = begin + length
        position = begin
        while position < end:
            first = bisect_right(begins, position - longest - 1)
            last = bisect_right(begins, position)
            covering = [n for n in range(first, last) if begins[n] + lengths[n] > position]
            if not covering:
                # Nothing covers this byte: go on where the next sending begins.
                following = bisect_right(begins, position)
                position = begins[following] if following < len(begins) else end
                continue
            chosen = _chosen(covering, times, stamps, at, stamp, delay)
            until = min(end, begins[chosen] + lengths[chosen])
            found.append((places[chosen], place, until - position))
            position = until
    return found


def _chosen(
    covering: list[int],
    times: list[int],
    stamps: list[int | None],
    at: int,
    stamp: int | None,
    delay: int | None,
) -> int:
    """Of several sendings of the same byte the one that arrived."""
    same = [n for n in covering if stamp is not None and stamps[n] == stamp] or covering
    if delay is not None:
        same = [n for n in same if times[n] + delay <= at] or same
    return max(same, key=lambda n: times[n])


def _shift(mine: pl.DataFrame, theirs: pl.DataFrame) -> int:
    """Returns the difference of relative numbers in the two captures."""
    base = [
        (int(side["raw_sequence"][0]) - int(side["sequence"][0])) % 2**32 for side in (mine, theirs)
    ]
    return (base[0] - base[1] + 2**31) % 2**32 - 2**31

"""How clumped the data and the acknowledgements of connections are, in a capture at their sender.

`python -m benches.bursts FILE.pcapng --after SECONDS` prints a row for each connection and end that
sent a thousand segments or more: its segments, how many acknowledgements came for each, and how
many segments a burst has, in the mean and at the 99th percentile. Segments belong to one burst
where each leaves at most 30 µs after the one before; frames of large segments count as what they
are cut into.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import polars as pl

from mptcplab import trace

GAP_NS = 30_000
_LEAST = 1000
_OTHER = {"client": "server", "server": "client"}


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="python -m benches.bursts")
    parser.add_argument("file", type=Path)
    parser.add_argument("--after", type=float, default=0.0)
    own = parser.parse_args()
    with trace.read([str(own.file)], packets=True) as found:
        packets = (
            trace.view(found)
            .packets.select("connection", "from", "t_ns", "payload_bytes")
            .sort("t_ns")
            .collect()
        )
    segment_bytes = int(packets["payload_bytes"].filter(packets["payload_bytes"] <= 1460).max())
    packets = packets.filter(pl.col("t_ns") >= packets["t_ns"].min() + round(own.after * 1e9))
    print("| connection | sender | segments | acknowledgements a segment | burst, mean | 99 % |")
    print("|---|---|---:|---:|---:|---:|")
    every = packets.filter(pl.col("payload_bytes") > 0).partition_by(
        "connection", "from", as_dict=True
    )
    for (connection, end), data in sorted(every.items()):
        segments = data["payload_bytes"].sum() / segment_bytes
        if segments < _LEAST:
            continue
        acknowledgements = packets.filter(
            pl.col("connection") == connection,
            pl.col("from") == _OTHER[str(end)],
            pl.col("payload_bytes") == 0,
        ).height
        bursts = bursts_of(data, segment_bytes)
        print(
            f"| {connection} | {end} | {segments:.0f} | {acknowledgements / segments:.2f} "
            f"| {bursts.mean():.2f} | {bursts.quantile(0.99):.0f} |"
        )


def bursts_of(data: pl.DataFrame, segment_bytes: int) -> pl.Series:
    """Segments of each burst of one sender's data."""
    begins = pl.col("t_ns").diff().fill_null(GAP_NS + 1) > GAP_NS
    bursts = data.with_columns(begins.cum_sum().alias("burst")).group_by("burst")
    return bursts.agg(pl.col("payload_bytes").sum() / segment_bytes)["payload_bytes"]


if __name__ == "__main__":
    main()

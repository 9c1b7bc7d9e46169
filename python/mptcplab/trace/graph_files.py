"""Files of graphs: each as CSV and for xplot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from mptcplab.trace import graphs, words
from mptcplab.trace.errors import TraceError
from mptcplab.trace.figures import ENDS
from mptcplab.trace.graphs import COLUMNS
from mptcplab.trace.render.xplot import Labels, text, xplot
from mptcplab.trace.views import View

PACKETS_TOGETHER = 1_000_000
"""Of connections that are read from the table of packets together; one of more is read alone."""
_NOT_DRAWN = ("flags", "layers", "mptcp")
"""Columns of text that no graph needs."""


@dataclass(frozen=True)
class Graph:
    """A graph and its name."""

    name: str
    frame: pl.DataFrame
    labels: Labels
    divisor: int = 1
    """Of the values where they are drawn; in CSV they are as they are."""


def write_graphs(view: View, folder: Path) -> list[str]:
    """Writes the graphs of the chosen connections into a folder, which is made; gives their names.

    Files that are there already are replaced.

    Raises:
        TraceError: a file cannot be written.

    """
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for graph in every_graph(view):
            with (folder / f"{graph.name}.csv").open("wb") as file:
                _csv(graph.frame, view.origin_ns).write_csv(file)
            drawn = text(xplot(graph.frame, graph.labels, graph.divisor))
            (folder / f"{graph.name}.xpl").write_text(drawn, encoding="utf-8")
            written.append(graph.name)
    except OSError as error:
        raise TraceError(f"{folder}: cannot be written: {error.strerror}") from error
    return written


def every_graph(view: View) -> Iterator[Graph]:
    """Returns the graphs of each connection and end that sent data, those of its subflows first."""
    subflows_of = _parts(view.subflows)
    for row, packets in _with_packets(view):
        number = row["connection"]
        for end in ENDS:
            if not row[f"{end}_payload_bytes"]:
                continue
            name, whose = f"connection-{number}-{end}", f"connection {number}, data of the {end}"
            for subflow in subflows_of[number].iter_rows(named=True):
                if not subflow[f"{end}_payload_bytes"]:
                    continue
                which = subflow["subflow"]
                yield Graph(
                    f"{name}-subflow-{which}-sequence",
                    graphs.time_sequence(packets.filter(pl.col("subflow") == which), end),
                    Labels(f"{whose}, subflow {which}: {_ends(subflow)}", "sequence number"),
                )
            if row["protocol"] == "mptcp":
                yield Graph(
                    f"{name}-data-sequence",
                    graphs.data_sequence(packets, end),
                    Labels(f"{whose}: {_ends(row)}", "data sequence number"),
                )
            yield Graph(
                f"{name}-rtt", graphs.rtt(packets, end), Labels(f"{whose}: RTT", "RTT (us)"), 1000
            )
            yield Graph(
                f"{name}-in-flight",
                graphs.in_flight(packets, end),
                Labels(f"{whose}: in flight", "bytes"),
            )


def _with_packets(view: View) -> Iterator[tuple[dict[str, Any], pl.LazyFrame]]:
    """Returns each connection with its packets, which many have read from the table together."""
    together: list[dict[str, Any]] = []
    packets = 0
    for row in view.connections.iter_rows(named=True):
        own = row["packets"] + row["duplicates"]
        if own > PACKETS_TOGETHER:
            # Each graph reads its own columns of one that large.
            yield from _read_together(view, together)
            together, packets = [], 0
            yield row, view.numbered_packets.filter(pl.col("connection") == row["connection"])
            continue
        if together and packets + own > PACKETS_TOGETHER:
            yield from _read_together(view, together)
            together, packets = [], 0
        together.append(row)
        packets += own
    yield from _read_together(view, together)


def _read_together(
    view: View, rows: list[dict[str, Any]]
) -> Iterator[tuple[dict[str, Any], pl.LazyFrame]]:
    numbers = [row["connection"] for row in rows]
    chosen = view.numbered_packets.filter(pl.col("connection").is_in(numbers))
    packets = chosen.select(pl.exclude(_NOT_DRAWN)).collect()
    nothing = packets.clear()
    packets_of = _parts(packets)
    for row in rows:
        yield row, packets_of.get(row["connection"], nothing).lazy()


def _parts(frame: pl.DataFrame) -> dict[int, pl.DataFrame]:
    """Returns the rows of each connection, in their order."""
    parts = frame.partition_by("connection", as_dict=True, maintain_order=True)
    return {number: part for (number,), part in parts.items()}


def _ends(row: Mapping[str, Any]) -> str:
    """Returns both ends in ASCII, as the fonts of xplot have no more."""
    return words.ends(row).replace("→", "->")


def _csv(frame: pl.DataFrame, origin_ns: int) -> pl.DataFrame:
    """Returns the rows with the time in seconds after the first packet, too."""
    seconds = ((pl.col("t_ns") - origin_ns) / 1e9).round(9).alias("t_s")
    return frame.select(seconds, *COLUMNS)

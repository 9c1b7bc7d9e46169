"""Points and lines of the charts of a connection, of as many points as a page holds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from mptcplab.page.thinning import AS_THEY_ARE
from mptcplab.trace.figures import ENDS, cumulative, round_trips
from mptcplab.trace.views import View

CELLS = (1600, 400)
"""Places across and up a chart of more points than a page holds; at each one is drawn."""
MOST_POINTS = AS_THEY_ARE
"""Points of a line, or of all subflows together."""
BIN_NS = 100_000_000
"""Width of a bin of the table `samples`."""
OUTLYING = 6
"""A point so many times above nine tenths of the others makes a scale logarithmic."""
LEAST_PART = 0.001
"""A direction with less than this part of the payload of the other has no plots of its own."""

Numbers = npt.NDArray[np.float64]
Times = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Points:
    """Points by subflow."""

    frame: pl.DataFrame
    """Columns `subflow`, `x`, `y`, and `frame` where it is known, in the order of `x`."""
    found: int
    """How many there were before points at one place became one."""
    logarithmic: bool = False
    """Drawn on a logarithmic scale: a few points would press all others flat."""

    @property
    def note(self) -> str:
        """Description of the points that were left out; empty if none were."""
        if self.frame.height == self.found:
            return ""
        return (
            f"{self.frame.height} of {self.found} points are drawn: "
            "one where several fall on one place."
        )


@dataclass(frozen=True)
class Line:
    """A figure over time."""

    subflow: int | None
    """Null: all together."""
    times_s: Numbers
    values: Numbers
    ends_s: Numbers | None = None
    """Where each value is a mean from its time on: the time up to which."""


def senders(view: View, connection: int) -> list[str]:
    """Returns the ends whose data is worth plots, the one that sent more first."""
    row = view.connections.filter(connection=connection).row(0, named=True)
    sent = {end: row[f"{end}_payload_bytes"] for end in ENDS}
    most = max(sent.values())
    return sorted((end for end in ENDS if sent[end] > LEAST_PART * most), key=lambda e: -sent[e])


def data_sequence(packets: pl.LazyFrame, sender: str, origin_ns: int) -> dict[str, Points]:
    """Returns the data sequence numbers against time: all, retransmitted and reinjected data.

    Of plain TCP, and after a fallback, the sequence number of the subflow.
    """
    own = packets.filter(pl.col("from") == sender, pl.col("payload_bytes") > 0).select(
        "subflow",
        seconds(origin_ns).alias("x"),
        (pl.coalesce("data_sequence", "sequence") / 1e6).alias("y"),
        pl.col("kind").str.ends_with("retransmission").alias("again"),
        (pl.col("reinjected_bytes") > 0).alias("reinjected"),
        "frame",
    )
    found = own.select(*_BOUNDS, pl.len(), *(pl.col(name).sum() for name in _APART))
    left, right, low, high, *counts = found.collect(engine="streaming").row(0)
    bounds = (left, right, low, high)
    parts = (own, *(own.filter(name) for name in _APART))
    return {
        name: _points(part, bounds, count or 0)
        for name, part, count in zip(("all", *_APART), parts, counts, strict=True)
    }


def trips_over_time(packets: pl.LazyFrame, sender: str, origin_ns: int) -> Points:
    """Returns round trips against the time at which they ended."""
    trips = round_trips(packets).filter(pl.col("from") == sender)
    return _heights(trips.select("subflow", seconds(origin_ns).alias("x"), _rtt_ms(), "frame"))


def trips_over_sequence(packets: pl.LazyFrame, sender: str) -> Points:
    """Returns round trips against the sequence number that they are about."""
    trips = round_trips(packets).filter(pl.col("from") == sender)
    return _heights(
        trips.select("subflow", (pl.col("sequence") / 1e6).alias("x"), _rtt_ms(), "frame")
    )


def one_way(matched: pl.DataFrame, sender: str, origin_ns: int) -> Points:
    """Returns one-way delays against the time at the first capture."""
    own = (
        matched.lazy()
        .filter(pl.col("from") == sender)
        .select("subflow", seconds(origin_ns).alias("x"), (pl.col("delay_ns") / 1e6).alias("y"))
    )
    return _heights(own)


def throughput(
    samples: pl.DataFrame, sender: str, origin_ns: int, lifetime: tuple[int, int]
) -> list[Line]:
    """Returns the payload in Mbit/s of each subflow, and of all together where there are several.

    Of the bins in which the connection begins and ends counts what is within its lifetime; a rest
    shorter than half a bin belongs to its neighbour.
    """
    own = samples.filter(pl.col("from") == sender)
    if own.is_empty():
        return []
    first, bins = _bins(own)
    step = max(1, -(-bins // MOST_POINTS))
    starts, widths = _drawn_bins(first, bins, step, lifetime)
    edges = starts[1:]
    lines = []
    total = np.zeros(starts.size)
    for (subflow,), rows in own.sort("subflow", "t_ns").group_by("subflow", maintain_order=True):
        places = np.searchsorted(edges, rows["t_ns"].to_numpy(), side="right")
        carried = np.bincount(
            places, weights=rows["payload_bytes"].to_numpy(), minlength=total.size
        )
        total += carried
        if carried.any():
            # A line begins just before its first bin and ends just after its last one.
            carried[: max(0, places[0] - 1)] = np.nan
            carried[places[-1] + 2 :] = np.nan
            lines.append((int(str(subflow)), carried))
    times, ends = (starts - origin_ns) / 1e9, (starts + widths - origin_ns) / 1e9
    found = [Line(subflow, times, 8e3 * carried / widths, ends) for subflow, carried in lines]
    return found if len(found) < 2 else [*found, Line(None, times, 8e3 * total / widths, ends)]


def carried(samples: pl.DataFrame, sender: str, origin_ns: int) -> list[Line]:
    """Returns the cumulative distinct data in MB of each subflow, and of the connection."""
    own = samples.filter(pl.col("from") == sender)
    lines = [
        _course(rows, int(str(subflow)), origin_ns)
        for (subflow,), rows in cumulative(own).group_by("subflow", maintain_order=True)
        if rows["bytes"][-1]
    ]
    if len(lines) > 1:
        together = own.group_by("t_ns").agg(pl.col("new_data_bytes").sum()).sort("t_ns")
        whole = together.select("t_ns", pl.col("new_data_bytes").cum_sum().alias("bytes"))
        lines.append(_course(whole, None, origin_ns))
    return lines


def in_flight(samples: pl.DataFrame, sender: str, origin_ns: int) -> list[Line]:
    """Bytes in flight in kB of each subflow, the most of each bin that is drawn."""
    own = samples.filter(pl.col("from") == sender).sort("subflow", "t_ns")
    return [
        _thin(rows, "in_flight_bytes", int(str(subflow)), origin_ns)
        for (subflow,), rows in own.group_by("subflow", maintain_order=True)
        if rows["in_flight_bytes"].max()
    ]


def window(samples: pl.DataFrame, sender: str, origin_ns: int) -> Line | None:
    """Returns the window granted to the sender in kB: the largest of any subflow in a bin."""
    own = samples.filter(pl.col("from") == sender, pl.col("window_bytes").is_not_null())
    if own.is_empty():
        return None
    largest = own.group_by("t_ns").agg(pl.col("window_bytes").max()).sort("t_ns")
    return _thin(largest, "window_bytes", None, origin_ns)


def seconds(origin_ns: int) -> pl.Expr:
    """Returns the time after the first packet of the capture."""
    return (pl.col("t_ns") - origin_ns) / 1e9


def _rtt_ms() -> pl.Expr:
    return (pl.col("rtt_ns") / 1e6).alias("y")


_APART = ("again", "reinjected")
"""Columns of packets that are drawn once more, by themselves."""
Bounds = tuple[float, float, float, float]
_BOUNDS = (
    pl.col("x").min().alias("left"),
    pl.col("x").max().alias("right"),
    pl.col("y").min().alias("low"),
    pl.col("y").max().alias("high"),
)


def _heights(own: pl.LazyFrame) -> Points:
    """Points whose height counts from 0, or by its logarithm where there are outlying ones."""
    found = own.select(*_BOUNDS, pl.col("y").quantile(0.9).alias("usual"), pl.len()).collect(
        engine="streaming"
    )
    left, right, low, high, usual, held = found.row(0)
    if usual is None or low <= 0 or high <= OUTLYING * usual:
        return _points(own, (left, right, low, high), held)
    logarithms = own.with_columns(pl.col("y").log())
    points = _points(logarithms, (left, right, math.log(low), math.log(high)), held)
    return Points(points.frame.with_columns(pl.col("y").exp()), points.found, logarithmic=True)


def _points(own: pl.LazyFrame, bounds: Bounds, held: int) -> Points:
    """All points, so many; of more than a page holds one at each place within the bounds."""
    names = [name for name in own.collect_schema().names() if name in _COLUMNS]
    if held <= MOST_POINTS:
        return Points(own.select(names).sort("x").collect(engine="streaming"), held)
    left, right, low, high = bounds
    across, up = CELLS
    column = ((pl.col("x") - left) * across / max(right - left, 1e-12)).cast(pl.Int64)
    row = ((pl.col("y") - low) * up / max(high - low, 1e-12)).cast(pl.Int64)
    others = [name for name in names if name != "subflow"]
    found = (
        own.with_columns(column.alias("column"), row.alias("row"))
        .group_by("subflow", "column", "row")
        .agg(pl.col(others).first())
        .sort("x")
        .collect(engine="streaming")
    )
    return Points(found.select(names), held)


_COLUMNS = ("subflow", "x", "y", "frame")


def _bins(samples: pl.DataFrame) -> tuple[int, int]:
    """Returns the start of the first bin, and how many there are to the last one."""
    first, last = int(str(samples["t_ns"].min())), int(str(samples["t_ns"].max()))
    return first, (last - first) // BIN_NS + 1


def _drawn_bins(
    first_ns: int, bins: int, step: int, lifetime: tuple[int, int]
) -> tuple[Times, Times]:
    """Starts and widths of what is drawn as one bin: `step` bins, within the connection's life."""
    width = step * BIN_NS
    edges = first_ns + np.arange(-(-bins // step) + 1) * width
    edges[-1] = first_ns + bins * BIN_NS
    if len(edges) > 2:
        start_ns, end_ns = lifetime
        edges[0] = max(edges[0], min(start_ns, first_ns + BIN_NS))
        edges[-1] = min(edges[-1], max(end_ns, edges[-1] - BIN_NS))
        is_short = np.diff(edges) < width / 2
        if is_short[-1]:
            edges = np.delete(edges, -2)
        if is_short[0] and len(edges) > 2:
            edges = np.delete(edges, 1)
    return edges[:-1], np.diff(edges)


def _course(rows: pl.DataFrame, subflow: int | None, origin_ns: int) -> Line:
    """Bytes at the end of each bin, in MB, from 0 on."""
    step = max(1, rows.height // MOST_POINTS)
    thin = rows.gather_every(step)
    if thin.height and thin["t_ns"][-1] != rows["t_ns"][-1]:
        thin = pl.concat([thin, rows.tail(1)])
    times = (thin["t_ns"].to_numpy() + BIN_NS - origin_ns) / 1e9
    begin = (int(rows["t_ns"][0]) - origin_ns) / 1e9
    return Line(
        subflow,
        np.concatenate(([begin], times)),
        np.concatenate(([0.0], thin["bytes"].to_numpy() / 1e6)),
    )


def _thin(rows: pl.DataFrame, column: str, subflow: int | None, origin_ns: int) -> Line:
    """Returns the largest of so many bins that the points of a line suffice, in kB.

    Where nothing was for ten times as long, the line has a gap.
    """
    first, bins = _bins(rows)
    step = max(1, -(-bins // MOST_POINTS))
    thin = (
        rows.group_by(((pl.col("t_ns") - first) // (step * BIN_NS)).alias("place"))
        .agg(pl.col("t_ns").min(), pl.col(column).max())
        .sort("place")
    )
    times = (thin["t_ns"].to_numpy() - origin_ns) / 1e9
    values = thin[column].to_numpy() / 1e3
    gaps = np.flatnonzero(np.diff(thin["place"].to_numpy()) > 10) + 1
    return Line(subflow, np.insert(times, gaps, np.nan), np.insert(values, gaps, np.nan))

"""How a connection comes through a change of path: silence and recovery, from the samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

BIN_NS = 100_000_000
"""Width of a bin of the table `samples`."""
WINDOW_NS = 1_000_000_000
"""New data has to go on for this long to count as sustained."""
PAUSE_NS = 200_000_000
"""Longest pause within sustained delivery, as in the metric `recovery_s`."""
BEFORE_NS = 5_000_000_000
"""The rate before is taken over this time, or since the first data if that is less."""
TRICKLE = 0.05
"""Sustained delivery has at least this part of the rate before."""

Times = npt.NDArray[np.int64]

SCHEMA = pl.Schema(
    {
        "connection": pl.Int64(),
        "from": pl.String(),
        "t_ns": pl.Int64(),
        "from_subflow": pl.Int64(),
        "to_subflow": pl.Int64(),
        "silence_ns": pl.Int64(),
        "recovery_ns": pl.Int64(),
    }
)
"""A row for each time that the data of one end moved to another subflow."""


@dataclass(frozen=True)
class Course:
    """The new data of one end of a connection, by bins."""

    bins_ns: Times
    """Starts of the bins with new data, ascending."""
    bytes: Times
    end_ns: int
    """End of the last bin with a packet of the connection."""
    each_ns: Times
    """The same by subflow: starts of bins, subflows and bytes."""
    each_subflow: Times
    each_bytes: Times


def handovers(
    events: pl.DataFrame, samples: pl.DataFrame, connections: pl.DataFrame
) -> pl.DataFrame:
    """Every event `traffic_moved` with what it cost.

    `from_subflow` is the subflow with most of the new data of the 5 s before. `silence_ns` is the
    longest time without new data between the last that this subflow carried and the move, by the
    bins of 100 ms; exact where it is the longest silence of the connection; 0 where data went on.
    `recovery_ns` goes from the beginning of this silence (or the move, where there is none) to the
    first new data that begins a second without a pause above 200 ms and with at least 5 % of the
    rate of the 5 s before; null where no such second followed.
    """
    moved = events.filter(pl.col("kind") == "traffic_moved", pl.col("from").is_not_null())
    return pl.DataFrame(list(_rows(moved, samples, connections)), schema=SCHEMA, orient="row")


def _rows(
    moved: pl.DataFrame, samples: pl.DataFrame, connections: pl.DataFrame
) -> Iterator[tuple[object, ...]]:
    keys = ["connection", "from"]
    numbers = moved["connection"].unique().to_list()
    concerned = samples.filter(pl.col("connection").is_in(numbers))
    by_end = concerned.partition_by(keys, as_dict=True)
    about = connections.filter(pl.col("connection").is_in(numbers)).rows_by_key(
        "connection", named=True, unique=True
    )
    for (number, sender), own in moved.partition_by(keys, as_dict=True).items():
        course = _course(by_end.get((number, sender), samples.clear()))
        known = about[number]
        exact = (known[f"{sender}_silence_at_ns"], known[f"{sender}_silence_ns"])
        for event in own.sort("t_ns").iter_rows(named=True):
            at_ns, target = event["t_ns"], event["subflow"]
            source, last_ns = _left(course, at_ns, -1 if target is None else target)
            begin_ns, silence_ns = _silence(course, last_ns, at_ns, exact)
            failed_ns = begin_ns if silence_ns else at_ns
            recovery_ns = _recovery(course, failed_ns, silence_ns)
            yield number, sender, at_ns, source, target, silence_ns, recovery_ns


def _course(rows: pl.DataFrame) -> Course:
    times, amounts = rows["t_ns"].to_numpy(), rows["new_data_bytes"].to_numpy()
    fresh = amounts > 0
    bins, places = np.unique(times[fresh], return_inverse=True)
    return Course(
        bins,
        np.bincount(places, weights=amounts[fresh], minlength=bins.size).astype(np.int64),
        int(times.max(initial=0)) + BIN_NS,
        times[fresh],
        rows["subflow"].to_numpy()[fresh],
        amounts[fresh],
    )


def _left(course: Course, at_ns: int, target: int) -> tuple[int | None, int]:
    """Returns the subflow that had carried most, and the last bin in which it did."""
    times, subflows = course.each_ns, course.each_subflow
    before = (times <= at_ns) & (times > at_ns - BEFORE_NS) & (subflows != target)
    if not before.any():
        return None, at_ns
    source = int(np.bincount(subflows[before], weights=course.each_bytes[before]).argmax())
    return source, int(times[before & (subflows == source)].max())


def _silence(
    course: Course, last_ns: int, at_ns: int, exact: tuple[int | None, int | None]
) -> tuple[int, int]:
    """(start, length) of the longest pause that touches the time from `last_ns` to the move."""
    starts = course.bins_ns[:-1] + BIN_NS
    lengths = course.bins_ns[1:] - starts
    touching = (lengths > 0) & (starts >= last_ns) & (starts <= at_ns)
    if not touching.any():
        return at_ns, 0
    longest = int(np.where(touching, lengths, 0).argmax())
    start, length = int(starts[longest]), int(lengths[longest])
    exact_start, exact_length = exact
    if exact_start is not None and exact_length is not None:
        same = abs(exact_start - start) <= BIN_NS and abs(exact_length - length) <= 2 * BIN_NS
        if same:
            return exact_start, exact_length
    return start, length


def _recovery(course: Course, failed_ns: int, silence_ns: int) -> int | None:
    rate_ns, before = _before(course, failed_ns)
    least = TRICKLE * before * WINDOW_NS / rate_ns
    resumed_ns = failed_ns + silence_ns
    edge = failed_ns if silence_ns else failed_ns - BIN_NS
    for start in course.bins_ns[np.searchsorted(course.bins_ns, edge, "right") :]:
        end = start + WINDOW_NS
        if end > course.end_ns:
            return None
        inside = (course.bins_ns >= start) & (course.bins_ns < end)
        marks = np.concatenate((course.bins_ns[inside], [end]))
        if (np.diff(marks) - BIN_NS).max() <= PAUSE_NS and course.bytes[inside].sum() >= least:
            inside_bin = start <= resumed_ns < start + BIN_NS
            return max(0, (resumed_ns if inside_bin else int(start)) - failed_ns)
    return None


def _before(course: Course, at_ns: int) -> tuple[int, int]:
    """Returns the time before a moment that is compared, and the new data of that time."""
    begin = max(at_ns - BEFORE_NS, int(course.bins_ns[0]) if course.bins_ns.size else at_ns)
    inside = (course.bins_ns >= begin) & (course.bins_ns < at_ns)
    return max(BIN_NS, at_ns - begin), int(course.bytes[inside].sum())

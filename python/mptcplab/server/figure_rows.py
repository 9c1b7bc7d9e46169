"""Figures of a result as rows: what queries need without reading the result again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from mptcplab.measure.figures import Figures, SizeFigures
from mptcplab.measure.plan import Direction
from mptcplab.metrics.statistics import Estimate

ALL_PATHS = -1
"""The number of the path in figures that are of all paths together."""


class Metric(StrEnum):
    """A figure. Of goodput the unit is Mbit/s, of round-trip times the millisecond."""

    TCP_MBPS = "tcp_mbps"
    """Of each path alone."""
    MPTCP_MBPS = "mptcp_mbps"
    AT_ONCE_MBPS = "at_once_mbps"
    """TCP over all paths at once."""
    TCP_S = "tcp_s"
    """Time of a transfer, seconds."""
    MPTCP_S = "mptcp_s"
    AGGREGATION = "aggregation"
    """The benefit."""
    DELAY = "delay"
    RTT_MS = "rtt_ms"
    """Of a path that carries nothing else."""
    LOADED_RTT_MS = "loaded_rtt_ms"


@dataclass(frozen=True)
class FigureRow:
    """A figure whose mean is known."""

    metric: Metric
    direction: str
    """`down`, `up`; empty for round-trip times."""
    size_bytes: int
    """Of transfers; 0 for round-trip times."""
    path: int
    """Number of the path, or `ALL_PATHS`."""
    interface: str
    """Of the path; empty for all."""
    mean: float
    low: float | None
    """Of the interval of 95 %; null below two samples."""
    high: float | None
    samples: int
    """Those that are known."""


def figure_rows(figures: Figures) -> list[FigureRow]:
    """All figures that are known."""
    interfaces = [path.interface for path in figures.paths]
    rows = []
    for metric, direction, size_bytes, path, one in _every(figures):
        if one.mean is not None:
            low, high = one.ci95 or (None, None)
            interface = "" if path == ALL_PATHS else interfaces[path]
            rows.append(
                FigureRow(
                    metric, direction, size_bytes, path, interface, one.mean, low, high, one.known
                )
            )
    return rows


_Figure = tuple[Metric, str, int, int, Estimate]


def _every(figures: Figures) -> Iterator[_Figure]:
    for path in range(len(figures.paths)):
        yield Metric.RTT_MS, "", 0, path, figures.idle_rtt[path]
        yield Metric.LOADED_RTT_MS, "", 0, path, figures.loaded_rtt[path]
    for direction in Direction:
        for size in figures.sizes[direction]:
            yield from _of_size(direction.value, size)


def _of_size(direction: str, size: SizeFigures) -> Iterator[_Figure]:
    of_paths = ((Metric.TCP_MBPS, size.path_goodputs), (Metric.TCP_S, size.path_times))
    for metric, estimates in of_paths:
        for path, one in enumerate(estimates):
            yield metric, direction, size.size_bytes, path, one
    of_all = (
        (Metric.MPTCP_MBPS, size.mptcp_goodput),
        (Metric.MPTCP_S, size.mptcp_time),
        (Metric.AT_ONCE_MBPS, size.at_once_goodput),
        (Metric.AGGREGATION, size.aggregation),
        (Metric.DELAY, size.delay),
    )
    for metric, one in of_all:
        yield metric, direction, size.size_bytes, ALL_PATHS, one

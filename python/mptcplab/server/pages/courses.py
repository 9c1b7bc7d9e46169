"""An agent's figures over time: charts, and the heat map by weekday and hour."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from mptcplab.measure.plan import Direction
from mptcplab.page.charts import Axis, Chart, Kind, Numbers, Panel, Series
from mptcplab.server.figure_rows import Metric

Row = Mapping[str, Any]
"""A figure of a result, as `store.views` has it."""
MOST_INTERFACES = 6
"""As many as there are colours."""
_GROUP = "time-of-results"
_MPTCP = "var(--s6)"
_DASHES = (5, 3)
_MARKED = 80
"""Up to so many values of a series have marks and intervals: of more they would hide each other."""
_GAP = 4
"""So many times the usual distance between results without one is a gap."""
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_STRENGTHS = 5


@dataclass(frozen=True)
class Cell:
    """A mean in the heat map."""

    text: str
    css: str


@dataclass(frozen=True)
class HeatMap:
    """Means of the delay benefit of a direction by weekday (the rows) and hour, UTC."""

    title: str
    rows: Sequence[tuple[str, Sequence[Cell]]]


def sizes(rows: Iterable[Row]) -> list[int]:
    """The sizes of transfers, the smallest first."""
    return sorted({row["size_bytes"] for row in rows} - {0})


def charts(rows: Sequence[Row], size_bytes: int, begin_ms: int, end_ms: int) -> dict[str, Chart]:
    """Goodput, benefit and RTT, those of which there are figures."""
    x = Axis("time (UTC)", limits=(begin_ms / 1e3, end_ms / 1e3), is_date=True)
    names = list(dict.fromkeys(row["interface"] for row in rows if row["interface"]))
    colours = {name: f"var(--s{place})" for place, name in enumerate(names[:MOST_INTERFACES])}
    every = {
        "goodput": (Axis("goodput", "Mbit/s"), _goodput(rows, size_bytes, colours)),
        "benefit": (Axis("benefit", from_zero=False), _benefit(rows, size_bytes)),
        "rtt": (Axis("RTT", "ms"), [Panel("", tuple(_rtt(rows, colours)))]),
    }
    return {
        name: Chart(x, y, tuple(known), _GROUP)
        for name, (y, panels) in every.items()
        if (known := [panel for panel in panels if panel.series])
    }


def _goodput(rows: Sequence[Row], size_bytes: int, colours: Mapping[str, str]) -> list[Panel]:
    panels = []
    for direction in Direction:
        own = _of(rows, direction, size_bytes)
        lines = [
            _line(f"TCP {name}", colour, own, Metric.TCP_MBPS, name)
            for name, colour in colours.items()
        ]
        lines.append(_line("MPTCP", _MPTCP, own, Metric.MPTCP_MBPS))
        panels.append(Panel(direction.value, tuple(line for line in lines if line is not None)))
    return panels


def _benefit(rows: Sequence[Row], size_bytes: int) -> list[Panel]:
    panels = []
    for direction in Direction:
        own = _of(rows, direction, size_bytes)
        lines = (
            _line("aggregation benefit", "var(--s0)", own, Metric.AGGREGATION),
            _line("delay benefit", "var(--s3)", own, Metric.DELAY, dashes=_DASHES),
        )
        panels.append(Panel(direction.value, tuple(line for line in lines if line is not None)))
    return panels


def _rtt(rows: Sequence[Row], colours: Mapping[str, str]) -> Iterable[Series]:
    for name, colour in colours.items():
        lines = (
            _line(f"{name} idle", colour, rows, Metric.RTT_MS, name),
            _line(f"{name} loaded", colour, rows, Metric.LOADED_RTT_MS, name, dashes=_DASHES),
        )
        yield from (line for line in lines if line is not None)


def _of(rows: Iterable[Row], direction: Direction, size_bytes: int) -> list[Row]:
    return [
        row
        for row in rows
        if row["direction"] == direction.value and row["size_bytes"] == size_bytes
    ]


def _line(
    label: str,
    colour: str,
    rows: Iterable[Row],
    metric: Metric,
    interface: str = "",
    dashes: tuple[int, ...] = (),
) -> Series | None:
    """A figure over time, of all paths where no interface is named; null where there is none."""
    own = [row for row in rows if row["metric"] == metric and row["interface"] == interface]
    if not own:
        return None

    def column(take: Callable[[Row], float]) -> Numbers:
        return np.array([take(row) for row in own], dtype=np.float64)

    x, y = column(lambda row: row["began_ms"] / 1e3), column(lambda row: row["mean"])
    half = column(lambda row: 0.0 if row["low"] is None else (row["high"] - row["low"]) / 2)
    gaps = _gaps(x)
    return Series(
        label,
        colour,
        np.insert(x, gaps, np.nan),
        np.insert(y, gaps, np.nan),
        Kind.LINE,
        dashes,
        half=np.insert(half, gaps, 0.0) if len(own) <= _MARKED else None,
    )


def _gaps(x: Numbers) -> Sequence[int]:
    """Places before which nothing was measured for long."""
    if len(x) < 3:
        return []
    apart = np.diff(x)
    places: list[int] = (
        np.flatnonzero(apart > _GAP * max(float(np.median(apart)), 1.0)) + 1
    ).tolist()
    return places


def heat_maps(rows: Sequence[Row], size_bytes: int) -> list[HeatMap]:
    """The delay benefit by weekday and hour, of each direction that has any."""
    maps = []
    for direction in Direction:
        cells: dict[tuple[int, int], list[float]] = {}
        for row in _of(rows, direction, size_bytes):
            if row["metric"] == Metric.DELAY:
                hours = row["began_ms"] // 3_600_000
                # 1970 began on a Thursday.
                cells.setdefault(((hours // 24 + 3) % 7, hours % 24), []).append(row["mean"])
        if cells:
            told = [
                (name, [_cell(cells.get((day, hour))) for hour in range(24)])
                for day, name in enumerate(DAYS)
            ]
            maps.append(HeatMap(f"Delay benefit {direction.value} by weekday and hour", told))
    return maps


def _cell(values: Sequence[float] | None) -> Cell:
    if not values:
        return Cell("", "")
    mean = fmean(values)
    strength = min(round(abs(mean) * _STRENGTHS), _STRENGTHS)
    # Never a zero with a sign.
    text = f"{round(mean, 1) + 0.0:.1f}".replace("-", "−")
    return Cell(text, f"{'worse' if mean < 0 else 'better'}-{strength}")

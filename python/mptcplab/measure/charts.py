"""Charts of a probe's page: what its sentences and tables rest on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mptcplab.measure.figures import Figures, SizeFigures
from mptcplab.measure.plan import Direction
from mptcplab.measure.words import shown, size_words
from mptcplab.metrics.statistics import Estimate
from mptcplab.page.categories import Part, bar_rows
from mptcplab.page.charts import Axis, Chart, Kind, NamedChart, Panel, Series, distribution

_MOST_COLOURS = 5
"""Paths beyond have the colour of another one."""
_MPTCP = "var(--s6)"
_AT_ONCE = "var(--s5)"
_DASHES = (5, 3)
_BAR_SHARE = 0.55
"""Part of the width that the longest bar takes: its words stand beside it."""
_BEYOND = 1.3
"""Times the least and the greatest size is where their axis ends."""
_RTT_ROOM = 1.05
"""Times the longest round-trip time is where its axis ends."""
_ROOM = 0.3
"""Of a place on the axis of repetitions, before the first one and behind the last one."""


@dataclass(frozen=True)
class Bars:
    """Bars as drawn, with a table behind them."""

    title: str
    note: str
    drawn: str


def goodput_bars(figures: Figures) -> Bars | None:
    """Goodput of the largest transfers of each direction; null where nothing is known."""
    rows: dict[str, list[list[Part]]] = {}
    for direction, size in _largest(figures).items():
        bars = [
            [Part(name, colour, 0.0, one.mean, f"{name} {shown(one)}", one.half_width or 0.0)]
            for name, colour, one in _goodputs(figures, size)
            if one.mean is not None
        ]
        if bars:
            rows[f"{direction.value}, {size_words(size.size_bytes)}"] = bars
    if not rows:
        return None
    note = "Means, with intervals of 95 % of several. S is what TCP over all paths at once carries."
    longest = max(part.end for bars in rows.values() for (part,) in bars)
    axis = Axis("goodput", "Mbit/s", limits=(0.0, longest / _BAR_SHARE or 1.0))
    return Bars("Goodput by path", note, bar_rows(rows, axis))


def charts(figures: Figures) -> list[NamedChart]:
    """Those of which there is something to see."""
    every = (
        NamedChart(
            "times",
            "Times by size",
            "Means with intervals of 95 %.",
            Chart(
                _sizes(figures),
                Axis("time of a transfer", "s", logarithmic=True),
                tuple(_by_size(figures)),
            ),
        ),
        NamedChart(
            "repetitions",
            "Times by repetition",
            "Of the largest transfers. MPTCP begins on the paths in turn; what fell back to TCP, "
            "was on other paths or did not finish is left out.",
            Chart(
                Axis("repetition", limits=_limits(figures), names=_names(figures)),
                Axis("time of a transfer", "s"),
                tuple(_by_repetition(figures)),
            ),
        ),
        NamedChart(
            "rtt",
            "Distribution of round-trip times",
            "Of each echo. Loaded: beside a download over the same path.",
            Chart(
                Axis("RTT", "ms", limits=(0.0, _RTT_ROOM * _longest_rtt(figures))),
                Axis("part of the echoes", limits=(0.0, 1.02)),
                (Panel("", tuple(_distributions(figures))),),
            ),
        ),
    )
    return [one for one in every if any(panel.series for panel in one.chart.panels)]


def _colours(figures: Figures) -> list[tuple[str, str]]:
    """Each path's name and colour."""
    return [
        (path.interface, f"var(--s{number % _MOST_COLOURS})")
        for number, path in enumerate(figures.paths)
    ]


def _largest(figures: Figures) -> Mapping[Direction, SizeFigures]:
    return {
        direction: figures.sizes[direction][-1]
        for direction in Direction
        if figures.sizes[direction]
    }


def _goodputs(figures: Figures, size: SizeFigures) -> Iterator[tuple[str, str, Estimate]]:
    for (name, colour), one in zip(_colours(figures), size.path_goodputs, strict=True):
        yield f"TCP {name}", colour, one
    yield "MPTCP", _MPTCP, size.mptcp_goodput
    if len(figures.paths) > 1:
        yield "S", _AT_ONCE, size.at_once_goodput


def _times(figures: Figures, size: SizeFigures) -> Iterator[tuple[str, str, Estimate]]:
    for (name, colour), one in zip(_colours(figures), size.path_times, strict=True):
        yield f"TCP {name}", colour, one
    yield "MPTCP", _MPTCP, size.mptcp_time


def _by_size(figures: Figures) -> Iterator[Panel]:
    for direction in Direction:
        found: dict[str, tuple[str, list[tuple[float, float, float]]]] = {}
        for size in figures.sizes[direction]:
            for name, colour, one in _times(figures, size):
                if one.mean is not None:
                    row = (float(size.size_bytes), one.mean, one.half_width or 0.0)
                    found.setdefault(name, (colour, []))[1].append(row)
        if len(figures.sizes[direction]) > 1:
            lines = tuple(_line(name, *of) for name, of in found.items())
            yield Panel(direction.value, lines)


def _sizes(figures: Figures) -> Axis:
    """An axis on which each size has its name."""
    known = {size.size_bytes for every in figures.sizes.values() for size in every}
    names = tuple((float(size), size_words(size)) for size in sorted(known))
    ends = (min(known) / _BEYOND, max(known) * _BEYOND) if known else None
    return Axis("size", logarithmic=True, limits=ends, names=names)


def _by_repetition(figures: Figures) -> Iterator[Panel]:
    for direction, size in _largest(figures).items():
        lines = [
            _line(name, colour, rows)
            for name, colour, one in _times(figures, size)
            if (rows := [
                (float(number), time_s, 0.0)
                for number, time_s in enumerate(one.samples, 1)
                if time_s is not None
            ])
        ]  # fmt: skip
        if any(line.x.size > 1 for line in lines):
            yield Panel(f"{direction.value}, {size_words(size.size_bytes)}", tuple(lines))


def _line(name: str, colour: str, rows: Sequence[tuple[float, float, float]]) -> Series:
    x, y, half = np.array(rows, dtype=np.float64).T
    return Series(name, colour, x, y, half=half)


def _count(figures: Figures) -> int:
    """Of repetitions."""
    return max((len(size.mptcp) for size in _largest(figures).values()), default=1)


def _limits(figures: Figures) -> tuple[float, float]:
    return 1 - _ROOM, _count(figures) + _ROOM


def _names(figures: Figures) -> tuple[tuple[float, str], ...]:
    """A few of them where there are many."""
    count = _count(figures)
    step = -(-count // 10)
    return tuple((float(number), str(number)) for number in range(1, count + 1, step))


def _longest_rtt(figures: Figures) -> float:
    every = (*figures.idle_rtts, *figures.loaded_rtts)
    return max((rtt for rtts in every for rtt in rtts), default=1.0)


def _distributions(figures: Figures) -> Iterator[Series]:
    of_paths = zip(_colours(figures), figures.idle_rtts, figures.loaded_rtts, strict=True)
    for (name, colour), idle, loaded in of_paths:
        for state, values, dashes in (("idle", idle, ()), ("loaded", loaded, _DASHES)):
            if values:
                x, share = distribution(np.array(values, dtype=np.float64))
                label = f"{name} {state} (n = {len(values)})"
                yield Series(label, colour, x, share, Kind.STEPS, dashes)

"""The plots of a sweep as they stand in its page: charts, and heat maps as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from mptcplab.campaign.along import BENEFITS, LOG_FROM, has, named, parts_of, places_of
from mptcplab.campaign.column import column_of, row_words, rows_of
from mptcplab.page.charts import Axis, Chart, Kind, Panel, Series, distribution
from mptcplab.report.charts import DASHES, colour_of
from mptcplab.report.numbers import heading, scale
from mptcplab.report.palette import Style, styles

if TYPE_CHECKING:
    from mptcplab.campaign.result import Sweep

FULL = 55
"""Per cent of a cell's colour at the end of the scale: text stays readable on it."""


@dataclass(frozen=True)
class Cell:
    """A value of a heat map."""

    words: str
    strength: int
    """Per cent of the colour of its side."""
    is_below: bool
    """On the side below zero, where the metric has two."""


@dataclass(frozen=True)
class HeatMap:
    """A metric over two axes, of one variant."""

    variant: str
    corner: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell | None, ...]], ...]


def curves(sweep: Sweep, metric: str, key: str) -> Chart:
    """A metric over the axis of `key`: a line a variant, a panel for each choice of other axes."""
    frame = sweep.frame(metric)
    own = next(axis for axis in sweep.every_axis if key in axis.keys)
    others = [one for axis in sweep.every_axis if axis is not own for one in axis.keys]
    values = list(dict.fromkeys(column_of(sweep.axes[key])))
    if len(values) < len(own.rows):
        others += [one for one in own.keys if one != key]
    places = dict(zip(values, places_of(values), strict=True))
    looks = styles(sweep.variants)
    panels = tuple(
        Panel(
            words,
            tuple(
                one
                for name, style in looks.items()
                if (one := _line(part.filter(variant=name), metric, key, places, name, style))
            ),
        )
        for words, part in parts_of(frame, others).items()
    )
    return Chart(_along(key, values, list(places.values())), _upward(metric), panels)


def distributions(sweep: Sweep, metric: str) -> Chart:
    """The part of the points at which a metric is at most a value, a line a variant."""
    frame = sweep.frame(metric)
    others = [key for axis in sweep.every_axis if not axis.is_drawn for key in axis.keys]
    panels = tuple(
        Panel(words, tuple(_steps(part, metric, styles(sweep.variants))))
        for words, part in parts_of(frame, others).items()
    )
    known = frame[metric].drop_nulls().to_numpy() * scale(metric)
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    axis = _upward(metric)
    is_wide = low > 0 and high / low > LOG_FROM
    across = Axis(axis.title, axis.unit, logarithmic=is_wide, from_zero=axis.from_zero)
    return Chart(across, Axis("part of the points", limits=(0.0, 1.0)), panels)


def heat_maps(sweep: Sweep, metric: str) -> list[HeatMap]:
    """A metric over two axes, a table for each variant that has it."""
    frame = sweep.frame(metric)
    down, across = (axis.keys for axis in sweep.every_axis)
    rows, columns = (rows_of(axis) for axis in sweep.every_axis)
    means = frame[metric].drop_nulls().to_numpy() * scale(metric)
    low, high = float(means.min()), float(means.max())
    if metric in BENEFITS:
        low, high = 0.0, max(abs(low), abs(high))
    found = []
    for variant in sweep.variants:
        if not has(frame, variant, metric):
            continue
        cells = {
            (tuple(row[key] for key in down), tuple(row[key] for key in across)): row[metric]
            for row in frame.filter(variant=variant).iter_rows(named=True)
        }
        told = tuple(
            (
                row_words(row),
                tuple(_cell(cells.get((row, column)), metric, low, high) for column in columns),
            )
            for row in rows
        )
        corner = f"{row_words(down)} by {row_words(across)}"
        found.append(HeatMap(variant, corner, tuple(map(row_words, columns)), told))
    return found


def _cell(value: float | None, metric: str, low: float, high: float) -> Cell | None:
    if value is None:
        return None
    scaled = value * scale(metric)
    share = (abs(scaled) if metric in BENEFITS else scaled) - low
    strength = round(FULL * share / (high - low)) if high > low else FULL // 2
    return Cell(f"{scaled:.3g}", strength, metric in BENEFITS and scaled < 0)


def _line(
    part: pl.DataFrame,
    metric: str,
    key: str,
    places: dict[Any, float],
    name: str,
    style: Style,
) -> Series | None:
    known = [row for row in part.iter_rows(named=True) if row[metric] is not None]
    known.sort(key=lambda row: places[row[key]])
    if not known:
        return None
    factor = scale(metric)
    half = [((row[f"{metric}_high"] or row[metric]) - row[metric]) * factor for row in known]
    return Series(
        name,
        colour_of(style),
        np.array([places[row[key]] for row in known], dtype=np.float64),
        np.array([row[metric] * factor for row in known], dtype=np.float64),
        dashes=DASHES[style.dashes],
        half=np.array(half, dtype=np.float64),
    )


def _steps(part: pl.DataFrame, metric: str, looks: dict[str, Style]) -> Iterator[Series]:
    for name, style in looks.items():
        values = part.filter(variant=name)[metric].drop_nulls().to_numpy()
        if values.size:
            x, share = distribution(values * scale(metric))
            yield Series(name, colour_of(style), x, share, Kind.STEPS, DASHES[style.dashes])


def _along(key: str, values: Sequence[Any], places: list[float]) -> Axis:
    low, high = min(places), max(places)
    is_wide = low > 0 and high / low >= LOG_FROM
    room = 0.03 * (high - low) or 0.5
    limits = (low / 1.1, high * 1.1) if is_wide else (low - room, high + room)
    ticks, names = named(values)
    told = tuple((places[tick], name) for tick, name in zip(ticks, names, strict=True))
    return Axis(key, logarithmic=is_wide, limits=limits, names=told)


def _upward(metric: str) -> Axis:
    title, unit = heading(metric)
    return Axis(title, unit, from_zero=metric not in BENEFITS)

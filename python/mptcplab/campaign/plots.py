"""Plots of a sweep: curves over an axis, heat maps over two, distributions over draws."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, NullLocator

from mptcplab.campaign.along import (
    BENEFITS,
    LOG_FROM,
    MOST_PANELS,
    has,
    label_of,
    named,
    parts_of,
    places_of,
)
from mptcplab.campaign.column import column_of, row_words, rows_of
from mptcplab.report.canvas import LOOK
from mptcplab.report.numbers import scale
from mptcplab.report.palette import Style, styles

if TYPE_CHECKING:
    from mptcplab.campaign.result import Sweep

Size = tuple[float, float]
PANEL_INCHES: Size = (4.4, 3.0)
PANELS_A_ROW = 3
_DPI = 110
_LEGEND_INCHES = 1.2


class SweepFigure(Figure):
    """A figure that a notebook shows without any setting of matplotlib's."""

    is_narrow = False
    """One panel wide, for the column of a paper: the legend stands above."""

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        self.savefig(file, format="png", dpi=_DPI)
        return file.getvalue()


class AxisError(ValueError):
    """A figure is over no axis of a sweep; the text names it and says which there are."""


def telling_figure(sweep: Sweep, metric: str, width_inches: float) -> Figure:
    """The plot of a metric that tells most of a sweep, so wide."""
    if any(axis.is_drawn for axis in sweep.every_axis):
        return distributions(sweep, metric, width_inches)
    longest = max(sweep.every_axis, key=lambda axis: len(axis.rows))
    return curves(sweep, metric, longest.keys[0], width_inches)


def figure_over(sweep: Sweep, metric: str, keys: Sequence[str], width_inches: float) -> Figure:
    """A metric over one axis as curves, or over both axes of a sweep of two as heat maps.

    Raises:
        AxisError: a key is not an axis with values of its own, or two are not all axes.

    """
    axes = [axis for axis in sweep.every_axis if not axis.is_drawn]
    known = [key for axis in axes for key in axis.keys]
    for key in keys:
        if key not in known:
            names = f"it has {', '.join(known)}" if known else "all of its axes are drawn"
            raise AxisError(f"'{key}': the sweep has no such axis: {names}")
    if len(keys) == 1:
        return curves(sweep, metric, keys[0], width_inches)
    chosen = {axis.keys for axis in axes if set(axis.keys) & set(keys)}
    if not len(keys) == len(chosen) == len(sweep.every_axis) == 2:
        raise AxisError(f"{' '.join(keys)}: a heat map is over both axes of a sweep of two")
    return heat_maps(sweep, metric, width_inches)


def curves(sweep: Sweep, metric: str, key: str, width_inches: float | None = None) -> Figure:
    """A metric over the axis of `key`: a line a variant, a panel for each choice of other axes."""
    frame = sweep.frame(metric)
    own = next(axis for axis in sweep.every_axis if key in axis.keys)
    others = [one for axis in sweep.every_axis if axis is not own for one in axis.keys]
    axis_values = list(dict.fromkeys(column_of(sweep.axes[key])))
    if len(axis_values) < len(own.rows):
        others += [one for one in own.keys if one != key]
    parts = parts_of(frame, others)
    with mpl.rc_context(LOOK):
        figure, every = panels(len(parts), width_inches)
        look = styles(sweep.variants)
        for axes, (title, part) in zip(every, parts.items(), strict=False):
            axes.set_title(title, fontsize=8)
            places = axis_of(axes, axis_values, key)
            by_value = dict(zip(axis_values, places, strict=True))
            for name, style in look.items():
                line(axes, part.filter(variant=name), metric, by_value, name, style)
        finish(figure, every, metric)
    return figure


def heat_maps(sweep: Sweep, metric: str, width_inches: float | None = None) -> Figure:
    """A metric over two axes, a panel for each variant that has it."""
    down, across = (axis.keys for axis in sweep.every_axis)
    frame = sweep.frame(metric)
    rows, columns = (rows_of(axis) for axis in sweep.every_axis)
    factor = scale(metric)
    known = [name for name in sweep.variants if has(frame, name, metric)]
    with mpl.rc_context(LOOK):
        figure, every = panels(len(known), width_inches)
        means = frame[metric].drop_nulls().to_numpy() * factor
        low, high = float(means.min()), float(means.max())
        image = None
        for axes, name in zip(every, known, strict=False):
            cells = np.full((len(rows), len(columns)), np.nan)
            for row in frame.filter(variant=name).iter_rows(named=True):
                if row[metric] is not None:
                    place = (
                        rows.index(tuple(row[key] for key in down)),
                        columns.index(tuple(row[key] for key in across)),
                    )
                    cells[place] = row[metric] * factor
            look = (
                {"cmap": "RdBu", "norm": _around_zero(low, high)}
                if metric in BENEFITS
                else {"cmap": "viridis", "vmin": low, "vmax": high}
            )
            image = axes.imshow(cells, origin="lower", aspect="auto", **look)
            _numbers(axes, cells, low, high, light_middle=metric in BENEFITS)
            axes.grid(visible=False)
            axes.set_title(name, fontsize=8)
            axes.set_xlabel(row_words(across))
            axes.set_xticks(*named([*map(row_words, columns)]), rotation=30, ha="right")
            axes.set_yticks(*named([*map(row_words, rows)]))
        every[0].set_ylabel(row_words(down))
        if image is not None:
            figure.colorbar(image, ax=figure.axes, label=label_of(metric))
    return figure


def distributions(sweep: Sweep, metric: str, width_inches: float | None = None) -> Figure:
    """The part of the points at which a metric is at most a value, a line a variant."""
    frame = sweep.frame(metric)
    others = [key for axis in sweep.every_axis if not axis.is_drawn for key in axis.keys]
    parts = parts_of(frame, others)
    with mpl.rc_context(LOOK):
        figure, every = panels(len(parts), width_inches)
        look = styles(sweep.variants)
        for axes, (title, part) in zip(every, parts.items(), strict=False):
            axes.set_title(title, fontsize=8)
            for name, style in look.items():
                _steps(axes, part.filter(variant=name)[metric], metric, name, style)
            _finish_steps(axes, frame[metric], metric)
        every[0].set_ylabel("part of the points")
        _legend(figure, every)
    return figure


def distributions_beside(
    sweeps: Mapping[str, pl.DataFrame],
    others: Sequence[str],
    metric: str,
    width_inches: float | None = None,
) -> Figure:
    """The distributions of sweeps over each other: a panel a variant, a line a sweep.

    Of each sweep by its name: a row a point and variant, with the metric; `others` are the keys
    each choice of which has panels of its own.
    """
    frame = next(iter(sweeps.values()))
    names = frame["variant"].unique(maintain_order=True).to_list()
    choices = list(parts_of(frame, others).items())[: max(1, MOST_PANELS // len(names))]
    known = pl.concat([one[metric] for one in sweeps.values()])
    with mpl.rc_context(LOOK):
        figure, every = panels(len(choices) * len(names), width_inches)
        wanted = [(words, part, name) for words, part in choices for name in names]
        for axes, (words, part, name) in zip(every, wanted, strict=False):
            axes.set_title(", ".join(filter(None, (name, words))), fontsize=8)
            for label, style in styles(sweeps).items():
                own = sweeps[label].filter(variant=name)
                if others:
                    own = own.join(part, on=list(others), how="semi", nulls_equal=True)
                _steps(axes, own[metric], metric, label, style)
            _finish_steps(axes, known, metric)
        every[0].set_ylabel("part of the points")
        _legend(figure, every)
    return figure


def _steps(axes: Axes, values: pl.Series, metric: str, label: str, style: Style) -> None:
    """Draws the part of the known values that are at most a value."""
    ordered = np.sort(values.drop_nulls().to_numpy()) * scale(metric)
    if len(ordered):
        share = np.arange(1, len(ordered) + 1) / len(ordered)
        axes.step(
            ordered, share, where="post", label=label, color=style.colour, linestyle=style.dashes
        )


def _finish_steps(axes: Axes, values: pl.Series, metric: str) -> None:
    """Sets the axes of a distribution up for the values of all panels."""
    known = values.drop_nulls()
    low, high = (float(end) if known.len() else 0.0 for end in (known.min(), known.max()))  # type: ignore[arg-type]
    if low > 0 and high / low > LOG_FROM:
        axes.set_xscale("log")
    if metric in BENEFITS:
        axes.axvline(0, color="#888888", linewidth=0.8)
        # Benefits have no end above 1; a few far beyond would hide the rest.
        most = float(known.quantile(0.99) or 0.0)
        axes.set_xlim(-1.05, max(1.05, 1.1 * most))
    axes.set_xlabel(label_of(metric))
    axes.set_ylim(0, 1)


def _around_zero(low: float, high: float) -> Any:
    most = max(abs(low), abs(high)) or 1.0
    return Normalize(-most, most)


def _numbers(axes: Axes, cells: Any, low: float, high: float, *, light_middle: bool) -> None:
    """Writes the value into each cell, where they are few enough to be read."""
    if cells.size > 80:
        return
    for (down, across), value in np.ndenumerate(cells):
        if np.isnan(value):
            continue
        share = (value - low) / (high - low) if high > low else 0.5
        if light_middle:
            most = max(abs(low), abs(high)) or 1.0
            dark = abs(value) / most > 0.6
        else:
            dark = share < 0.6
        colour = "white" if dark else "black"
        axes.text(across, down, f"{value:.3g}", ha="center", va="center", fontsize=6, color=colour)


def panels(count: int, width_inches: float | None) -> tuple[SweepFigure, list[Axes]]:
    """Panels side by side, or where a width is given one above the other in it."""
    if width_inches is None:
        across = min(count, PANELS_A_ROW) or 1
        down = -(-count // across) or 1
        size = (PANEL_INCHES[0] * across + _LEGEND_INCHES, PANEL_INCHES[1] * down)
    else:
        across, down = 1, count or 1
        size = (width_inches, 0.7 * width_inches * down)
    figure = SweepFigure(figsize=size, layout="constrained")
    figure.is_narrow = width_inches is not None
    every = list(figure.subplots(down, across, sharey=True, squeeze=False).flat)
    for axes in every[count:]:
        axes.set_visible(False)
    return figure, every


def axis_of(axes: Axes, values: Sequence[Any], key: str) -> list[float]:
    """Sets the axis of the values up, and gives where they stand on it."""
    places = places_of(values)
    axes.set_xlabel(key)
    if min(places) > 0 and max(places) / min(places) >= LOG_FROM:
        axes.set_xscale("log")
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.xaxis.set_minor_locator(NullLocator())
    ticks, names = named(values)
    axes.set_xticks([places[int(tick)] for tick in ticks], names, rotation=30, ha="right")
    return places


def line(
    axes: Axes,
    part: pl.DataFrame,
    metric: str,
    places: Mapping[Any, float],
    label: str,
    style: Style,
) -> None:
    """Draws the metric of these rows over the axis; `places` by the value."""
    key = axes.get_xlabel()
    factor = scale(metric)
    rows = [row for row in part.iter_rows(named=True) if row[metric] is not None]
    if not rows:
        return
    half = [((row[f"{metric}_high"] or row[metric]) - row[metric]) * factor for row in rows]
    axes.errorbar(
        [places[row[key]] for row in rows],
        [row[metric] * factor for row in rows],
        yerr=half if any(half) else None,
        label=label,
        color=style.colour,
        linestyle=style.dashes,
        marker=style.marker,
        markersize=4,
        capsize=3,
    )


def finish(figure: SweepFigure, every: Sequence[Axes], metric: str) -> None:
    """Names the axis of the metric, which begins at 0 where it can, and adds the legend."""
    from_zero = metric not in BENEFITS
    every[0].set_ylabel(label_of(metric))
    if from_zero and every[0].get_ylim()[0] >= -1e-9 - 0.1 * abs(every[0].get_ylim()[1]):
        every[0].set_ylim(bottom=0)
    _legend(figure, every)


def _legend(figure: SweepFigure, every: Sequence[Axes]) -> None:
    known: dict[str, Any] = {}
    for axes in every:
        handles, names = axes.get_legend_handles_labels()
        known |= dict(zip(names, handles, strict=True))
    if known and figure.is_narrow:
        figure.legend(known.values(), known.keys(), loc="outside upper center", ncols=3)
    elif known:
        figure.legend(known.values(), known.keys(), loc="outside right upper")

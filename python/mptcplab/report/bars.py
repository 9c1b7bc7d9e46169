"""A metric of the variants of one result, or of several over each other."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mptcplab.metrics import VariantMetrics
from mptcplab.page.charts import Numbers
from mptcplab.report.canvas import LOOK
from mptcplab.report.numbers import heading, scale
from mptcplab.report.palette import Style, styles

_CHARACTER_INCHES = 0.085
"""About the width of a character of a name, with what keeps it from the next one."""
_NAME_CHARACTERS = 24
"""A longer name is wrapped at its hyphens."""
_LEGEND_CHARACTER_INCHES = 0.065
_LEGEND_MARK_INCHES = 0.45
_SMALL = 7
_UNKNOWN = "no figure"
_BAR_INCHES = 0.24
_GROUP = 0.8
"""Part of a variant's place that its bars take."""


def bars(
    results: Mapping[str, Sequence[VariantMetrics]], metric: str, width_inches: float
) -> Figure:
    """A group of bars a variant, a bar a result (by its name), with 95 % intervals.

    The bars stand where the variants' names have room side by side, and lie where they have not.
    Variants without runs are left out; where one has no figure it says so.
    """
    every = [one for own in results.values() for one in own]
    names = list(dict.fromkeys(one.name for one in every if one.runs))
    longest = max(map(len, names), default=0)
    lie = _CHARACTER_INCHES * longest * len(names) > 0.8 * width_inches
    height = 0.7 * width_inches
    if lie:
        height = 0.7 + _BAR_INCHES * len(names) * max(1.3, len(results) / _GROUP)
    with mpl.rc_context(LOOK | {"axes.grid.axis": "x" if lie else "y"}):
        figure = Figure(figsize=(width_inches, height), layout="constrained")
        axes = figure.subplots()
        axes.set_axisbelow(True)
        wide = _GROUP / len(results)
        for place, (label, style) in enumerate(styles(results).items()):
            at = np.arange(len(names), dtype=np.float64)
            at += (place - (len(results) - 1) / 2) * wide
            _draw(axes, at, wide, _figures(results[label], names, metric), label, style, lie=lie)
        title, unit = heading(metric)
        told = f"{title} in {unit}" if unit else title
        ends = (-0.5, len(names) - 0.5)
        if lie:
            axes.set_yticks(
                range(len(names)), [textwrap.fill(one, _NAME_CHARACTERS) for one in names]
            )
            axes.set_ylim(*reversed(ends))
            axes.set_xlabel(told)
            axes.axvline(0, color="#555555", linewidth=0.6)
        else:
            axes.set_xticks(range(len(names)), names)
            axes.set_xlim(*ends)
            axes.set_ylabel(told)
            axes.axhline(0, color="#555555", linewidth=0.6)
        if len(results) > 1:
            _legend(figure, axes, results, width_inches)
    return figure


def _figures(own: Sequence[VariantMetrics], names: Sequence[str], metric: str) -> Numbers:
    """Mean and half the interval, a row each of these names; NaN where there is none."""
    factor = scale(metric)
    known = {one.name: one.metrics.get(metric) for one in own}
    rows = [
        (np.nan, np.nan)
        if (one := known.get(name)) is None or one.mean is None
        else (one.mean * factor, np.nan if one.half_width is None else one.half_width * factor)
        for name in names
    ]
    return np.array(rows, dtype=np.float64).reshape(-1, 2)


def _draw(
    axes: Axes, at: Numbers, wide: float, figures: Numbers, label: str, style: Style, *, lie: bool
) -> None:
    means, half = figures.T
    error = half if np.any(half > 0) else None
    look: dict[str, Any] = {
        "label": label,
        "color": style.colour,
        "capsize": 2,
        "error_kw": {"linewidth": 0.8},
    }
    if lie:
        axes.barh(at, means, wide, xerr=error, **look)
    else:
        axes.bar(at, means, wide, yerr=error, **look)
    for place in at[np.isnan(means)]:
        axes.annotate(
            _UNKNOWN,
            (0.0, place) if lie else (place, 0.0),
            xytext=(3, 0) if lie else (0, 3),
            textcoords="offset points",
            ha="left" if lie else "center",
            va="center" if lie else "bottom",
            rotation=0 if lie else 90,
            fontsize=_SMALL,
            color="#555555",
        )


def _legend(figure: Figure, axes: Axes, labels: Iterable[str], width_inches: float) -> None:
    """The results' names above the bars: two side by side where they have room, or wrapped."""
    room = width_inches - _LEGEND_MARK_INCHES
    longest = max(map(len, labels))
    two = 2 * _LEGEND_CHARACTER_INCHES * longest <= room - _LEGEND_MARK_INCHES
    most = int(room / _LEGEND_CHARACTER_INCHES)
    handles, own = axes.get_legend_handles_labels()
    figure.legend(
        handles,
        [textwrap.fill(label, most) for label in own],
        loc="outside upper center",
        ncols=2 if two else 1,
        fontsize=_SMALL,
    )

"""Pairs of bars as a figure of matplotlib."""

from collections.abc import Sequence

import matplotlib as mpl
from matplotlib.figure import Figure as Drawn

from mptcplab.report.canvas import LOOK, NARROW_INCHES, draw_legends, figure_of
from mptcplab.report.numbers import shown
from mptcplab.reproduction.bars import COLOURS, DOCUMENT, HERE, Bars, value_of
from mptcplab.reproduction.beside import Figure

_HEIGHT = 0.38


def draw_bars(content: Bars, width_inches: float) -> Drawn:
    """A pair of bars for each figure, one below the other."""
    found = content.found
    with mpl.rc_context(LOOK | {"axes.grid.axis": "x"}):
        figure = figure_of(0.9 + 0.42 * len(found), width_inches)
        axes = figure.subplots()
        if width_inches >= NARROW_INCHES:
            figure.subplots_adjust(left=0.32)
        places = [float(len(found) - number) for number in range(len(found))]
        if any(cell.theirs is not None for _, cell in found):
            _draw(axes, places, found, DOCUMENT, 0.5, "///")
        _draw(axes, places, found, HERE, -0.5, "")
        axes.set_yticks(places, [label for label, _ in found])
        draw_legends(figure, [axes])
    return figure


def _draw(
    axes: mpl.axes.Axes,
    places: list[float],
    found: Sequence[tuple[str, Figure]],
    name: str,
    side: float,
    hatch: str,
) -> None:
    colour = COLOURS[name]
    for place, (_, cell) in zip(places, found, strict=True):
        value = value_of(cell, name)
        if value is None:
            continue
        at = place + side * _HEIGHT
        drawn = axes.barh(at, value, _HEIGHT, color=colour, hatch=hatch, edgecolor="white")
        axes.bar_label(drawn, [shown(cell.metric, value)], padding=2, fontsize=7)
    axes.barh(places[0], 0, color=colour, hatch=hatch, edgecolor="white", label=name)

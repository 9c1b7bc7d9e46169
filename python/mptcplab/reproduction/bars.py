"""The figures of an item's table as bars: the document's and ours."""

from collections.abc import Sequence
from functools import partial

import matplotlib as mpl
from matplotlib.figure import Figure as Drawn

from mptcplab.report.canvas import (
    LOOK,
    NARROW_INCHES,
    Drawing,
    draw_legends,
    figure_of,
)
from mptcplab.report.numbers import shown
from mptcplab.reproduction.beside import Figure, ItemAccount

_HEIGHT = 0.38


def bars(account: ItemAccount) -> Drawing | None:
    """A pair of bars for each figure, one where the document gives none; null without figures.

    Figures of another metric than the first one's have no place on its axis.
    """
    every = [
        (_label(account, row, column), cell)
        for row in account.rows
        for column, cell in enumerate(row)
        if isinstance(cell, Figure) and cell.ours is not None and cell.ours.mean is not None
    ]
    if not every:
        return None
    found = [(label, cell) for label, cell in every if _kind(cell) == _kind(every[0][1])]
    return partial(_drawn, found)


def _drawn(found: Sequence[tuple[str, Figure]], width_inches: float) -> Drawn:
    with mpl.rc_context(LOOK | {"axes.grid.axis": "x"}):
        figure = figure_of(0.9 + 0.42 * len(found), width_inches)
        axes = figure.subplots()
        if width_inches >= NARROW_INCHES:
            figure.subplots_adjust(left=0.32)
        places = [float(len(found) - number) for number in range(len(found))]
        if any(cell.theirs is not None for _, cell in found):
            _draw(axes, places, found, "document", 0.5, "#999999", "///")
        _draw(axes, places, found, "here", -0.5, "#0072B2", "")
        axes.set_yticks(places, [label for label, _ in found])
        draw_legends(figure, [axes])
    return figure


def _draw(
    axes: mpl.axes.Axes,
    places: list[float],
    found: Sequence[tuple[str, Figure]],
    name: str,
    side: float,
    colour: str,
    hatch: str,
) -> None:
    for place, (_, cell) in zip(places, found, strict=True):
        value = cell.theirs if name == "document" else cell.ours.mean if cell.ours else None
        if value is None:
            continue
        drawn = axes.barh(
            place + side * _HEIGHT, value, _HEIGHT, color=colour, hatch=hatch, edgecolor="white"
        )
        axes.bar_label(drawn, [shown(cell.metric, value)], padding=2, fontsize=7)
    axes.barh(places[0], 0, color=colour, hatch=hatch, edgecolor="white", label=name)


def _kind(cell: Figure) -> str:
    return cell.metric.partition(".")[0]


def _label(account: ItemAccount, row: tuple[str | Figure, ...], column: int) -> str:
    words = [cell for cell in row if isinstance(cell, str)]
    several = sum(isinstance(cell, Figure) for cell in row) > 1
    return ", ".join([*words, *([account.item.columns[column]] if several else [])])

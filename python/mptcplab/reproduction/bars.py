"""The figures of an item's table as bars: the document's and ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mptcplab.page.categories import Part, bar_rows
from mptcplab.page.charts import Axis
from mptcplab.report.numbers import heading, scale, shown
from mptcplab.reproduction.beside import Figure, ItemAccount

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn

DOCUMENT, HERE = "document", "here"
COLOURS = {DOCUMENT: "#999999", HERE: "#0072B2"}


@dataclass(frozen=True)
class Bars:
    """A pair of bars for each figure, one where the document gives none."""

    found: Sequence[tuple[str, Figure]]

    def __call__(self, width_inches: float) -> Drawn:
        """The figure of matplotlib, which is slow to load."""
        from mptcplab.reproduction.bar_plots import draw_bars

        return draw_bars(self, width_inches)

    def rows(self) -> str:
        """The rows of bars of a page."""
        first = self.found[0][1]
        title, unit = heading(first.metric)
        return bar_rows(
            {
                label: [[part] for name in COLOURS if (part := _part(cell, name)) is not None]
                for label, cell in self.found
            },
            Axis(title, unit),
        )


def bars(account: ItemAccount) -> Bars | None:
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
    return Bars(found)


def value_of(cell: Figure, name: str) -> float | None:
    """The figure of a bar, of the document or ours; null if there is none."""
    return cell.theirs if name == DOCUMENT else cell.ours.mean if cell.ours else None


def _part(cell: Figure, name: str) -> Part | None:
    value = value_of(cell, name)
    if value is None:
        return None
    factor = scale(cell.metric)
    half = (cell.ours.half_width or 0.0) if name == HERE and cell.ours else 0.0
    words = f"{shown(cell.metric, value)} {name}"
    return Part(name, COLOURS[name], 0.0, value * factor, words, half * factor)


def _kind(cell: Figure) -> str:
    return cell.metric.partition(".")[0]


def _label(account: ItemAccount, row: tuple[str | Figure, ...], column: int) -> str:
    words = [cell for cell in row if isinstance(cell, str)]
    several = sum(isinstance(cell, Figure) for cell in row) > 1
    return ", ".join([*words, *([account.item.columns[column]] if several else [])])

"""Tables that are divided where a terminal is too narrow for all of their columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

_BOUNDLESS = 10_000
"""Columns of a terminal on which everything has room."""


@dataclass(frozen=True)
class Column:
    """A column and its cells, top to bottom."""

    title: str
    cells: Sequence[str]
    right: bool = True
    """Figures stand at the right."""


def divided(keys: Sequence[Column], columns: Sequence[Column], console: Console) -> Iterator[Table]:
    """Returns the columns in order, in parts that fit the width; each part has the keys."""
    boundless = console.options.update(width=_BOUNDLESS)
    part: list[Column] = []
    for column in columns:
        wider = _table([*keys, *part, column])
        if part and console.measure(wider, options=boundless).maximum > console.width:
            yield _table([*keys, *part])
            part = []
        part.append(column)
    yield _table([*keys, *part])


def spaced(tables: Iterable[Table]) -> Iterator[RenderableType]:
    """Returns the tables with an empty line above each."""
    return (Padding(table, (1, 0, 0, 0)) for table in tables)


def titled(title: str, tables: Iterable[Table]) -> Group:
    """Returns a table, or its parts, below a title and an empty line."""
    first, *others = tables
    return Group("", Text(title), first, *spaced(others))


def _table(columns: Sequence[Column]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 0, 0, 1))
    for column in columns:
        table.add_column(column.title, justify="right" if column.right else "left", no_wrap=True)
    for cells in zip(*(column.cells for column in columns), strict=True):
        # Texts: an address such as [2001:db8::1] must not be taken for markup.
        table.add_row(*(Text(cell) for cell in cells))
    return table


def columns(
    titles: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[str] = ()
) -> list[Column]:
    """Columns from rows of cells; those in `left` hold words."""
    return [
        Column(title, [row[place] for row in rows], title not in left)
        for place, title in enumerate(titles)
    ]

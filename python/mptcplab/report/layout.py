"""Tables for a terminal of any width, in which no figure is cut off."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeVar

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table

_Column = TypeVar("_Column")
_BOUNDLESS = 10_000
"""Columns of a terminal on which everything has room."""
_LONGEST_PIECE = 16
"""A longer piece of a head between dots, hyphens and blanks is broken."""
_PIECES = re.compile(r"[^.\-/ ]*[.\-/ ]?")


class Kind(Enum):
    """How a column may be changed where there is no room."""

    VALUE = "value"
    """It says what the figures are of: it stands in each of several tables, unbroken."""
    WORDS = "words"
    """As a value, but its cells break at blanks."""
    FIGURE = "figure"
    """Its cells are never broken; it may stand in a table below."""


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    head: str
    cells: Sequence[str]
    kind: Kind = Kind.FIGURE
    is_left: bool = False
    """Its cells stand at the left."""


def laid_out(columns: Sequence[Column], console: Console) -> Iterator[Table]:
    """The columns as one table, or as several below one another, as the console has room.

    Where they do not fit side by side, they stand closer, and heads are wrapped at their dots;
    where they still do not, the figures are dealt to several tables, each with the values; and
    where the values leave no room for a figure, they become one column that is wrapped.
    """
    whole = _table(columns)
    if fits_unbroken(console)(whole):
        yield whole
        return
    fits = _fits(console)
    narrow = [_with_narrow_head(column) for column in columns]
    keys = [column for column in narrow if column.kind is not Kind.FIGURE]
    figures = [column for column in narrow if column.kind is Kind.FIGURE]
    if any(not fits(_table([*keys, figure], 0)) for figure in figures):
        keys = [_joined([column for column in columns if column.kind is not Kind.FIGURE])]
    yield from parted(figures, lambda part: _table([*keys, *part], 0), fits)


def parted(
    columns: Iterable[_Column],
    draw: Callable[[Sequence[_Column]], Table],
    fits: Callable[[Table], bool],
) -> Iterator[Table]:
    """Tables of the columns in their order, each of as many as fit."""
    part: list[_Column] = []
    for column in columns:
        if part and not fits(draw([*part, column])):
            yield draw(part)
            part = []
        part.append(column)
    yield draw(part)


def fits_unbroken(console: Console) -> Callable[[Table], bool]:
    """Whether a table has room on the console with every cell on one line."""
    options = console.options.update(width=_BOUNDLESS)
    return lambda table: console.measure(table, options=options).maximum <= console.width


def _table(columns: Sequence[Column], padding: int = 1) -> Table:
    """A table with so many blanks at the left of each cell, beside those between columns."""
    made = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, padding))
    for column in columns:
        breaks, head = column.kind is Kind.WORDS, column.head.split("\n")
        made.add_column(
            escape(column.head),
            justify="left" if column.is_left else "right",
            no_wrap=not breaks,
            overflow="fold",
            min_width=None if breaks else max(map(cell_len, (*head, *column.cells))),
        )
    for row in zip(*(column.cells for column in columns), strict=True):
        made.add_row(*map(escape, row))
    return made


def _fits(console: Console) -> Callable[[Table], bool]:
    """Whether a table has room where words are broken at their blanks, and nothing else is."""
    options = console.options.update(width=_BOUNDLESS)
    return lambda table: console.measure(table, options=options).minimum <= console.width


def _with_narrow_head(column: Column) -> Column:
    """The column with its head in lines as short as its cells and the pieces of the head allow."""
    pieces = [
        found[start : start + _LONGEST_PIECE]
        for found in _PIECES.findall(column.head)
        for start in range(0, len(found), _LONGEST_PIECE)
    ]
    room = max(map(cell_len, (*column.cells, *(piece.rstrip() for piece in pieces))), default=0)
    lines = [""]
    for piece in pieces:
        if lines[-1] and cell_len(lines[-1] + piece.rstrip()) > room:
            lines.append("")
        lines[-1] += piece
    return replace(column, head="\n".join(line.rstrip() for line in lines))


def _joined(keys: Sequence[Column]) -> Column:
    """One column of all values, each with its name."""
    rows = zip(*(column.cells for column in keys), strict=True)
    cells = [
        ", ".join(f"{column.head} {cell}" for column, cell in zip(keys, row, strict=True))
        for row in rows
    ]
    return Column("values", cells, Kind.WORDS, is_left=True)

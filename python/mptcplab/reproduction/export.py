"""The tables and pictures of an item, by the names of the files in which others take them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import polars as pl

from mptcplab.report.contents import Drawing
from mptcplab.report.numbers import heading, scale
from mptcplab.reproduction.beside import Figure, ItemAccount
from mptcplab.reproduction.pictures import Picture

_TYPES: dict[str, type[pl.DataType]] = {
    "column": pl.String,
    "unit": pl.String,
    "document": pl.Float64,
    "at_most": pl.Boolean,
    "ours": pl.Float64,
    "ours_low": pl.Float64,
    "ours_high": pl.Float64,
    "mark": pl.String,
    "note": pl.String,
}


def tables(account: ItemAccount, pictures: Sequence[Picture]) -> Iterator[tuple[str, pl.DataFrame]]:
    """The table of an item, and its listings, a row a line."""
    table = table_of(account)
    if table is not None:
        yield _name(account), table
    for name, picture in _named(account, pictures):
        if picture.lines:
            yield name, pl.DataFrame({"line": picture.lines})


def drawings(account: ItemAccount, pictures: Sequence[Picture]) -> Iterator[tuple[str, Drawing]]:
    """The plots of an item."""
    for name, picture in _named(account, pictures):
        if picture.content is not None:
            yield name, picture.content


def _name(account: ItemAccount) -> str:
    return f"{account.item.kind}-{account.item.number}"


def _named(account: ItemAccount, pictures: Sequence[Picture]) -> Iterator[tuple[str, Picture]]:
    """The pictures, each by its item and kind; from the second of a kind on with a number."""
    seen: Counter[str] = Counter()
    for picture in pictures:
        seen[picture.kind] += 1
        number = f"-{seen[picture.kind]}" if seen[picture.kind] > 1 else ""
        yield f"{_name(account)}-{picture.kind}{number}", picture


def table_of(account: ItemAccount) -> pl.DataFrame | None:
    """A row a figure of the item's table; null where it has none.

    The document's columns without figures come first, as they name its rows. Then come the column
    in which the figure stands, the unit of both figures, the document's, whether it says that it is
    less, ours, its 95 % confidence interval, the mark and the note.
    """
    columns = account.item.columns
    have_figures = {
        at for row in account.rows for at, cell in enumerate(row) if isinstance(cell, Figure)
    }
    if not have_figures:
        return None
    naming = [at for at in range(len(columns)) if at not in have_figures]
    records = [
        {columns[at]: row[at] for at in naming} | {"column": columns[at]} | _record(cell)
        for row in account.rows
        for at, cell in enumerate(row)
        if isinstance(cell, Figure)
    ]
    return pl.DataFrame(records, {**{columns[at]: pl.String for at in naming}, **_TYPES})


def _record(cell: Figure) -> dict[str, object]:
    factor = scale(cell.metric)
    low, high = (None, None) if cell.ours is None or cell.ours.ci95 is None else cell.ours.ci95
    figures = {
        "document": cell.theirs,
        "ours": None if cell.ours is None else cell.ours.mean,
        "ours_low": low,
        "ours_high": high,
    }
    return {
        "unit": heading(cell.metric)[1],
        "at_most": cell.cell.at_most,
        **{name: None if one is None else factor * one for name, one in figures.items()},
        "mark": cell.mark.value,
        "note": cell.note,
    }

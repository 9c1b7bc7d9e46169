"""An account for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from mptcplab.reproduction.beside import Account, Figure, ItemAccount, Said
from mptcplab.reproduction.marks import RED, RULE, SIGNS, Mark
from mptcplab.reproduction.notes import notes, place, unexpected

_STYLES = {
    Mark.AGREES: "green",
    Mark.DIFFERS: "yellow",
    Mark.UNCHECKED: "yellow",
    **dict.fromkeys(RED, "bold red"),
}
_BOUNDLESS = 10_000
"""Columns of a terminal on which everything has room."""
_WORDS = ", ".join(f"{sign} {mark.value}" for mark, sign in SIGNS.items())


def to_terminal(account: Account, console: Console) -> None:
    """Prints the tables of an account, theirs and ours in each cell."""
    console.print(f"[bold]{escape(account.document.title)}[/bold]")
    console.print(Text(RULE))
    console.print(Text(f"In each cell: the document's figure, ours, and {_WORDS}."))
    for item in account.items:
        console.print(Group(*_parts(item, console)))
    console.print(Text(summary(account)))


def summary(account: Account) -> str:
    """How many figures and statements have each mark."""
    counts = account.counts()
    told = [f"{counts[mark]} {mark.value}" for mark in Mark if counts[mark]]
    return f"{account.document.name}: {', '.join(told) or 'nothing to compare'}"


def _parts(account: ItemAccount, console: Console) -> Iterable[RenderableType]:
    item, known = account.item, notes(account)
    yield ""
    yield Text(f"{item.name.capitalize()}. {item.caption}", style="bold")
    if item.note:
        yield Text(item.note)
    if account.rows:
        yield from (_table(account, known, part) for part in _divided(account, known, console))
    for said in account.says:
        yield _said(said, known)
    for line in unexpected(account):
        yield Text(f"{SIGNS[Mark.UNEXPECTED]} {line}", style=_STYLES[Mark.UNEXPECTED])
    for warning in account.warnings:
        yield Text(f"warning: {warning}", style="yellow")
    for number, note in enumerate(known, 1):
        yield Text(f"[{number}] {note}", style="dim")


def _divided(account: ItemAccount, known: list[str], console: Console) -> Iterable[list[int]]:
    """The columns, as many at a time as one table has room for; those that name a row in each."""
    columns = range(len(account.item.columns))
    names = [at for at in columns if not any(isinstance(row[at], Figure) for row in account.rows)]
    boundless = console.options.update(width=_BOUNDLESS)
    part = list(names)
    for column in (at for at in columns if at not in names):
        table = _table(account, known, sorted([*part, column]))
        is_wide = console.measure(table, options=boundless).maximum > console.width
        if is_wide and len(part) > len(names):
            yield part
            part = list(names)
        part = sorted([*part, column])
    yield part


def _table(account: ItemAccount, known: list[str], columns: Sequence[int]) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    for at in columns:
        table.add_column(account.item.columns[at])
    for row in account.rows:
        table.add_row(*(_cell(row[at], known) for at in columns))
    return table


def _cell(cell: str | Figure, known: list[str]) -> Text:
    if isinstance(cell, str):
        return Text(cell)
    words = f"{cell.theirs_shown}  {cell.ours_shown}  {SIGNS[cell.mark]}{place(cell.note, known)}"
    return Text(words, style=_STYLES.get(cell.mark, ""))


def _said(said: Said, known: list[str]) -> Text:
    sides = f" ({said.sides})" if said.sides else ""
    words = f"{SIGNS[said.mark]} {said.statement.text}{sides} {place(said.note, known)}".rstrip()
    return Text(words, style=_STYLES.get(said.mark, ""))

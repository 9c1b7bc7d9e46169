"""Tables and explanations of measured paths in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from mptcplab.measure.render import Table, Why


def print_tables(screen: Console, tables: Sequence[Table]) -> None:
    """Prints tables, one below the other."""
    from rich.table import Table as Drawn
    from rich.text import Text

    for table in tables:
        drawn = Drawn(
            title=Text(table.title), title_justify="left", box=None, caption=Text(table.note),
            caption_justify="left",
        )  # fmt: skip
        for number, name in enumerate(table.head):
            is_words = number in table.words
            drawn.add_column(Text(name), justify="left" if is_words else "right", overflow="fold")
        for row in table.rows:
            drawn.add_row(*map(Text, row))
        screen.print(drawn)
        screen.print()


def print_sentences(screen: Console, why: Why) -> None:
    """Prints an explanation but for its tables."""
    for sentence in why.sentences:
        screen.print(sentence, markup=False, highlight=False)
    for line in why.settings:
        screen.print(f"  {line}", markup=False, highlight=False)

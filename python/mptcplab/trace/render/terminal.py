"""The summary for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from mptcplab.trace import many_subflows, words
from mptcplab.trace.capture import Capture
from mptcplab.trace.figures import ENDS
from mptcplab.trace.glossary import explained
from mptcplab.trace.render.cells import (
    CARRIED,
    LIST,
    OPENED,
    WORDS,
    carried,
    directions,
    facts,
    handover_lines,
    in_list,
    largest_first,
    opened,
    range_words,
    read_lines,
)
from mptcplab.trace.render.grid import columns, divided, spaced, titled
from mptcplab.trace.views import View

if TYPE_CHECKING:
    from mptcplab.trace.pairs.pair import Pair

AT_LENGTH = 5
"""With more connections than this, they are listed in one table."""
LISTED = 20
"""Connections of this table."""


def to_terminal(
    view: View,
    console: Console,
    *,
    every: bool = False,
    statistics: bool = False,
    pair: Pair | None = None,
) -> None:
    """Prints what was read, and the connections: at length, or with many of them in one table.

    `every` leaves none out. `statistics` adds the tables of addresses, courses and round trips,
    `pair` what the captures of both ends tell together.
    """
    for line in reading(view.trace.capture):
        console.print(line)
    if view.span:
        console.print(Text(range_words(view)))
    if pair is not None:
        from mptcplab.trace.pairs.words import clock_lines

        for sentence in clock_lines(pair):
            console.print(Text(sentence))
    ordered = largest_first(view.connections)
    if ordered.is_empty():
        console.print(Text(_nothing(view)))
    elif ordered.height > AT_LENGTH:
        shown = ordered if every else ordered.head(LISTED)
        for table in connection_tables(view, shown, console):
            console.print(table)
        for line in _left_out(ordered.height, every=every):
            console.print(Text(line, style="dim"))
    else:
        for row in view.connections.iter_rows(named=True):
            told = _connection(view, row, console, every=every)
            console.print(Padding(Group(*told), (1, 0, 0, 0)))
            if statistics:
                from mptcplab.trace.render.terminal_statistics import statistics_tables

                console.print(Group(*statistics_tables(view, row["connection"], console)))
            if pair is not None:
                console.print(Group(*_both_ends(pair, row["connection"], console)))
        lines = list(explained(_titles(view, pair)))
        for line in ["", *lines] if lines else []:
            console.print(Text(line, style="dim"))


def _titles(view: View, pair: Pair | None) -> Iterable[str]:
    """Titles of the columns that are shown at length."""
    for row in view.connections.iter_rows(named=True):
        head, rows = directions(view, row)
        if rows:
            yield from (*head, *CARRIED)
        if pair is not None:
            from mptcplab.trace.pairs.words import pair_tables

            for _, head, _ in pair_tables(pair, row["connection"]):
                yield from head


def reading(capture: Capture) -> Iterable[RenderableType]:
    """Returns the files that were read, and their damage."""
    for line, warns in read_lines(capture):
        yield Text(line, style="bold yellow" if warns else "")


def _nothing(view: View) -> str:
    held = view.trace.connections.height
    if not held:
        return "No TCP connection in it."
    return f"None of the {held} connections is chosen."


def connection_tables(
    view: View, connections: pl.DataFrame, console: Console
) -> Iterable[RenderableType]:
    """Returns a row for each connection."""
    rows = [in_list(view, row) for row in connections.iter_rows(named=True)]
    parts = divided(columns([""], rows), columns(LIST, [row[1:] for row in rows], WORDS), console)
    return spaced(parts)


def _left_out(held: int, *, every: bool) -> Iterable[str]:
    if held > LISTED and not every:
        yield f"The {LISTED} largest; {held - LISTED} are left out: --all shows them."
    yield "--connection N shows one at length."


def _connection(
    view: View, row: Mapping[str, Any], console: Console, *, every: bool
) -> Iterable[RenderableType]:
    head = f"Connection {row['connection']}"
    yield Text.assemble((head, "bold"), f"  {words.protocol(row)}  {words.ends(row)}")
    for line in facts(view, row):
        yield Text(f"  {line}")
    yield from _directions(view, row, console)
    held = view.subflows.filter(connection=row["connection"])
    subflows = many_subflows.shown(held, every=every)
    yield from _opened(view, subflows, console)
    yield from _carried(subflows, console)
    yield from (Text(line) for line in many_subflows.notes(held, every=every))
    moved = list(handover_lines(view, row["connection"], every=every))
    yield from (Text(line) for line in (["", *moved] if moved else []))


def _directions(view: View, row: Mapping[str, Any], console: Console) -> Iterable[RenderableType]:
    head, rows = directions(view, row)
    if not rows:
        yield Text("  neither end sent data")
        return
    keys = columns(["from"], [cells[:1] for cells in rows], WORDS)
    yield from spaced(divided(keys, columns(head, [cells[1:] for cells in rows]), console))


def _opened(view: View, subflows: pl.DataFrame, console: Console) -> Iterable[RenderableType]:
    rows = [opened(view, row) for row in subflows.iter_rows(named=True)]
    numbers = [[str(subflow)] for subflow in subflows["subflow"]]
    return spaced(divided(columns(["subflow"], numbers), columns(OPENED, rows, WORDS), console))


def _carried(subflows: pl.DataFrame, console: Console) -> Iterable[RenderableType]:
    told = [
        (row, end)
        for row in subflows.iter_rows(named=True)
        for end in ENDS
        if row[f"{end}_payload_bytes"] or row[f"{end}_retransmissions"]
    ]
    if not told:
        return
    keys = [[str(row["subflow"]), end] for row, end in told]
    rows = [carried(row, end) for row, end in told]
    yield from spaced(
        divided(columns(["subflow", "from"], keys, WORDS), columns(CARRIED, rows), console)
    )


def _both_ends(pair: Pair, connection: int, console: Console) -> Iterable[RenderableType]:
    from mptcplab.trace.pairs.words import pair_tables

    for title, head, rows in pair_tables(pair, connection):
        keys = columns(head[:2], [row[:2] for row in rows], WORDS)
        yield titled(title, divided(keys, columns(head[2:], [row[2:] for row in rows]), console))

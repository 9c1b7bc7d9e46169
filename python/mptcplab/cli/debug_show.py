"""Answers of a session as text: short lines, for slow terminals too."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from mptcplab.cli.debug_commands import Answer, Lines, Table
from mptcplab.report.layout import Column, Kind, laid_out


def shown(answer: Answer, screen: Console) -> None:
    """Prints an answer."""
    if isinstance(answer, Table):
        if not answer.rows:
            screen.print(Text(f"{answer.name}: none"))
            return
        screen.print(*laid_out(_columns(answer), screen), sep="")
    elif isinstance(answer, Lines):
        for line in answer.lines:
            screen.print(Text(line), soft_wrap=True)
    else:
        screen.print(Text(str(answer)), soft_wrap=True)


def _columns(table: Table) -> list[Column]:
    names = table.columns or tuple(table.rows[0])
    return [_column(name, [row[name] for row in table.rows]) for name in names]


def _column(name: str, values: list[Any]) -> Column:
    cells = ["" if value is None else _cell(name, value) for value in values]
    is_text = any(isinstance(value, str) for value in values)
    kind = Kind.WORDS if name == "packet" else Kind.VALUE if is_text else Kind.FIGURE
    return Column(_head(name), cells, kind, is_left=is_text)


def _head(name: str) -> str:
    endings = ("_packets", "_interface", "_bytes") if name != "queued_bytes" else ()
    for ending in endings:
        name = name.removesuffix(ending)
    return name.replace("_ns", " ms").replace("_", " ")


def _cell(name: str, value: Any) -> str:
    if name.endswith("_ns"):
        return f"{value / 1e6:.3f}"
    return ", ".join(value) if isinstance(value, list) else str(value)

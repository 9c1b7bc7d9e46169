"""The report of a sweep for a terminal, for programs, and for a notebook."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table as Drawn
from rich.text import Text

from mptcplab.campaign.report import SweepReport, Table, sweep_report
from mptcplab.campaign.result import Sweep
from mptcplab.report.layout import Column, Kind, laid_out
from mptcplab.scenario.sweep import point

MOST_ROWS = 30
"""Points of a table on a terminal."""
MOST_FAILURES = 10
MOST_WARNINGS = 5


def to_terminal(report: SweepReport, console: Console) -> None:
    """Prints the tables of a sweep."""
    told = report.sweep.campaign.result.scenario
    title = f" — {escape(told.title)}" if told.title else ""
    console.print(f"[bold]{escape(told.name)}[/bold]{title}")
    for sentence in report.sentences:
        console.print(Text(sentence))
    for warning in report.warnings[:MOST_WARNINGS]:
        console.print(Text(f"Warning: {warning}", style="bold yellow"))
    for table in report.tables:
        console.print(Text(table.title))
        console.print(*drawn(table, console), sep="")
        if table.note:
            console.print(Text(f"  {table.note}"))
        if len(table.rows) > MOST_ROWS:
            console.print(Text(f"  … and {len(table.rows) - MOST_ROWS} more: --json has all"))
    for failure in report.failures[:MOST_FAILURES]:
        console.print(Text(f"Failed: {failure.words}: {failure.why}", style="bold red"))
        console.print(Padding(Text(failure.command), (0, 0, 0, 2)))
    if len(report.failures) > MOST_FAILURES:
        console.print(Text(f"… and {len(report.failures) - MOST_FAILURES} more: --json has all"))


def to_json(report: SweepReport) -> dict[str, Any]:
    """The sweep as an object of JSON; every key is described in `docs/json.md`."""
    sweep, told = report.sweep, report.sweep.campaign.result
    figures: dict[int, list[dict[str, Any]]] = {}
    if report.columns:
        for row in sweep.estimates(*report.columns).iter_rows(named=True):
            figures.setdefault(row["point"], []).append(
                {
                    "variant": row["variant"],
                    "metric": row["metric"],
                    "n": row["n"],
                    "mean": _number(row["mean"]),
                    "ci95": None if row["low"] is None else [row["low"], row["high"]],
                    "same": row["same"],
                }
            )
    return {
        "scenario": told.scenario.name,
        "engine": told.engine,
        "folder": str(sweep.folder),
        "title": told.scenario.title,
        "created": told.created,
        "command": list(told.command),
        "seed": told.seed,
        "repetitions": told.repetitions,
        "variants": list(sweep.variants),
        "axes": [
            {
                "keys": list(axis.keys),
                "drawn": axis.is_drawn,
                "values": None if axis.is_drawn else [list(row) for row in axis.rows],
                "count": len(axis.rows),
            }
            for axis in sweep.every_axis
        ],
        "runs": {"planned": sweep.grid.runs, "failed": len(report.failures)},
        "metrics": list(report.columns),
        "points": [
            {"values": point(sweep.every_axis, number), "figures": own}
            for number, own in figures.items()
        ],
        "failures": [
            {"run": one.run, "what": one.words, "why": one.why, "command": one.command}
            for one in report.failures
        ],
        "warnings": list(report.warnings),
    }


def to_notebook(sweep: Sweep) -> str:
    """The first table of a sweep, as HTML."""
    from mptcplab.report.notebook import paragraph, table

    report = sweep_report(sweep)
    parts = [paragraph(sentence) for sentence in report.sentences]
    for one in report.tables[:1]:
        hint = "; .frame(METRIC, ...) and .plot(METRIC) give others"
        parts += [paragraph(one.title + hint), table(one.head, one.rows)]
        parts += [paragraph(one.note)] if one.note else []
    return "".join([*parts, paragraph(str(sweep.folder))])


def drawn(table: Table, console: Console) -> Iterator[Drawn]:
    """The first rows of the table for a terminal, as one table or several below one another."""
    rows = table.rows[:MOST_ROWS]
    yield from laid_out(
        [
            Column(
                name,
                [row[place] for row in rows],
                Kind.VALUE if place < table.keys else Kind.FIGURE,
                is_left=name == "variant",
            )
            for place, name in enumerate(table.head)
        ],
        console,
    )


def _number(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None

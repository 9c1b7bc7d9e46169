"""The report for a terminal."""

from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mptcplab.metrics import Verdict
from mptcplab.report.engines import SideBySide, side_by_side
from mptcplab.report.model import COPIES_NOTE, Report
from mptcplab.report.numbers import (
    UNKNOWN,
    estimate_shown,
    estimate_with_unit,
    heading,
    number,
)

_BOUNDLESS = 10_000
"""Columns of a terminal on which everything has room."""


def to_terminal(reports: Sequence[Report], console: Console) -> None:
    """Prints the reports, and those of one scenario by two engines side by side."""
    for report in reports:
        console.print(Padding(Group(*_parts(report, console)), (1, 0, 0, 0)))
    for pair in side_by_side(reports):
        console.print(_side_by_side(pair))


def _parts(report: Report, console: Console) -> Iterable[RenderableType]:
    scenario = report.description.scenario
    title = f" — {escape(scenario.title)}" if scenario.title else ""
    yield f"[bold]{escape(scenario.name)}[/bold]{title}"
    for sentence in report.answer:
        yield Text(sentence)
    for warned in report.warnings:
        yield Text(f"Warning: {warned.variant}: {warned.sentence}", style="bold yellow")
    yield _variants(report, console)
    if any(len(variant.paths) > 1 for variant in report.variants):
        yield _paths(report)
    if len(report.clients) > 1:
        yield _clients(report)
    if report.references:
        yield _references(report)
    if report.verdicts:
        yield _verdicts(report.verdicts)


def _side_by_side(pair: SideBySide) -> Group:
    table = _table()
    table.add_column("metric")
    for engine in pair.engines:
        table.add_column(engine, justify="right")
    table.add_column("difference\n%", justify="right")
    for row in pair.told:
        apart = row.difference
        table.add_row(
            escape(row.variant),
            escape(row.metric),
            estimate_with_unit(row.metric, row.first),
            estimate_with_unit(row.metric, row.second),
            number(None if apart is None else 100 * apart),
        )
    title = f"[bold]{escape(pair.scenario)}[/bold] on both engines"
    return Group("", title, Text(pair.sentence), table)


def _table(first: str = "variant") -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column(first, no_wrap=True)
    return table


def _titled(title: str, table: Table) -> Group:
    """A table under its title; a title of the table's own would wrap at the table's width."""
    return Group(Text(title), table)


def _variants(report: Report, console: Console) -> Group:
    repetitions = max((len(variant.runs) for variant in report.variants), default=0)
    words = {0: "nothing was measured", 1: "one run each"}
    caption = words.get(repetitions, "means ± half the 95 % confidence interval")
    return Group(Text(caption), *(_figures(report, part) for part in _parted(report, console)))


def _parted(report: Report, console: Console) -> Iterable[list[str]]:
    """The metrics in their order, as many at a time as one table has room for."""
    boundless = console.options.update(width=_BOUNDLESS)
    part: list[str] = []
    for metric in report.columns:
        table = _figures(report, [*part, metric])
        if part and console.measure(table, options=boundless).maximum > console.width:
            yield part
            part = []
        part.append(metric)
    yield part


def _figures(report: Report, metrics: Sequence[str]) -> Table:
    table = _table()
    for metric in metrics:
        title, unit = heading(metric)
        table.add_column(f"{title}\n{unit}" if unit else title, justify="right")
    table.add_column("n", justify="right")
    for variant in report.variants:
        figures = [estimate_shown(metric, variant.metrics.get(metric)) for metric in metrics]
        table.add_row(escape(variant.name), *figures, str(len(variant.runs)))
    return table


def _paths(report: Report) -> Group:
    table = _table()
    metrics = ["goodput", *(["carried"] if report.has_copies else []), "share"]
    table.add_column("interface")
    table.add_column("goodput\nMbit/s", justify="right")
    if report.has_copies:
        table.add_column("carried\nMbit/s", justify="right")
    table.add_column("share\n%", justify="right")
    for variant in report.variants:
        for interface in dict.fromkeys(path.interface for path in variant.paths):
            names = [f"{metric}.{interface}" for metric in metrics]
            figures = [estimate_shown(name, variant.metrics.get(name)) for name in names]
            table.add_row(escape(variant.name), escape(interface), *figures)
    return _titled(f"by path. {COPIES_NOTE}" if report.has_copies else "by path", table)


def _clients(report: Report) -> Group:
    table = _table("client")
    for variant in report.variants:
        table.add_column(escape(variant.name), justify="right")
    for client in report.clients:
        metric = f"goodput.{client}"
        figures = [
            estimate_shown(metric, variant.metrics.get(metric)) for variant in report.variants
        ]
        table.add_row(escape(client), *figures)
    return _titled("goodput by client, Mbit/s", table)


def _references(report: Report) -> Group:
    table = _table()
    table.add_column("metric")
    table.add_column("document", justify="right")
    table.add_column("here", justify="right")
    if any(row.note for row in report.references):
        table.add_column("")
    for row in report.references:
        table.add_row(
            escape(row.variant),
            escape(row.metric),
            f"{number(row.theirs)} {escape(row.unit)}".rstrip(),
            estimate_with_unit(row.metric, row.ours),
            *([escape(row.note)] if any(r.note for r in report.references) else []),
        )
    return _titled("beside the document", table)


def _verdicts(verdicts: Iterable[Verdict]) -> Table:
    words = {
        True: Text("held", "green"),
        False: Text("not held", "bold red"),
        None: Text("undecided", "yellow"),
    }
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", no_wrap=True)
    table.add_column()
    table.add_column(style="dim")
    for verdict in verdicts:
        table.add_row(words[verdict.held], Text(verdict.text), Text(verdict_numbers(verdict)))
    return table


def verdict_numbers(verdict: Verdict) -> str:
    """Both sides of each comparison, or why there are none."""
    if verdict.reason is not None:
        return f"({verdict.reason})"
    sides = [f"{_side(side.left)} {side.sign} {_side(side.right)}" for side in verdict.sides]
    return f"({' and '.join(sides)})"


def _side(value: float | None) -> str:
    """Four significant digits, so that a close call can be seen."""
    return UNKNOWN if value is None else f"{value:.4g}".replace("-", "−")

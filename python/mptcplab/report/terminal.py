"""The report for a terminal."""

from collections.abc import Iterable

from rich import box
from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mptcplab.metrics import Verdict
from mptcplab.report.model import Report
from mptcplab.report.numbers import estimate_shown, estimate_with_unit, heading, number


def to_terminal(reports: Iterable[Report], console: Console) -> None:
    """Prints the reports."""
    for report in reports:
        console.print(Padding(Group(*_parts(report)), (1, 0, 0, 0)))


def _parts(report: Report) -> Iterable[RenderableType]:
    scenario = report.description.scenario
    title = f" — {escape(scenario.title)}" if scenario.title else ""
    yield f"[bold]{escape(scenario.name)}[/bold]{title}"
    for sentence in report.answer:
        yield Text(sentence)
    for warned in report.warnings:
        yield Text(f"Warning: {warned.variant}: {warned.sentence}", style="bold yellow")
    yield _variants(report)
    if any(len(variant.paths) > 1 for variant in report.variants):
        yield _paths(report)
    if len(report.clients) > 1:
        yield _clients(report)
    if report.references:
        yield _references(report)
    if report.verdicts:
        yield _verdicts(report.verdicts)


def _table(title: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="", box=box.SIMPLE_HEAD)
    table.add_column("variant", no_wrap=True)
    return table


def _variants(report: Report) -> Table:
    repetitions = max((len(variant.runs) for variant in report.variants), default=0)
    words = {0: "nothing was measured", 1: "one run each"}
    table = _table(words.get(repetitions, "means ± half the 95 % confidence interval"))
    for metric in report.columns:
        title, unit = heading(metric)
        table.add_column(f"{title}\n{unit}" if unit else title, justify="right")
    table.add_column("n", justify="right")
    for variant in report.variants:
        figures = [estimate_shown(metric, variant.metrics.get(metric)) for metric in report.columns]
        table.add_row(escape(variant.name), *figures, str(len(variant.runs)))
    return table


def _paths(report: Report) -> Table:
    table = _table("by path")
    table.add_column("interface")
    table.add_column("goodput\nMbit/s", justify="right")
    table.add_column("share\n%", justify="right")
    for variant in report.variants:
        for interface in dict.fromkeys(path.interface for path in variant.paths):
            goodput, share = f"goodput.{interface}", f"share.{interface}"
            table.add_row(
                escape(variant.name),
                escape(interface),
                estimate_shown(goodput, variant.metrics.get(goodput)),
                estimate_shown(share, variant.metrics.get(share)),
            )
    return table


def _clients(report: Report) -> Table:
    table = Table(title="goodput by client, Mbit/s", title_justify="left", title_style="")
    table.box = box.SIMPLE_HEAD
    table.add_column("client", no_wrap=True)
    for variant in report.variants:
        table.add_column(escape(variant.name), justify="right")
    for client in report.clients:
        metric = f"goodput.{client}"
        figures = [
            estimate_shown(metric, variant.metrics.get(metric)) for variant in report.variants
        ]
        table.add_row(escape(client), *figures)
    return table


def _references(report: Report) -> Table:
    table = _table("beside the document")
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
    return table


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
    sides = [f"{number(side.left)} {side.sign} {number(side.right)}" for side in verdict.sides]
    return f"({' and '.join(sides)})"

"""The report for a terminal."""

from collections.abc import Iterable, Sequence
from functools import partial

from rich import box
from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mptcplab.explanation.words import sentences
from mptcplab.metrics import Sides, VariantMetrics, Verdict
from mptcplab.report.engines import SideBySide, side_by_side
from mptcplab.report.flows import named, with_any
from mptcplab.report.layout import fits_unbroken, parted
from mptcplab.report.model import ReferenceRow, Report
from mptcplab.report.numbers import (
    UNKNOWN,
    estimate_shown,
    estimate_with_unit,
    heading,
    number,
    shown_with_unit,
)
from mptcplab.report.programs import PathAccount, ProgramAccount
from mptcplab.report.settings import beside_document, labels, unlike

MOST_SETTINGS = 6
"""Settings that are told of at the head of a report."""
PROGRAM_COLUMNS = (
    "sockets",
    "down, B",
    "up, B",
    "again, B",
    "least RTT, ms",
    "RTT, ms",
)
SHORT_NOTE = 12
"""Characters of a note that still stands beside its figure."""


def to_terminal(reports: Sequence[Report], console: Console) -> None:
    """Prints the reports, and those of one scenario by two engines side by side."""
    for report, label, (other, settings) in zip(
        reports, labels(reports), unlike(reports), strict=True
    ):
        lines = [_some(f"Unlike {other}", settings)] if settings else []
        parts = Group(*_parts(report, label, lines, console))
        console.print(Padding(parts, (1, 0, 0, 0)))
    for pair in side_by_side(reports):
        console.print(_side_by_side(pair))


def _parts(
    report: Report, label: str, notes: Iterable[str], console: Console
) -> Iterable[RenderableType]:
    title = report.description.scenario.title
    yield f"[bold]{escape(label)}[/bold]{f' — {escape(title)}' if title else ''}"
    if report.changes:
        yield Text(_some("Changed from the scenario", report.changes))
    for note in notes:
        yield Text(note)
    for sentence in report.answer:
        yield Text(sentence)
    for warned in report.warnings:
        yield Text(f"Warning: {warned.variant}: {warned.sentence}", style="bold yellow")
    yield _variants(report, console)
    if any(len(variant.paths) > 1 for variant in report.variants):
        yield _paths(report)
    if report.programs:
        yield _programs(report)
    if len(report.clients) > 1:
        yield _clients(report, console)
    for table in report.flows:
        yield _across(report, console, "flow", table.title, table.metrics)
    if report.streams:
        yield _streams(report, console)
    if report.references:
        yield _references(report)
    if report.verdicts:
        yield _verdicts(report)
    if report.why is not None:
        yield Text(
            "\n".join(
                ["", *sentences(report.why, is_one_of_many=report.description.repetitions > 1)]
            )
        )


def _some(title: str, settings: Sequence[str]) -> str:
    """As many settings as a reader takes in; the page has all."""
    more = len(settings) - MOST_SETTINGS
    shown = [*settings[:MOST_SETTINGS], *([f"and {more} more"] if more > 0 else [])]
    return f"{title}: {'; '.join(shown)}."


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


def _titled(title: str, *tables: Table) -> Group:
    """Tables under a title; a title of a table's own would wrap at the table's width."""
    return Group(Text(title), *tables)


def _variants(report: Report, console: Console) -> Group:
    repetitions = max((variant.sample_size for variant in report.variants), default=0)
    words = {0: "nothing was measured", 1: "one run each"}
    caption = words.get(repetitions, "means ± half the 95 % confidence interval")
    fits = fits_unbroken(console)
    return Group(Text(caption), *parted(report.columns, partial(_figures, report), fits))


def _figures(report: Report, metrics: Sequence[str]) -> Table:
    table = _table()
    for metric in metrics:
        title, unit = heading(metric)
        table.add_column(f"{title}\n{unit}" if unit else title, justify="right")
    table.add_column("n", justify="right")
    for variant in report.variants:
        figures = [estimate_shown(metric, variant.metrics.get(metric)) for metric in metrics]
        table.add_row(escape(variant.name), *figures, str(variant.sample_size))
    return table


def _paths(report: Report) -> Group:
    table = _table()
    metrics = ["goodput", *(["carried"] if report.carried_notes else []), "share"]
    table.add_column("interface")
    table.add_column("goodput\nMbit/s", justify="right")
    if report.carried_notes:
        table.add_column("carried\nMbit/s", justify="right")
    table.add_column("share\n%", justify="right")
    for variant in report.variants:
        for interface in dict.fromkeys(path.interface for path in variant.paths):
            names = [f"{metric}.{interface}" for metric in metrics]
            figures = [estimate_shown(name, variant.metrics.get(name)) for name in names]
            table.add_row(escape(variant.name), escape(interface), *figures)
    title = " ".join(["by path.", *report.carried_notes]) if report.carried_notes else "by path"
    return _titled(title, table)


def _programs(report: Report) -> Group:
    several = len({account.traffic for account in report.programs}) > 1
    table = _table()
    for title in [*(["command"] if several else []), "interface"]:
        table.add_column(title, no_wrap=True)
    for title in PROGRAM_COLUMNS:
        table.add_column(title.replace(", ", "\n"), justify="right", no_wrap=True)
    for account in report.programs:
        for path in account.paths:
            names = [account.variant, *([account.traffic] if several else []), path.interface]
            table.add_row(*map(escape, names), *path_figures(path))
    lines = [Text(sentence) for sentence in program_sentences(report.programs)]
    words = Text("commands, by the kernel's accounts of their sockets")
    return Group(words, table, *lines) if table.row_count else Group(*lines)


def program_sentences(programs: Sequence[ProgramAccount]) -> list[str]:
    """How each command ended, and where its output is."""
    return [
        f"{account.variant}: {account.command}: {account.ending}, connections: "
        f"{account.connections}, lines of output: {account.lines} (in the page, and in the table "
        "outputs)."
        for account in programs
    ]


def path_figures(path: PathAccount) -> list[str]:
    """The figures of the table of commands, as :data:`PROGRAM_COLUMNS` names them."""
    counts = (path.sockets, path.down_bytes, path.up_bytes, path.retransmitted_bytes)
    return [*(f"{count}" for count in counts), number(path.min_rtt_ms), number(path.rtt_ms)]


def _clients(report: Report, console: Console) -> Group:
    metrics = named("goodput", report.clients)
    return _across(report, console, "client", "goodput by client, Mbit/s", metrics)


def _streams(report: Report, console: Console) -> Group:
    metrics = named("stream_share", report.streams)
    return _across(report, console, "stream", "share of each stream, %", metrics)


def _across(
    report: Report, console: Console, what: str, title: str, metrics: Sequence[tuple[str, str]]
) -> Group:
    """Tables with a row for each name and its metric, and a column for each variant with any."""

    def draw(variants: Sequence[VariantMetrics]) -> Table:
        table = _table(what)
        for variant in variants:
            table.add_column(escape(variant.name), justify="right")
        for name, metric in metrics:
            figures = [estimate_shown(metric, variant.metrics.get(metric)) for variant in variants]
            table.add_row(escape(name), *figures)
        return table

    own = with_any(report.variants, metrics)
    return _titled(title, *parted(own, draw, fits_unbroken(console)))


def _references(report: Report) -> Group:
    """The document's figures beside ours; what does not fit beside them stands below."""
    notes = [row.note for row in report.references]
    long = _long_notes(report)
    table = _table()
    table.add_column("metric")
    table.add_column("document", justify="right")
    table.add_column("here", justify="right")
    if any(notes):
        table.add_column("")
    for row in report.references:
        beside = f"note {long.index(row.note) + 1}" if row.note in long else row.note
        table.add_row(
            escape(row.variant),
            escape(row.metric),
            escape(theirs(row)),
            estimate_with_unit(row.metric, row.ours),
            *([escape(beside)] if any(notes) else []),
        )
    below = _below(long)
    return Group(_titled(beside_document(report), table), *below, *([""] if below else []))


def _long_notes(report: Report) -> list[str]:
    """The notes about the document's figures that do not fit beside them, each once."""
    notes = (row.note for row in report.references)
    return list(dict.fromkeys(note for note in notes if len(note) > SHORT_NOTE))


def _below(notes: Sequence[str], first: int = 1) -> list[Text]:
    return [Text(f"note {place}: {note}") for place, note in enumerate(notes, first)]


def theirs(row: ReferenceRow) -> str:
    """The document's figure with its unit; one without a unit as the metric is shown."""
    if not row.unit:
        return shown_with_unit(row.metric, row.theirs)
    return f"{number(row.theirs)} {row.unit}"


def _verdicts(report: Report) -> Group:
    """The findings, and below them the notes that no figure of the document has had."""
    words = {
        True: Text("held", "green"),
        False: Text("not held", "bold red"),
        None: Text("undecided", "yellow"),
    }
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", no_wrap=True)
    table.add_column()
    table.add_column(style="dim")
    told = _long_notes(report)
    notes = list(dict.fromkeys([*told, *(one.note for one in report.verdicts if one.note)]))
    for verdict in report.verdicts:
        why = f" note {notes.index(verdict.note) + 1}" if verdict.note else ""
        numbers = Text(verdict_numbers(verdict) + why)
        table.add_row(words[verdict.held], Text(verdict.text), numbers)
    below = _below(notes[len(told) :], len(told) + 1)
    return Group(table, *([""] if below else []), *below)


def verdict_numbers(verdict: Verdict) -> str:
    """Both sides of each comparison, or why there are none."""
    if verdict.reason is not None:
        return f"({verdict.reason})"
    return f"({' and '.join(map(_comparison, verdict.sides))})"


def _comparison(sides: Sides) -> str:
    """`25.1 > 18.8`; of a false one: `11.84, not > 19.04`.

    With four significant digits, or with as many more as tell the sides apart.
    """
    left, right = (_side(sides.left, 4), _side(sides.right, 4))
    if left == right and sides.left != sides.right:
        left, right = _side(sides.left, 17), _side(sides.right, 17)
    sign = f", not {sides.sign}" if sides.held is False else f" {sides.sign}"
    return f"{left}{sign} {right}"


def _side(value: float | None, digits: int) -> str:
    return UNKNOWN if value is None else f"{value:.{digits}g}".replace("-", "−")

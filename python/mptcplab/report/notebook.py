"""Notebook views of results, recordings and scenarios: fragments of HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup, escape

from mptcplab.recording import Recording, RecordingError, Result
from mptcplab.recording.tables import TABLES
from mptcplab.report.model import Report, report
from mptcplab.report.numbers import estimate_shown, heading
from mptcplab.report.terminal import verdict_numbers
from mptcplab.scenario import Scenario
from mptcplab.scenario.topology.svg import draw_svg

_HELD = {True: "held", False: "not held", None: "undecided"}


def of_result(result: Result) -> str:
    """The report's answer and its table of variants."""
    try:
        found = report(result)
    except RecordingError as error:
        return str(paragraph(str(error)))
    told = found.description
    title = " — ".join(part for part in (told.scenario.name, told.scenario.title) if part)
    parts = [
        paragraph(Markup("<b>{}</b> ({} engine)").format(title, told.engine)),
        *([paragraph("Changed: " + "; ".join(found.changes))] if found.changes else []),
        *([paragraph(" ".join(found.answer))] if found.answer else []),
        *(paragraph(f"Warning: {one.variant}: {one.sentence}") for one in found.warnings),
        _variants(found),
        *([_findings(found)] if found.verdicts else []),
        paragraph(Markup("<small>{}</small>").format(str(result.folder))),
    ]
    return "".join(parts)


def of_recording(recording: Recording) -> str:
    """The run, and the tables with their numbers of rows."""
    run = recording.manifest
    words = f"variant {run.variant}, repetition {run.repetition}: {run.status}"
    parts = [
        paragraph(Markup("<b>{}</b> ({} engine) {}").format(run.scenario, run.engine, words)),
        *(paragraph(f"Warning: {warning}") for warning in run.warnings),
    ]
    rows = []
    for name, definition in TABLES.items():
        try:
            rows.append([name, f"{recording.frame(name).height}", definition.row])
        except RecordingError as error:
            rows.append([name, "–", str(error)])
    parts += [table(["table", "rows", "a row"], rows), paragraph(str(recording.folder))]
    return "".join(parts)


def of_scenario(scenario: Scenario) -> str:
    """The drawing of the network, and the variants."""
    title = " — ".join(part for part in (scenario.name, scenario.title) if part)
    rows = [[name, one.protocol, one.title] for name, one in scenario.variants.items()]
    parts = [
        paragraph(Markup("<b>{}</b>").format(title)),
        *([paragraph(scenario.description)] if scenario.description else []),
        Markup(draw_svg(scenario)),
        table(["variant", "protocol", ""], rows),
    ]
    return "".join(parts)


def paragraph(text: str) -> Markup:
    """A paragraph; the text is escaped unless it is markup."""
    return Markup("<p>{}</p>").format(text)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Markup:
    """A table whose first column is text, and the others figures or words."""
    names = Markup("").join(Markup("<th>{}</th>").format(_lines(name)) for name in head)
    lines = Markup("").join(
        Markup("<tr>{}</tr>").format(Markup("").join(map(_cell, row))) for row in rows
    )
    return Markup("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>").format(names, lines)


def _cell(text: str) -> Markup:
    side = "right" if text[:1] in "-−–0123456789" and text else "left"
    return Markup('<td style="text-align: {}">{}</td>').format(side, text)


def _lines(text: str) -> Markup:
    return Markup("<br>").join(escape(line) for line in text.split("\n"))


def _variants(found: Report) -> Markup:
    head = ["variant"]
    for metric in found.columns:
        title, unit = heading(metric)
        head.append(f"{title}\n{unit}" if unit else title)
    rows = [
        [
            variant.name,
            *(estimate_shown(metric, variant.metrics.get(metric)) for metric in found.columns),
            str(variant.sample_size),
        ]
        for variant in found.variants
    ]
    sizes = max((variant.sample_size for variant in found.variants), default=0)
    words = {0: "nothing was measured", 1: "one run each"}
    caption = words.get(sizes, "means ± half the 95 % confidence interval")
    return paragraph(caption) + table([*head, "n"], rows)


def _findings(found: Report) -> Markup:
    rows = [[_HELD[one.held], one.text, verdict_numbers(one), one.note] for one in found.verdicts]
    return table(["", "finding", "", ""], rows)

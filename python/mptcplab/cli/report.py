"""`report`: tables, pages and JSON from results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from mptcplab.cli.errors import FINDING_STATUS, UserError
from mptcplab.cli.output import console, json_text
from mptcplab.recording import RecordingError, open_results
from mptcplab.report import report

if TYPE_CHECKING:
    from mptcplab.report import Report


def report_results(
    folders: Sequence[Path], html: Path | None, *, fail: bool, as_json: bool
) -> None:
    """Reports on results that were recorded before."""
    try:
        reports = [report(result) for result in open_results(folders)]
    except RecordingError as error:
        raise UserError(str(error)) from error
    if html is not None:
        write_page(reports, html)
    print_reports(reports, as_json=as_json)
    if fail and not every_finding_holds(reports):
        raise typer.Exit(FINDING_STATUS)


def every_finding_holds(reports: Sequence[Report]) -> bool:
    """Whether no finding fails; undecided is no failure."""
    return not any(verdict.held is False for one in reports for verdict in one.verdicts)


def print_reports(reports: Sequence[Report], *, as_json: bool) -> None:
    """Prints tables, or one JSON object (a list of them for several results)."""
    if as_json:
        from mptcplab.report import side_by_side, to_json

        pairs = {id(pair.second): pair for pair in side_by_side(reports)}
        objects = [to_json(one, pairs.get(id(one))) for one in reports]
        shown = objects[0] if len(objects) == 1 else objects
        typer.echo(json_text(shown))
        return
    from mptcplab.report import to_terminal

    to_terminal(reports, console())


def write_page(reports: Sequence[Report], file: Path) -> None:
    """Writes one self-contained HTML page."""
    # Plotting is slow to load.
    from mptcplab.report import to_html

    try:
        file.write_text(to_html(reports), encoding="utf-8")
    except OSError as error:
        raise UserError(f"{file}: cannot be written: {error.strerror}") from error

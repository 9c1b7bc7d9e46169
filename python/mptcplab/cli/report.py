"""`report`: tables, pages and JSON from results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from mptcplab.cli.errors import UserError
from mptcplab.recording import RecordingError, open_results
from mptcplab.report import report, side_by_side, to_html, to_json, to_terminal

if TYPE_CHECKING:
    from mptcplab.report import Report


def report_results(folders: Sequence[Path], html: Path | None, *, as_json: bool) -> None:
    """Reports on results that were recorded before."""
    try:
        reports = [report(result) for result in open_results(folders)]
    except RecordingError as error:
        raise UserError(str(error)) from error
    if html is not None:
        write_page(reports, html)
    print_reports(reports, as_json=as_json)


def print_reports(reports: Sequence[Report], *, as_json: bool) -> None:
    """Prints tables, or one JSON object (a list of them for several results)."""
    if as_json:
        pairs = {id(pair.second): pair for pair in side_by_side(reports)}
        objects = [to_json(one, pairs.get(id(one))) for one in reports]
        shown = objects[0] if len(objects) == 1 else objects
        typer.echo(json.dumps(shown, indent=1, allow_nan=False))
        return
    from rich.console import Console

    to_terminal(reports, Console())


def write_page(reports: Sequence[Report], file: Path) -> None:
    """Writes one self-contained HTML page."""
    try:
        file.write_text(to_html(reports), encoding="utf-8")
    except OSError as error:
        raise UserError(f"{file}: cannot be written: {error.strerror}") from error

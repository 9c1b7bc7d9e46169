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
    from mptcplab.campaign.report import SweepReport
    from mptcplab.cli.export import Export
    from mptcplab.report import Report

SWEEP = "sweep.json"
"""The file by which a folder is a sweep; its module is slow to load."""


def report_results(
    folders: Sequence[Path],
    html: Path | None,
    export: Export | None = None,
    *,
    explain: bool = False,
    fail: bool,
    as_json: bool,
) -> None:
    """Reports on results that were recorded before."""
    if export is not None and export.figure is None:
        for option, given in (("--over", export.over), ("--plot", export.plot)):
            if given:
                raise UserError(f"{option} is of a figure: give --figure, too")
    if len(folders) == 1 and (folders[0] / SWEEP).is_file():
        if export is not None and export.plot:
            raise UserError("--plot is of a result: the figure of a sweep is --over its axes")
        if explain:
            raise UserError("--explain is of a result: a sweep's runs keep no samples")
        report_sweep(folders[0], html, export, as_json=as_json)
        return
    if export is not None and export.over:
        raise UserError("--over is of a sweep: results have no axes")
    if export is not None and export.plot and len(folders) > 1:
        raise UserError("--plot is of one result: give one RUN")
    try:
        results = open_results(folders)
        if explain:
            from mptcplab.cli.explain import explained

            for result in results:
                explained(result, is_quiet=as_json)
        reports = [report(result) for result in results]
    except RecordingError as error:
        raise UserError(str(error)) from error
    if html is not None:
        write_page(reports, html)
    if export is not None:
        from mptcplab.cli.export import export_results
        from mptcplab.report.settings import labels

        export_results(dict(zip(labels(reports), reports, strict=True)), export)
    print_reports(reports, as_json=as_json)
    if fail and not every_finding_holds(reports):
        raise typer.Exit(FINDING_STATUS)


def report_sweep(folder: Path, html: Path | None, export: Export | None, *, as_json: bool) -> None:
    """Reports on a sweep that was run before, of the metrics of the export where it has some."""
    from mptcplab.campaign.report import sweep_report
    from mptcplab.campaign.result import Sweep
    from mptcplab.cli.export import export_sweep, refuse_unknown

    metrics = () if export is None else export.metrics
    try:
        sweep = Sweep.open(folder)
        refuse_unknown(metrics, sweep.metrics())
        made = sweep_report(sweep, metrics)
        if html is not None:
            from mptcplab.campaign.html import to_html

            write_text(to_html(made), html)
        if export is not None:
            export_sweep(made, export)
        print_sweep(made, as_json=as_json)
    except RecordingError as error:
        raise UserError(str(error)) from error


def print_sweep(report: SweepReport, *, as_json: bool) -> None:
    """Prints the tables of a sweep, or one JSON object."""
    from mptcplab.campaign.show import to_json, to_terminal

    if as_json:
        typer.echo(json_text(to_json(report)))
    else:
        to_terminal(report, console())


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

    write_text(to_html(reports), file)


def write_text(text: str, file: Path) -> None:
    """Writes a file that the user named."""
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{file}: cannot be written: {error.strerror}") from error

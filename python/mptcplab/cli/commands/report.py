"""`report`: the options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mptcplab.cli.commands.common import (
    Explain,
    Fail,
    FigureFile,
    Json,
    Metrics,
    TableFile,
    Width,
    one_of,
    path,
)
from mptcplab.report.plot_names import PlotName
from mptcplab.shortage import ask


def report(
    runs: Annotated[
        list[Path], typer.Argument(parser=path, metavar="RUN...", help="Folders of results.")
    ],
    html: Annotated[
        Path | None,
        typer.Option("--html", parser=path, metavar="FILE", help="Write one page to this file."),
    ] = None,
    metric: Metrics = None,
    table: TableFile = None,
    figure: FigureFile = None,
    over: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH",
            help="Axis of a sweep that the figure is over; two for a heat map.",
        ),
    ] = None,
    plot: Annotated[
        PlotName | None,
        typer.Option(
            parser=one_of(PlotName),
            metavar="NAME",
            help="Plot of a result that the figure is: " + ", ".join(PlotName) + ".",
        ),
    ] = None,
    width: Width = "84mm",
    explain: Explain = False,
    fail: Fail = False,
    json: Json = False,
) -> None:
    """Report on results or on a sweep again, and write their tables and figures."""
    ask()
    from mptcplab.cli.report import report_results

    export = None
    if metric or over or plot is not None or table is not None or figure is not None:
        from mptcplab.cli.export import Export

        export = Export(table, figure, tuple(metric or ()), width, tuple(over or ()), plot)
    report_results(runs, html, export, explain=explain, fail=fail, as_json=json)

"""`report`: the options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mptcplab.cli.commands.common import Fail, Json, path
from mptcplab.shortage import ask


def report(
    runs: Annotated[
        list[Path], typer.Argument(parser=path, metavar="RUN...", help="Folders of results.")
    ],
    html: Annotated[
        Path | None,
        typer.Option("--html", parser=path, metavar="FILE", help="Write one page to this file."),
    ] = None,
    fail: Fail = False,
    json: Json = False,
) -> None:
    """Report on results again."""
    ask()
    from mptcplab.cli.report import report_results

    report_results(runs, html, fail=fail, as_json=json)

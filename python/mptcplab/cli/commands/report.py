"""`report`: the options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mptcplab.cli.commands.common import Json


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of results.")],
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write one page to this file.")
    ] = None,
    json: Json = False,
) -> None:
    """Report on results again."""
    from mptcplab.cli.report import report_results

    report_results(runs, html, as_json=json)

"""`compare`: the options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mptcplab.cli.commands.common import FigureFile, Json, Metrics, TableFile, Width, path
from mptcplab.shortage import ask


def compare(
    runs: Annotated[
        list[Path],
        typer.Argument(parser=path, metavar="RUN...", help="Folders of results, or of sweeps."),
    ],
    metric: Metrics = None,
    table: TableFile = None,
    figure: FigureFile = None,
    width: Width = "84mm",
    json: Json = False,
) -> None:
    """Put results, or sweeps, side by side with the first, with intervals of the difference."""
    ask()
    from mptcplab.cli.compare import compare_folders
    from mptcplab.cli.export import Export

    compare_folders(runs, Export(table, figure, tuple(metric or ()), width), as_json=json)

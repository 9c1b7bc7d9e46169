"""`rate-trace`: the options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mptcplab.cli.commands.common import path


def rate_trace(
    log: Annotated[
        Path, typer.Argument(metavar="LOG", parser=path, help="A table with a line a moment.")
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", parser=path, help="The trace to write.")
    ],
    time: Annotated[
        str, typer.Option(metavar="COLUMN", help="Of times: a name, or a number from 1.")
    ],
    rate: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Of rates, each until the next line.")
    ] = None,
    bytes_: Annotated[
        str | None,
        typer.Option("--bytes", metavar="COLUMN", help="Of bytes since the line before."),
    ] = None,
    time_unit: Annotated[
        str, typer.Option(metavar="s|ms|us", help="Of times that are no dates.")
    ] = "s",
    rate_unit: Annotated[
        str, typer.Option(metavar="bit/s|kbit/s|Mbit/s|B/s|kB/s|MB/s", help="Of rates.")
    ] = "kbit/s",
) -> None:
    """Make a rate trace for links from the bandwidth log of a real network."""
    from mptcplab.cli.errors import UserError
    from mptcplab.cli.rate_trace import write_trace
    from mptcplab.scenario.problem import did_you_mean
    from mptcplab.scenario.rate_log import RATE_UNITS, TIME_UNITS, Columns

    if (rate is None) == (bytes_ is None):
        raise UserError("give one of --rate and --bytes")
    for option, unit, known in (
        ("--time-unit", time_unit, TIME_UNITS),
        ("--rate-unit", rate_unit, RATE_UNITS),
    ):
        if unit not in known:
            raise UserError(f"{option} {unit}: {did_you_mean(unit, known)}")
    write_trace(log, out, Columns(time, rate, bytes_, time_unit, rate_unit))

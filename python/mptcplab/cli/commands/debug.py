"""`debug`: the options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mptcplab.cli.commands.common import Json, ScenarioName, path
from mptcplab.shortage import ask


def debug(
    scenario: ScenarioName,
    variant: Annotated[
        str | None,
        typer.Option(
            "--variant", metavar="NAME", help="Unless given the first over MPTCP, or the first."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all that is random.")] = 1,
    duration: Annotated[
        str | None, typer.Option(metavar="TIME", help="Duration of every bulk transfer: 10s.")
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="links.wifi.rate='20 Mbit/s', say."),
    ] = None,
    script: Annotated[
        Path | None,
        typer.Option(
            "--script", parser=path, metavar="FILE", help="Carry out the lines of a file, and end."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Stop a simulated run, step through it, look into it, and turn its time back."""
    ask()
    from mptcplab.cli.debug import debug_scenario

    debug_scenario(scenario, variant, seed, duration, overrides or [], script, as_json=json)

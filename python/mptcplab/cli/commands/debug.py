"""`debug`: the options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mptcplab.cli.commands.common import Json, path
from mptcplab.shortage import ask


def debug(
    scenario: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO|RESULT",
            help="Name in the catalogue, or a YAML file; or the folder of a result of the "
            "simulator in which something failed: a run or, where none did, a finding.",
        ),
    ],
    variant: Annotated[
        str | None,
        typer.Option(
            "--variant", metavar="NAME", help="Unless given the first over MPTCP, or the first."
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of all that is random; 1 unless given.")
    ] = None,
    duration: Annotated[
        str | None, typer.Option(metavar="TIME", help="Duration of every bulk transfer: 10s.")
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="links.wifi.rate='20 Mbit/s', say."),
    ] = None,
    at_finding: Annotated[
        int | None,
        typer.Option(
            "--at-finding",
            metavar="N",
            min=1,
            help="Of a RESULT: open at the moment of its finding N, from 1, which does not hold.",
        ),
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
    is_result = Path(scenario).is_dir()
    if is_result and (variant, seed, duration, overrides or None) != (None, None, None, None):
        raise typer.BadParameter(
            "a result says its variants, seeds and settings: take out --variant, --seed, "
            "--duration and --set, or debug the scenario"
        )
    if at_finding is not None and not is_result:
        raise typer.BadParameter("--at-finding is of a result: give its folder")
    ask()
    from mptcplab.cli.debug import debug_result, debug_scenario

    if is_result:
        debug_result(scenario, at_finding, script, as_json=json)
        return
    debug_scenario(
        scenario,
        variant,
        1 if seed is None else seed,
        duration,
        overrides or [],
        script,
        as_json=json,
    )

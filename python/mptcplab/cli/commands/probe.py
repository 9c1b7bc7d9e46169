"""`probe`: the options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mptcplab.cli.commands.common import Json, path


def probe(
    target: Annotated[
        str, typer.Argument(metavar="HOST", help="Where `mptcplab target` runs: HOST or HOST:PORT.")
    ],
    token: Annotated[
        str | None,
        typer.Option(metavar="TOKEN", help="The line that it prints; others see it in `ps`."),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(parser=path, metavar="FILE", help="A file whose first line is the token."),
    ] = None,
    budget: Annotated[
        str, typer.Option(metavar="SIZE", help="The data that it uses at most, both ways.")
    ] = "50 MB",
    sizes: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE,…", help="Of transfers: 100 kB,1 MB; as the budget allows unless given."
        ),
    ] = None,
    repeat: Annotated[
        int, typer.Option(metavar="N", min=1, max=100, help="Repetitions, for intervals.")
    ] = 3,
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, help="Of the order of each repetition.")
    ] = 0,
    leave_endpoints: Annotated[
        bool,
        typer.Option("--leave-endpoints", help="Add no endpoints, even where that is allowed."),
    ] = False,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="Say why, and what to change, by a simulation fitted to the paths."
        ),
    ] = False,
    html: Annotated[
        Path | None,
        typer.Option(parser=path, metavar="FILE", help="Write the result as a page, too."),
    ] = None,
    json: Json = False,
) -> None:
    """Measure whether MPTCP is worth it on this machine's paths to a target."""
    from mptcplab.cli.probe import Options, run_probe

    run_probe(
        Options(
            target=target,
            token=token,
            token_file=token_file,
            budget=budget,
            sizes=sizes,
            repeat=repeat,
            seed=seed,
            leave_endpoints=leave_endpoints,
            explain=explain,
            html=html,
        ),
        as_json=json,
    )

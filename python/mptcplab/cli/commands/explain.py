"""`explain`: the options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mptcplab.cli.commands.common import Json, path
from mptcplab.shortage import ask


def explain(
    run: Annotated[
        list[Path],
        typer.Argument(
            parser=path,
            metavar="RUN",
            help="Folder of a result, or of a recording; or captures that belong together, as of "
            "the interfaces of one host.",
        ),
    ],
    against: Annotated[
        str | None,
        typer.Option("--against", metavar="VARIANT", help="Tell this variant's goodput, too."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", min=1, help="Simulations at once; one a core unless given."),
    ] = None,
    no_remedies: Annotated[
        bool, typer.Option("--no-remedies", help="Find causes alone: try no remedies.")
    ] = False,
    account: Annotated[
        bool, typer.Option("--account", help="Tell where the time went alone: try nothing.")
    ] = False,
    prove: Annotated[
        bool,
        typer.Option(
            "--prove",
            help="Run the best two changes that a stock kernel can do on the kernel engine, in "
            "turn with none, five times each.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Tell why MPTCP was as slow as it was, and what helps: tried in the simulator."""
    if prove and (no_remedies or account):
        raise typer.BadParameter("--prove is of remedies: take out --no-remedies and --account")
    ask()
    if len(run) > 1 or run[0].is_file():
        folders = [str(one) for one in run if one.is_dir()]
        if folders:
            raise typer.BadParameter(f"{folders[0]} is a folder: give one RUN, or captures alone")
        if prove or against is not None:
            raise typer.BadParameter("--prove and --against are of results: take them out")
        from mptcplab.cli.explain_capture import explain_capture

        explain_capture(run, workers, fits=not account, remedies=not no_remedies, as_json=json)
        return
    from mptcplab.cli.explain import Asked, explain_folder

    explain_folder(
        run[0],
        Asked(against, workers, not no_remedies, not account, prove, json),
    )

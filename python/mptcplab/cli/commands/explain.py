"""`explain`: the options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mptcplab.cli.commands.common import Json, path
from mptcplab.shortage import ask


def explain(
    run: Annotated[
        Path,
        typer.Argument(
            parser=path,
            metavar="RUN",
            help="Folder of a result, or of a recording; or a capture, as by `trace --explain`.",
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
    if run.is_file():
        if prove or against is not None or account or no_remedies or workers is not None:
            raise typer.BadParameter("a capture is explained by its packets: only --json goes")
        from mptcplab.cli.commands.trace import trace

        trace([str(run)], explain=True, json=json)
        return
    from mptcplab.cli.explain import Asked, explain_folder

    explain_folder(
        run,
        Asked(against, workers, not no_remedies, not account, prove, json),
    )

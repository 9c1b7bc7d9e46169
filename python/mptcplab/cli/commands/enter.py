"""`enter`: the options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mptcplab.cli.commands.common import path


def enter(
    result: Annotated[
        Path, typer.Argument(parser=path, metavar="RUN", help="Folder of a running result.")
    ],
    node: Annotated[str, typer.Argument(metavar="NODE", help="A host or router of it.")],
    command: Annotated[
        list[str] | None, typer.Argument(metavar="[CMD]...", help="A shell unless given.")
    ] = None,
) -> None:
    """Open a shell, or run a command, inside a node of a run that goes on."""
    from mptcplab.cli.enter import enter_node

    enter_node(result, node, command or [])

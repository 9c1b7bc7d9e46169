"""`path-manager`: the options."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from mptcplab.cli.commands.common import Json, LeaveSetting


class PathsOption(StrEnum):
    """Which subflows a path manager opens."""

    NONE = "none"
    NDIFFPORTS = "ndiffports"
    FULLMESH = "fullmesh"
    HANDOVER = "handover"


def path_manager(
    paths: Annotated[
        PathsOption,
        typer.Argument(
            help="Subflows of connections opened here: several on one pair of addresses, one from "
            "each address to each of the peer's, or one over the first interface that works."
        ),
    ],
    subflows: Annotated[
        int | None,
        typer.Option(
            min=1, max=255, help="Of ndiffports, the initial one included; 2 unless given."
        ),
    ] = None,
    prefer: Annotated[
        list[str] | None,
        typer.Option(
            "--prefer",
            metavar="INTERFACE",
            help="Of handover, first to last; others come after these, as the kernel lists them.",
        ),
    ] = None,
    signal: Annotated[
        bool, typer.Option("--signal", help="Announce this host's other addresses.")
    ] = False,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Open again what has failed or closed.")
    ] = False,
    most: Annotated[
        int, typer.Option(min=1, max=255, help="The most subflows of a connection.")
    ] = 64,
    after: Annotated[
        list[str] | None,
        typer.Option(
            "--after",
            metavar="SIZE=SUBFLOWS",
            help="So many subflows only once a connection has carried this: 100kB=2; repeat.",
        ),
    ] = None,
    backup: Annotated[
        list[str] | None,
        typer.Option(
            "--backup", metavar="INTERFACE", help="Of fullmesh: its subflows are backups."
        ),
    ] = None,
    leave_setting: LeaveSetting = False,
    json: Json = False,
) -> None:
    """Open and close the subflows of this host's connections, until Ctrl-C."""
    from mptcplab.cli.path_manager import PathManagerOptions, manage_paths

    manage_paths(
        PathManagerOptions(
            kind=paths.value,
            subflows=subflows,
            prefer=tuple(prefer or ()),
            signal=signal,
            refresh=refresh,
            most=most,
            after=tuple(after or ()),
            backup=tuple(backup or ()),
            leave_setting=leave_setting,
            as_json=json,
        )
    )

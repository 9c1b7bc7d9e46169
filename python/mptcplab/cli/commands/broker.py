"""`broker`: the options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mptcplab.cli.commands.common import LeaveSetting, path


def broker(
    socket: Annotated[
        Path,
        typer.Option(
            parser=path, metavar="PATH", help="Where it listens, unless systemd passes a socket."
        ),
    ] = Path("/run/mptcplab/broker.sock"),
    policy: Annotated[
        Path | None,
        typer.Option(
            parser=path, metavar="FILE", help="Who may do what (YAML); your own user unless given."
        ),
    ] = None,
    mode: Annotated[
        str, typer.Option(metavar="MODE", help="Permissions of the socket; the policy decides.")
    ] = "0666",
    user: Annotated[
        str | None, typer.Option(metavar="NAME", help="Become this user; started as root.")
    ] = None,
    leave_setting: LeaveSetting = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Do not log what is done.")] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Also log what clients gave up by hanging up.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Check the options and the policy, and end.")
    ] = False,
) -> None:
    """Open, close and steer subflows for programs without privilege, each for its own."""
    from mptcplab.cli.broker import BrokerOptions, run_broker

    run_broker(
        BrokerOptions(
            socket=socket,
            mode=mode,
            policy=policy,
            user=user,
            leave_setting=leave_setting,
            quiet=quiet,
            debug=debug,
            check=check,
        )
    )

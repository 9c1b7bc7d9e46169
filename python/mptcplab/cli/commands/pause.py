"""`pause`, `resume`, `step-packet`, `queues`, `sockets`: the options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mptcplab.cli.commands.common import Json, path

RunningResult = Annotated[
    Path,
    typer.Argument(
        parser=path, metavar="RUN", help="Folder of a running result, or of one of its recordings."
    ),
]


def pause(result: RunningResult) -> None:
    """Pause a run on the kernel: its clock, links and programs stand still."""
    from mptcplab.cli.pause import pause_run

    pause_run(result)


def resume(result: RunningResult) -> None:
    """Let a paused run go on."""
    from mptcplab.cli.pause import resume_run

    resume_run(result)


def step_packet(
    result: RunningResult,
    packets: Annotated[
        int, typer.Argument(metavar="[N]", min=1, max=100_000, help="So many; one unless given.")
    ] = 1,
    json: Json = False,
) -> None:
    """Let the next packet of a paused run come out of its link."""
    from mptcplab.cli.pause import step_packets

    step_packets(result, packets, as_json=json)


def queues(result: RunningResult, json: Json = False) -> None:
    """Show the packets in the links of a paused run, decoded."""
    from mptcplab.cli.pause import show_queues

    show_queues(result, as_json=json)


def sockets(
    result: RunningResult,
    node: Annotated[
        str | None, typer.Argument(metavar="[NODE]", help="Of this host alone.")
    ] = None,
) -> None:
    """Show the TCP and MPTCP sockets of a running run's hosts."""
    from mptcplab.cli.pause import show_sockets

    show_sockets(result, node)


def add_pause_commands(app: typer.Typer) -> None:
    """Adds the commands."""
    for command in (pause, resume, queues, sockets):
        app.command(command.__name__)(command)
    app.command("step-packet")(step_packet)

"""`trace`: the options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mptcplab.cli.commands.common import Json, path
from mptcplab.shortage import ask


def trace(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE...",
            help="Captures that belong together (- is standard input), or a folder of captures, "
            "of a recording, or of tables.",
        ),
    ] = None,
    interfaces: Annotated[
        str | None,
        typer.Option(
            "--interface",
            metavar="NAME,...",
            help="Capture these interfaces until Ctrl-C, into the file of --write, and show their "
            "connections meanwhile.",
        ),
    ] = None,
    peer: Annotated[
        list[str] | None,
        typer.Option("--peer", metavar="FILE", help="Capture of the other end; repeat for more."),
    ] = None,
    clock: Annotated[
        str | None,
        typer.Option(
            "--clock",
            metavar="CLOCK",
            help="With --peer: same (one clock made both captures) or other (find out how they "
            "differ). Unless given: same for captures of one recording.",
        ),
    ] = None,
    matching: Annotated[
        str | None,
        typer.Option("--filter", metavar="EXPR", help="'mptcp and bytes > 1 MB', say."),
    ] = None,
    connections: Annotated[
        str | None, typer.Option("--connection", metavar="N,...", help="Connections by number.")
    ] = None,
    from_time: Annotated[
        str | None,
        typer.Option("--from", metavar="TIME", help="After the first packet: 2s, '500 ms'."),
    ] = None,
    to_time: Annotated[
        str | None, typer.Option("--to", metavar="TIME", help="After the first packet.")
    ] = None,
    events: Annotated[
        bool, typer.Option("--events", help="Print the protocol's story line by line.")
    ] = False,
    packets: Annotated[
        bool,
        typer.Option(
            "--packets", help="List the packets, a line each, with numbers and options in words."
        ),
    ] = False,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Tell where the time of each connection and subflow went, why it had a single "
            "path, and what packets cannot tell.",
        ),
    ] = False,
    statistics: Annotated[
        bool,
        typer.Option(
            "--statistics", help="Packets by address, and figures over time and sequence."
        ),
    ] = False,
    write: Annotated[
        Path | None,
        typer.Option(
            "--write",
            parser=path,
            metavar="FILE.pcapng",
            help="Write the packets of the chosen connections as a capture, and tell the display "
            "filter of Wireshark that chooses them.",
        ),
    ] = None,
    subflows: Annotated[
        str | None, typer.Option("--subflow", metavar="N,...", help="With --write: only these.")
    ] = None,
    follow: Annotated[
        str | None,
        typer.Option(
            "--follow",
            metavar="END",
            help="Print the data that the client, or the server, of one connection sent.",
        ),
    ] = None,
    graphs: Annotated[
        Path | None,
        typer.Option(
            "--graphs",
            parser=path,
            metavar="DIR",
            help="Write sequence numbers, round trips and data in flight over time as CSV and for "
            "xplot.",
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="List every connection.")] = False,
    tables: Annotated[
        Path | None,
        typer.Option(
            "--tables", parser=path, metavar="DIR", help="Keep the tables here, packets included."
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", parser=path, metavar="FILE", help="Write one page to this file."),
    ] = None,
    checksums: Annotated[
        bool, typer.Option("--checksums", help="Verify the data checksums of MPTCP.")
    ] = False,
    workers: Annotated[
        int | None, typer.Option(min=1, max=1024, help="Cores to use; all of them unless given.")
    ] = None,
    json: Json = False,
) -> None:
    """Tell what each connection in captures did, and each of its subflows."""
    ask()
    from mptcplab.cli.trace import trace_captures
    from mptcplab.cli.trace_options import TraceOptions

    trace_captures(
        TraceOptions(
            files=tuple(files or ()),
            interfaces=interfaces,
            peer=tuple(peer or ()),
            matching=matching,
            connections=connections,
            from_time=from_time,
            to_time=to_time,
            tables=tables,
            html=html,
            events=events,
            list_packets=packets,
            explain=explain,
            statistics=statistics,
            write=write,
            subflows=subflows,
            follow=follow,
            graphs=graphs,
            every=every,
            checksums=checksums,
            workers=workers,
            as_json=json,
            clock=clock,
        )
    )

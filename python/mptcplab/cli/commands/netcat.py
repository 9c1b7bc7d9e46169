"""`nc`: the options."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class PolicyOption(StrEnum):
    """What becomes of the subflows of netcat."""

    ONCE = "once"
    PIVOT = "pivot"


def netcat_command(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="HOST PORT...", help="Ports of a scan may be ranges: 20-30."),
    ] = None,
    listen: Annotated[
        bool, typer.Option("-l", help="Listen at PORT, on every address unless HOST is one.")
    ] = False,
    port: Annotated[
        str | None, typer.Option("-p", metavar="PORT", help="Listen at, or connect from, it.")
    ] = None,
    ipv4: Annotated[bool, typer.Option("-4", help="IPv4 only.")] = False,
    ipv6: Annotated[bool, typer.Option("-6", help="IPv6 only.")] = False,
    tcp: Annotated[bool, typer.Option("--tcp", help="TCP instead of MPTCP.")] = False,
    udp: Annotated[bool, typer.Option("-u", help="UDP.")] = False,
    keep: Annotated[bool, typer.Option("-k", help="With -l: listen again after a client.")] = False,
    scan: Annotated[
        bool, typer.Option("-z", help="Connect, say which ports are open, send nothing.")
    ] = False,
    wait: Annotated[
        float | None,
        typer.Option("-w", metavar="SECONDS", help="Longest time to connect, and without data."),
    ] = None,
    verbose: Annotated[bool, typer.Option("-v", help="Tell on stderr what happens.")] = False,
    half_close: Annotated[
        bool, typer.Option("-N", help="At the end of input, tell the peer so (half-close).")
    ] = False,
    quit_after: Annotated[
        float | None,
        typer.Option("-q", metavar="SECONDS", help="-N, and so long to go on then; -1: no end."),
    ] = None,
    no_input: Annotated[bool, typer.Option("-d", help="Do not read standard input.")] = False,
    numeric: Annotated[bool, typer.Option("-n", help="Look up no names of hosts.")] = False,
    source: Annotated[
        str | None, typer.Option("-s", metavar="ADDRESS", help="Connect from, or listen at, it.")
    ] = None,
    every: Annotated[
        bool, typer.Option("-a", help="A subflow from every other address with its own route.")
    ] = False,
    wifi: Annotated[
        bool, typer.Option("-W", help="A subflow from what the configuration calls wifi.")
    ] = False,
    cellular: Annotated[
        bool, typer.Option("-C", help="A subflow from what the configuration calls cellular.")
    ] = False,
    interfaces: Annotated[
        list[str] | None,
        typer.Option("-I", metavar="IFACE", help="A subflow over this interface; repeat for more."),
    ] = None,
    backups: Annotated[
        list[str] | None,
        typer.Option("--backup", metavar="IFACE", help="The same, used if no other works."),
    ] = None,
    policy: Annotated[
        PolicyOption,
        typer.Option(help="Open them once; pivot: follow them as they come and go."),
    ] = PolicyOption.ONCE,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Instead of ~/.config/mptcplab/nc.yaml."),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print the account on stderr as JSON.")
    ] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json-file", metavar="FILE", help="Write it to this file.")
    ] = None,
) -> None:
    """Netcat over MPTCP: standard input and output at the ends of a connection."""
    from mptcplab.cli.netcat import NetcatOptions, netcat
    from mptcplab.cli.netcat_paths import PathOptions, Policy

    netcat(
        NetcatOptions(
            words=tuple(words or ()),
            listen=listen,
            port=port,
            ipv4=ipv4,
            ipv6=ipv6,
            tcp=tcp,
            udp=udp,
            keep=keep,
            scan=scan,
            wait=wait,
            verbose=verbose,
            half_close=half_close,
            quit_after=quit_after,
            no_input=no_input,
            numeric=numeric,
            source=source,
            paths=PathOptions(
                every=every,
                wifi=wifi,
                cellular=cellular,
                interfaces=tuple(interfaces or ()),
                backups=tuple(backups or ()),
                policy=Policy(policy.value),
                config=config,
            ),
            as_json=json,
            json_file=json_file,
        )
    )

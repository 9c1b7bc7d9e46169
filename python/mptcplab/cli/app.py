"""The commands, their options and their help. What they do is loaded when they are called."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mptcplab.cli.cc import cc

app = typer.Typer(
    name="mptcplab",
    help="A laboratory for Multipath TCP: describe an experiment, run it, see the answer.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

ScenarioName = Annotated[
    str, typer.Argument(metavar="SCENARIO", help="A name of the catalogue, or a YAML file.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
LeaveSetting = Annotated[
    bool, typer.Option("--leave-setting", help="Leave net.mptcp.path_manager as it is.")
]


class PolicyOption(StrEnum):
    """What becomes of the subflows of netcat."""

    ONCE = "once"
    PIVOT = "pivot"


class EngineOption(StrEnum):
    """Where a scenario runs."""

    AUTO = "auto"
    KERNEL = "kernel"
    SIM = "sim"
    BOTH = "both"


@app.command("list")
def list_command(
    pattern: Annotated[str, typer.Argument(help="Part of a name, or a pattern with *.")] = "*",
    json: Json = False,
) -> None:
    """List the catalogue of scenarios."""
    from mptcplab.cli.scenarios import list_scenarios

    list_scenarios(pattern, as_json=json)


@app.command()
def show(
    scenario: ScenarioName,
    svg: Annotated[
        Path | None, typer.Option("--svg", help="Write the drawing to this SVG file.")
    ] = None,
    json: Json = False,
) -> None:
    """Draw a scenario's network and tell what it runs."""
    from mptcplab.cli.scenarios import show_scenario

    show_scenario(scenario, svg, as_json=json)


@app.command()
def check(
    files: Annotated[list[str], typer.Argument(metavar="SCENARIO...")], json: Json = False
) -> None:
    """Check scenarios and name every mistake with its line and its mend."""
    from mptcplab.cli.scenarios import check_scenarios

    check_scenarios(files, as_json=json)


@app.command()
def run(
    scenarios: Annotated[list[str], typer.Argument(metavar="SCENARIO...")],
    engine: Annotated[
        EngineOption,
        typer.Option(
            help="The real stack, virtual time, both side by side; auto: the real one if it can."
        ),
    ] = EngineOption.AUTO,
    variant: Annotated[
        list[str] | None,
        typer.Option("--variant", metavar="NAME", help="Run this variant only; repeat for more."),
    ] = None,
    repeat: Annotated[
        int | None, typer.Option(min=1, max=1000, help="Repetitions of each variant.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all that is random.")] = 1,
    duration: Annotated[
        str | None, typer.Option(metavar="TIME", help="Duration of every bulk transfer: 10s.")
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="links.wifi.rate='20 Mbit/s', say."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, max=1024, help="Simulated runs at once; one a core unless given."),
    ] = None,
    capture: Annotated[
        bool, typer.Option("--capture", help="Write a pcapng file of each host's interface.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the result; must be new.")
    ] = None,
    json: Json = False,
) -> None:
    """Run scenarios, every variant and repetition, and report."""
    from mptcplab.cli.run import RunOptions, run_scenarios
    from mptcplab.engine.choice import EngineName

    run_scenarios(
        RunOptions(
            scenarios=tuple(scenarios),
            engine=EngineName(engine.value),
            workers=workers,
            variants=tuple(variant or ()),
            repetitions=repeat,
            seed=seed,
            duration=duration,
            overrides=tuple(overrides or ()),
            capture=capture,
            out=out,
            as_json=json,
        )
    )


@app.command()
def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of results.")],
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write one page to this file.")
    ] = None,
    json: Json = False,
) -> None:
    """Report on results again."""
    from mptcplab.cli.report import report_results

    report_results(runs, html, as_json=json)


@app.command()
def trace(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Captures that belong together (- is standard input), or a folder of tables.",
        ),
    ],
    peer: Annotated[
        list[str] | None,
        typer.Option("--peer", metavar="FILE", help="Capture of the other end; repeat for more."),
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
    statistics: Annotated[
        bool,
        typer.Option(
            "--statistics", help="Packets by address, and figures over time and sequence."
        ),
    ] = False,
    every: Annotated[bool, typer.Option("--all", help="List every connection.")] = False,
    tables: Annotated[
        Path | None,
        typer.Option("--tables", metavar="DIR", help="Keep the tables here, packets included."),
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write one page to this file.")
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
    from mptcplab.cli.trace import TraceOptions, trace_captures

    trace_captures(
        TraceOptions(
            files=tuple(files),
            peer=tuple(peer or ()),
            matching=matching,
            connections=connections,
            from_time=from_time,
            to_time=to_time,
            tables=tables,
            html=html,
            events=events,
            statistics=statistics,
            every=every,
            checksums=checksums,
            workers=workers,
            as_json=json,
        )
    )


@app.command()
def doctor(json: Json = False) -> None:
    """Tell what this machine and kernel can do, and what to do about the rest."""
    from mptcplab.cli.doctor import examine

    examine(as_json=json)


app.add_typer(cc, name="cc")


class PathsOption(StrEnum):
    """Which subflows a path manager opens."""

    NONE = "none"
    NDIFFPORTS = "ndiffports"
    FULLMESH = "fullmesh"
    HANDOVER = "handover"


@app.command("path-manager")
def path_manager(
    paths: Annotated[
        PathsOption,
        typer.Argument(
            help="Subflows of connections opened here: several on one pair of addresses, one from "
            "each address to each of the peer's, or one over the first interface that works."
        ),
    ],
    subflows: Annotated[
        int, typer.Option(min=1, max=255, help="Of ndiffports, the initial one included.")
    ] = 2,
    prefer: Annotated[
        list[str] | None,
        typer.Option("--prefer", metavar="INTERFACE", help="Of handover, first to last."),
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
        typer.Option("--backup", metavar="INTERFACE", help="Its subflows are backups."),
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


@app.command()
def broker(
    socket: Annotated[
        Path, typer.Option(metavar="PATH", help="Where it listens, unless systemd passes a socket.")
    ] = Path("/run/mptcplab/broker.sock"),
    policy: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Who may do what (YAML); your own user unless given."),
    ] = None,
    mode: Annotated[
        str, typer.Option(metavar="MODE", help="Permissions of the socket; the policy decides.")
    ] = "0666",
    user: Annotated[
        str | None, typer.Option(metavar="NAME", help="Become this user; started as root.")
    ] = None,
    leave_setting: LeaveSetting = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Do not log what is done.")] = False,
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
            check=check,
        )
    )


@app.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
def enter(
    result: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a running result.")],
    node: Annotated[str, typer.Argument(metavar="NODE", help="A host or router of it.")],
    command: Annotated[
        list[str] | None, typer.Argument(metavar="[CMD]...", help="A shell unless given.")
    ] = None,
) -> None:
    """Open a shell, or run a command, inside a node of a run that goes on."""
    from mptcplab.cli.enter import enter_node

    enter_node(result, node, command or [])


@app.command("nc")
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
    source: Annotated[
        str | None, typer.Option("-s", metavar="ADDRESS", help="Connect from this address.")
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


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        from mptcplab import __version__

        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Run the command line; a user's mistake ends in one clear message and exit status 1."""
    from mptcplab.cli.errors import UserError

    try:
        app()
    except UserError as error:
        typer.echo(str(error), err=True)
        sys.exit(1)
    except BrokenPipeError:
        # The reader of the output has gone (`mptcplab list | head`): nobody is left to tell.
        sys.stderr.close()
        sys.exit(1)

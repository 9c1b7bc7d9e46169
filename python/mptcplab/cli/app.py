"""The command line: its commands, in the order of the help."""

from __future__ import annotations

import copy
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from mptcplab.cli.commands.compare import compare
from mptcplab.cli.commands.controller import controller
from mptcplab.cli.commands.debug import debug
from mptcplab.cli.commands.description import completion, man
from mptcplab.cli.commands.doctor import doctor
from mptcplab.cli.commands.enter import enter
from mptcplab.cli.commands.explain import explain
from mptcplab.cli.commands.host import add_host_commands
from mptcplab.cli.commands.pause import add_pause_commands
from mptcplab.cli.commands.probe import probe
from mptcplab.cli.commands.rate_trace import rate_trace
from mptcplab.cli.commands.report import report
from mptcplab.cli.commands.reproduce import reproduce
from mptcplab.cli.commands.run import run
from mptcplab.cli.commands.scenarios import (
    check,
    list_command,
    new,
    schema,
    show,
)
from mptcplab.cli.commands.server import server
from mptcplab.cli.commands.sweep import sweep
from mptcplab.cli.commands.trace import trace

app = typer.Typer(
    name="mptcplab",
    help="A laboratory for Multipath TCP: describe an experiment, run it, see the answer.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("list")(list_command)
app.command("show")(show)
app.command("check")(check)
app.command("new")(new)
app.command("schema")(schema)
app.command("rate-trace")(rate_trace)
app.command("run")(run)
app.command("sweep")(sweep)
app.command("report")(report)
app.command("compare")(compare)
app.command("explain")(explain)
app.command("debug")(debug)
app.command("reproduce")(reproduce)
app.command("trace")(trace)
app.command("controller")(controller)
app.command("probe")(probe)
app.command("doctor")(doctor)
app.command(
    "enter", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}
)(enter)
add_pause_commands(app)
add_host_commands(app)
app.add_typer(server, name="server")
app.command("completion")(completion)
app.command("man", hidden=True)(man)


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
    from mptcplab.cli.ending import ended_well
    from mptcplab.cli.output import make_safe

    make_safe()
    with ended_well():
        needed(sys.argv[1:])()


def needed(arguments: Sequence[str]) -> typer.Typer:
    """The command line; of its commands the one that is asked for, as making all takes long."""
    first = arguments[0] if arguments else None
    commands = [one for one in app.registered_commands if one.name == first]
    groups = [one for one in app.registered_groups if one.name == first]
    if not commands and not groups:
        return app
    alone = copy.copy(app)
    alone.registered_commands, alone.registered_groups = commands, groups
    return alone

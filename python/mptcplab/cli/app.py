"""The command line: its commands, in the order of the help."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from mptcplab.cli.cc import cc
from mptcplab.cli.commands.broker import broker
from mptcplab.cli.commands.doctor import doctor
from mptcplab.cli.commands.enter import enter
from mptcplab.cli.commands.netcat import netcat_command
from mptcplab.cli.commands.path_manager import path_manager
from mptcplab.cli.commands.report import report
from mptcplab.cli.commands.run import run
from mptcplab.cli.commands.scenarios import check, list_command, show
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
app.command()(show)
app.command()(check)
app.command()(run)
app.command()(report)
app.command()(trace)
app.command()(doctor)
app.add_typer(cc, name="cc")
app.command("path-manager")(path_manager)
app.command()(broker)
app.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})(
    enter
)
app.command("nc")(netcat_command)


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

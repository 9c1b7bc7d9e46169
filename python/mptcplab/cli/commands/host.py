"""Commands of `mptcplab-host`: what is left of them here is their line in the help."""

from __future__ import annotations

import typer

from mptcplab.cli.host_program import COMMANDS, NOT_INSTALLED, hand_over

_TAKES_ALL = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}


def add_host_commands(app: typer.Typer) -> None:
    """Adds each; the program itself has taken over before, where it is installed."""
    for name, line in COMMANDS.items():
        app.command(name, help=line, context_settings=_TAKES_ALL)(_without_program)


def _without_program(context: typer.Context) -> None:
    """Reached where the program is not installed, or its command is not the first argument."""
    from mptcplab.cli.errors import UserError

    hand_over([str(context.info_name), *context.args])
    raise UserError(NOT_INSTALLED)

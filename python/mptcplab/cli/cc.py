"""`cc`: the coupled congestion controls of this machine's kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from mptcplab.cli.commands.common import Json

cc = typer.Typer(
    help="Load the coupled congestion controls lia, olia, balia and wvegas into the kernel.",
    no_args_is_help=True,
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="lia, olia, balia or wvegas.")]

_WORDS = {
    "absent": "not loaded; runs that ask for it load it themselves",
    "loaded": "loaded, until `mptcplab cc unload {name}`",
    "held": "loaded by a run that is under way",
    "present": "there, loaded by others",
}


@cc.command("load")
def load_command(name: Name) -> None:
    """Load one for all of the machine, until it is unloaded or the machine stops."""
    from mptcplab import _native

    _ask(_native.load_congestion_control, name)


@cc.command("unload")
def unload_command(name: Name) -> None:
    """Unload one; connections that have it keep it."""
    from mptcplab import _native

    _ask(_native.unload_congestion_control, name)


@cc.command("list")
def list_command(json: Json = False) -> None:
    """List them, and whether they are loaded."""
    from json import dumps

    from mptcplab import _native

    found = _native.congestion_controls()
    if json:
        rows = [{"name": name, "state": state} for name, state in found]
        typer.echo(dumps(rows, indent=1))
        return
    for name, state in found:
        typer.echo(f"{name:6}  {_WORDS[state].format(name=name)}")


def _ask(change: Callable[[str], None], name: str) -> None:
    from mptcplab._native import BpfError
    from mptcplab.cli.errors import UserError
    from mptcplab.engine.kernel.coupled import COUPLED

    if name not in COUPLED:
        raise UserError(f"no coupled congestion control '{name}': {', '.join(COUPLED)}")
    try:
        change(name)
    except BpfError as error:
        raise UserError(str(error)) from error

"""`completion` and `man`: the options."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mptcplab.cli.commands.common import one_of, path


class Shell(StrEnum):
    """A shell that completes commands."""

    BASH = "bash"
    ELVISH = "elvish"
    FISH = "fish"
    POWERSHELL = "powershell"
    ZSH = "zsh"


def completion(
    shell: Annotated[
        Shell, typer.Argument(parser=one_of(Shell), metavar="SHELL", help=", ".join(Shell) + ".")
    ],
) -> None:
    """Print the script that completes these commands and options in a shell."""
    from mptcplab.cli.app import app
    from mptcplab.cli.description import print_completion

    print_completion(app, shell)


def man(
    folder: Annotated[
        Path, typer.Argument(parser=path, metavar="DIR", help="Folder to write the pages into.")
    ],
) -> None:
    """Write the pages of the manual."""
    from mptcplab.cli.app import app
    from mptcplab.cli.description import write_manual

    write_manual(app, folder)

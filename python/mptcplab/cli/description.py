"""`completion` and `man`: the table of commands as scripts for shells and pages of a manual.

The host program makes both, of this program as of itself.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import asdict
from pathlib import Path

import typer

from mptcplab.cli.command_table import table
from mptcplab.cli.errors import UserError
from mptcplab.cli.host_program import NOT_INSTALLED, VERSION, environment, find_program
from mptcplab.shortage import shortage_of


def print_completion(app: typer.Typer, shell: str) -> None:
    """Prints the script that completes commands and options in this shell."""
    typer.echo(_described(app, ["completion", shell]), nl=False)


def write_manual(app: typer.Typer, folder: Path) -> None:
    """Writes a page of the manual for the program and for each command into the folder."""
    _described(app, ["man", str(folder)])


def _described(app: typer.Typer, words: list[str]) -> str:
    path = find_program()
    if path is None:
        raise UserError(NOT_INSTALLED)
    program, commands = table(app)
    told = asdict(program) | {
        "name": "mptcplab",
        "version": VERSION,
        "commands": [asdict(command) for command in commands],
    }
    try:
        made = subprocess.run(
            [path, *words, "--laboratory"],
            input=json.dumps(told),
            capture_output=True,
            env=environment(),
            text=True,
            check=False,
        )
    except OSError as error:
        if shortage_of(error) is not None:
            raise
        # A file that cannot be started is told as one that is not there.
        raise UserError(NOT_INSTALLED) from None
    if made.returncode:
        raise UserError(made.stderr.strip())
    return made.stdout

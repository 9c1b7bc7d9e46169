"""Commands that take results and the whole database out of a server's folder, and back."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import typer

from mptcplab.cli.errors import UserError
from mptcplab.cli.server_manage import opened
from mptcplab.server.backup import BackupError, back_up, restore
from mptcplab.server.export import ExportError, export
from mptcplab.server.state import State, StateError, default_folder


def export_results(folder: Path | None, target: Path, kind: str, *, addresses: bool) -> None:
    """Writes the summary of each result, and a table of figures."""
    with opened(folder) as connection:
        try:
            count = export(connection, target, kind, addresses=addresses)
        except ExportError as error:
            raise UserError(str(error)) from None
    typer.echo(f"{target}: {count} result{'' if count == 1 else 's'}")


def back_up_database(folder: Path | None, file: Path) -> None:
    """Writes the database as it is now to a file."""
    with opened(folder) as connection:
        try:
            back_up(connection, file)
        except BackupError as error:
            raise UserError(str(error)) from None
    typer.echo(f"{file}: written; it holds the tokens of targets")


def restore_database(folder: Path | None, file: Path) -> None:
    """Replaces the database by that of a file; the server must not run."""
    state = State(folder or default_folder())
    try:
        restore(state, file)
    except (StateError, BackupError, sqlite3.Error) as error:
        raise UserError(str(error)) from None
    typer.echo(f"{state.database}: restored from {file}")

"""Commands that take results and the whole database out of a server's folder, and back."""

from __future__ import annotations

import sqlite3
import sys
from dataclasses import dataclass
from pathlib import Path

import typer

from mptcplab.cli.errors import UserError
from mptcplab.cli.interruption import INTERRUPTED_STATUS, Interruption
from mptcplab.cli.server_manage import agent_id, opened
from mptcplab.server.backup import BackupError, back_up, restore
from mptcplab.server.export import ExportError, export
from mptcplab.server.plan_file import parse_time
from mptcplab.server.state import State, StateError, default_folder
from mptcplab.server.store.database import Connection
from mptcplab.server.wanted import Wanted


def export_results(
    folder: Path | None, target: Path, kind: str, chosen: Chosen, *, addresses: bool
) -> None:
    """Writes the summary of each result, and a table of figures."""
    with opened(folder) as connection:
        try:
            count = export(connection, target, kind, chosen.wanted(connection), addresses=addresses)
        except ExportError as error:
            raise UserError(str(error)) from None
    typer.echo(f"{target}: {_counted(count, 'result')}")


def export_as_recordings(
    folder: Path | None, target: Path, chosen: Chosen, *, addresses: bool
) -> None:
    """Writes a results folder, as that of `run`."""
    from mptcplab.server.export_recordings import export_recordings

    interruption = Interruption()
    with opened(folder) as connection, interruption.listening():
        try:
            made = export_recordings(
                connection,
                target,
                chosen.wanted(connection),
                goes_on=lambda: not interruption.requested,
                addresses=addresses,
                command=("mptcplab", *sys.argv[1:]),
            )
        except ExportError as error:
            raise UserError(str(error)) from None
    if not made.is_whole:
        typer.echo(f"{target}: ended early, and no results folder: remove it", err=True)
        raise typer.Exit(INTERRUPTED_STATUS)
    empty = f", {made.empty} of them without measurements" if made.empty else ""
    recordings = _counted(made.recordings, "recording")
    typer.echo(f"{target}: {recordings} of {_counted(made.results, 'result')}{empty}")


@dataclass(frozen=True)
class Chosen:
    """The options that choose results, as they are written."""

    agent: str | None = None
    plan: str | None = None
    congestion_control: str | None = None
    since: str | None = None
    until: str | None = None

    def wanted(self, connection: Connection) -> Wanted:
        """The results that they mean.

        Raises:
            UserError: there is no such agent, or a time is none.

        """
        return Wanted(
            agent=None if self.agent is None else agent_id(connection, self.agent),
            plan=self.plan,
            congestion_control=self.congestion_control,
            begin_ms=_time_ms("--since", self.since),
            end_ms=_time_ms("--until", self.until),
        )


def _time_ms(option: str, text: str | None) -> int | None:
    try:
        return None if text is None else parse_time(text) * 1_000
    except ValueError as error:
        raise UserError(f"{option} {text}: {error}") from None


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


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
    typer.echo(f"{state.file}: restored from {file}")

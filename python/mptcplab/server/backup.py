"""The database as one file, and back."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from mptcplab.server.state import State
from mptcplab.server.store.schema import VERSION


class BackupError(Exception):
    """A file that cannot be written, or is no database of a server."""


def back_up(connection: sqlite3.Connection, file: Path) -> None:
    """Writes the database to a file that its owner alone reads, at once or not at all.

    Raises:
        BackupError: it is there, or cannot be written.

    """
    if file.exists():
        raise BackupError(f"{file}: it is there: name another file")
    temporary = file.with_name(f".{file.name}.new")
    try:
        temporary.unlink(missing_ok=True)
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        _copy(connection, temporary)
        temporary.rename(file)
    except OSError as error:
        raise BackupError(f"{file}: {error.strerror}") from None
    except sqlite3.Error as error:
        raise BackupError(f"{file}: {error}") from None
    finally:
        temporary.unlink(missing_ok=True)


def restore(state: State, file: Path) -> None:
    """Replaces the database of a folder that no server uses; certificate and key stay.

    Raises:
        BackupError: the file is no database of a server, or damaged.

    """
    if not file.is_file():
        raise BackupError(f"{file}: there is no such file")
    source = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)
    temporary = state.folder / "restored.db"
    try:
        _check(source, file)
        temporary.unlink(missing_ok=True)
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        _copy(source, temporary)
        for suffix in ("-wal", "-shm"):
            state.database.with_name(state.database.name + suffix).unlink(missing_ok=True)
        temporary.rename(state.database)
    except OSError as error:
        raise BackupError(f"{state.database}: {error.strerror}") from None
    finally:
        source.close()
        temporary.unlink(missing_ok=True)


def _check(source: sqlite3.Connection, file: Path) -> None:
    try:
        (version,) = source.execute("PRAGMA user_version").fetchone()
        is_whole = source.execute("PRAGMA quick_check").fetchone()[0] == "ok"
        source.execute("SELECT count(*) FROM agents")
    except sqlite3.DatabaseError:
        raise BackupError(f"{file}: is no database of a server") from None
    if not 1 <= version <= VERSION:
        raise BackupError(f"{file}: is of a newer version of this program")
    if not is_whole:
        raise BackupError(f"{file}: is damaged")


def _copy(source: sqlite3.Connection, file: Path) -> None:
    target = sqlite3.connect(file)
    try:
        source.backup(target)
    finally:
        target.close()
    with file.open("rb") as written:
        os.fsync(written.fileno())

"""The database as one file, and back."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from mptcplab.server.state import State
from mptcplab.server.store.database import Connection
from mptcplab.server.store.schema import VERSION


class BackupError(Exception):
    """A file that cannot be written, or is no database of a server."""


def back_up(connection: Connection, file: Path) -> None:
    """Writes the database to a file that its owner alone reads, at once or not at all.

    Raises:
        BackupError: it is there, or cannot be written; or the database is no file.

    """
    if not isinstance(connection, sqlite3.Connection):
        raise BackupError("the database is PostgreSQL's: pg_dump is for that")
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

    At every moment there is one of the two, and whole. The folder is made where it is missing, once
    it is known that there is something to be restored.

    Raises:
        BackupError: the file is no database of a server, or damaged; or the folder's is elsewhere.
        StateError: a server uses the folder, or it cannot be made.

    """
    if not file.is_file():
        raise BackupError(f"{file}: there is no such file")
    if state.url.exists():
        raise BackupError(
            f"{state.database.shown}: pg_restore is for that, and pg_dump for back-ups"
        )
    source = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)
    try:
        _check(source, file)
        state.make()
        with state.held():
            _restore(state, source)
    finally:
        source.close()


def _restore(state: State, source: sqlite3.Connection) -> None:
    temporary = state.folder / "restored.db"
    try:
        temporary.unlink(missing_ok=True)
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        _copy(source, temporary)
        _end_sessions(temporary)
        _empty_log(state.file)
        temporary.rename(state.file)
        _sync_folder(state.folder)
    except OSError as error:
        raise BackupError(f"{state.file}: {error.strerror}") from None
    finally:
        temporary.unlink(missing_ok=True)


def _end_sessions(file: Path) -> None:
    """Those that have ended since would be good again."""
    restored = sqlite3.connect(file)
    try:
        with restored:
            # There may have been none at the time of its schema.
            if restored.execute("SELECT 1 FROM sqlite_schema WHERE name = 'sessions'").fetchone():
                restored.execute("DELETE FROM sessions")
    finally:
        restored.close()


def _empty_log(database: Path) -> None:
    """Brings the last commits into the database, as its log is not that of the restored one.

    Raises:
        BackupError: it cannot be written, or another program reads it.

    """
    if database.exists():
        old = sqlite3.connect(database)
        try:
            (is_busy, _, _) = old.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.OperationalError as error:
            raise BackupError(f"{database}: {error}") from None
        except sqlite3.DatabaseError:
            # It is damaged, for which it is replaced: nothing of it can be kept.
            is_busy = False
        finally:
            old.close()
        if is_busy:
            raise BackupError(f"{database}: another program reads it: end that one")
    for suffix in ("-wal", "-shm"):
        database.with_name(database.name + suffix).unlink(missing_ok=True)
    # A log that came back after a crash would be carried out on the restored one.
    _sync_folder(database.parent)


def _sync_folder(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


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

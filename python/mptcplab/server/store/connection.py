"""Connections to the database, and transactions."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mptcplab.server.store.schema import migrate

BUSY_MS = 10_000
"""Time to wait for another one that changes."""


def connect(file: Path) -> sqlite3.Connection:
    """A connection without transactions of its own; the database is made and migrated.

    Raises:
        sqlite3.Error: no database, or it cannot be opened.
        SchemaError: it is of a newer program.

    """
    connection = _open(file)
    try:
        # A commit returns when it has reached the disk.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        migrate(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _open(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        file, timeout=BUSY_MS / 1e3, isolation_level=None, check_same_thread=False
    )
    connection.row_factory = sqlite3.Row
    # A hostile file is no concern here, and yet: no functions from its schema.
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


@contextmanager
def changing(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """A transaction that changes: all of it, or nothing after an error."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        # A full disk ends it by itself.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def reading(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """A transaction in which all questions are about one state."""
    connection.execute("BEGIN")
    try:
        yield connection
    finally:
        connection.execute("ROLLBACK")


class Readers:
    """A connection that cannot change anything, for each thread that asks."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._own = threading.local()
        self._all: list[sqlite3.Connection] = []
        self._lock = threading.Lock()

    def connection(self) -> sqlite3.Connection:
        """That of this thread."""
        found: sqlite3.Connection | None = getattr(self._own, "connection", None)
        if found is None:
            found = _open(self._file)
            found.execute("PRAGMA query_only = ON")
            self._own.connection = found
            with self._lock:
                self._all.append(found)
        return found

    def close(self) -> None:
        """Closes all; no thread asks any more."""
        for one in self._all:
            one.close()

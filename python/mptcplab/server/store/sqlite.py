"""SQLite: a file with a write-ahead log."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mptcplab.server.store.database import BUSY_S
from mptcplab.server.store.schema import migrate


class SqliteConnection(sqlite3.Connection):
    """A connection without transactions of its own."""

    is_lost = False

    def insert(self, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Adds rows."""
        if rows:
            names, marks = ", ".join(rows[0]), ", ".join(f":{name}" for name in rows[0])
            self.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", rows)

    def begin(self) -> None:
        """Begins a transaction that changes."""
        self.execute("BEGIN IMMEDIATE")

    @contextmanager
    def part(self) -> Iterator[None]:
        """A part of the transaction."""
        self.execute("SAVEPOINT part")
        try:
            yield
        except BaseException:
            # A full disk ends the transaction by itself.
            if self.in_transaction:
                self.execute("ROLLBACK TO part")
                self.execute("RELEASE part")
            raise
        self.execute("RELEASE part")

    def settle(self) -> None:
        """Nothing: each statement has told what has failed."""

    def begin_reading(self) -> None:
        """Begins a transaction that does not."""
        self.execute("BEGIN")

    def size_bytes(self) -> int:
        """The pages of the file, those in the log included."""
        row = self.execute(
            "SELECT page_count * page_size AS size FROM pragma_page_count, pragma_page_size"
        ).fetchone()
        return int(row["size"])


@dataclass(frozen=True)
class SqliteDatabase:
    """A file."""

    file: Path
    is_file: bool = field(init=False, default=True)

    @property
    def shown(self) -> str:
        """Its path."""
        return str(self.file)

    def connect(self) -> SqliteConnection:
        """A connection that changes; the file and those beside it are the owner's alone."""
        before = os.umask(0o077)
        try:
            connection = self._open()
            try:
                # A commit returns when it has reached the disk.
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA foreign_keys = ON")
                migrate(connection)
            except BaseException:
                connection.close()
                raise
        finally:
            os.umask(before)
        return connection

    def connect_server(self) -> SqliteConnection:
        """One for the server, which holds the folder."""
        return self.connect()

    def connect_reader(self) -> SqliteConnection:
        """A connection that cannot change anything."""
        connection = self._open()
        connection.execute("PRAGMA query_only = ON")
        return connection

    def _open(self) -> SqliteConnection:
        connection = sqlite3.connect(
            self.file,
            timeout=BUSY_S,
            isolation_level=None,
            check_same_thread=False,
            factory=SqliteConnection,
        )
        connection.row_factory = sqlite3.Row
        # A hostile file is no concern here, and yet: no functions from its schema.
        connection.execute("PRAGMA trusted_schema = OFF")
        return connection

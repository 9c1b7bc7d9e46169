"""Databases as the server needs them: all that SQLite and PostgreSQL have in common.

Statements are written once, for both: `?` stands for a value by its place, `:name` for one by its
name, and columns of a row are taken by their names. The modules `sqlite` and `postgresql` have what
differs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

BUSY_S = 10
"""Time to wait for another one that changes."""
Values = Sequence[Any] | Mapping[str, Any]


class StoreUnavailableError(Exception):
    """The database takes or tells nothing now: too many wait, its disk is full, it is away."""


class SchemaError(Exception):
    """A database of another program, or of a newer version of this one."""


class Row(Protocol):
    """A row: its columns by their names."""

    def keys(self) -> Iterable[str]:
        """The names."""

    def __getitem__(self, name: str, /) -> Any: ...


class Rows(Protocol):
    """The answer to a statement."""

    @property
    def rowcount(self) -> int:
        """Rows that were changed."""

    def fetchone(self) -> Any:
        """The next row, or null."""

    def fetchall(self) -> list[Any]:
        """All that are left."""

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """A connection, whose transactions begin and end where that is written."""

    @property
    def in_transaction(self) -> bool:
        """Whether one has begun, and not ended by itself."""

    @property
    def is_lost(self) -> bool:
        """Whether it is of no use any more."""

    def execute(self, statement: str, values: Values = (), /) -> Rows:
        """Carries out a statement."""

    def executemany(self, statement: str, values: Iterable[Values], /) -> Any:
        """Carries out a statement for each of these."""

    def insert(self, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Adds rows, each with the same columns by their names."""

    def begin(self) -> None:
        """Begins a transaction that changes; there is one at a time, and others wait.

        In it, what fails may be told by a later statement of the same part, or by its end.
        """

    def part(self) -> AbstractContextManager[None]:
        """A part of the transaction: all of it, or nothing after an error, which it raises."""

    def settle(self) -> None:
        """Raises what has failed in the transaction so far, and was not told yet."""

    def begin_reading(self) -> None:
        """Begins a transaction in which all questions are about one state."""

    def commit(self) -> None:
        """Returns when all of it is on the disk."""

    def rollback(self) -> None:
        """Undoes the transaction, if it has not ended by itself."""

    def size_bytes(self) -> int:
        """The room that the database takes."""

    def close(self) -> None:
        """Ends it; what has not been committed is undone."""


class Database(Protocol):
    """A place where everything is kept."""

    @property
    def shown(self) -> str:
        """The place in words for people, without its secrets."""

    @property
    def is_file(self) -> bool:
        """Whether answers come from a file, and not from another program."""

    def connect(self) -> Connection:
        """A connection that changes; the database is made and migrated.

        Raises:
            StoreUnavailableError, sqlite3.Error: it cannot be opened.
            SchemaError: it is of another program, or of a newer one.

        """

    def connect_server(self) -> Connection:
        """One as above, for the one server that may use the database.

        Raises:
            StoreUnavailableError: as above, or another server uses it.

        """

    def connect_reader(self) -> Connection:
        """A connection that cannot change anything, to a database that is migrated.

        Raises:
            StoreUnavailableError, sqlite3.Error: it cannot be opened.

        """


def statements(script: str) -> list[str]:
    """The statements of a script, each of which ends with its line."""
    return [one for one in script.split(";\n") if one.strip()]


def check_version(version: int, known: int) -> None:
    """Refuses a schema of the future.

    Raises:
        SchemaError: it is one.

    """
    if version > known:
        raise SchemaError(
            f"has version {version} of the schema, and this program knows {known}: take a newer one"
        )

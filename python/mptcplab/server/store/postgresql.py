"""PostgreSQL: a database of its own server, by psycopg."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import StrDumper

from mptcplab.server.store.database import BUSY_S, Rows, StoreUnavailableError, Values
from mptcplab.server.store.postgresql_schema import migrate
from mptcplab.server.store.postgresql_url import fix, one_line, parsed, shown

_Raw = psycopg.Connection[dict[str, Any]]
_LOCKS = int.from_bytes(b"mptc", "big")
"""First half of the numbers of advisory locks, which are the database's own; and the second."""
_OF_CHANGES, _OF_SERVER = 1, 2
_SERVER_WAIT_S = 2
"""Time for a server that was killed to be noticed."""
_DEFAULTS: dict[str, Any] = {
    "fallback_application_name": "mptcplab server",
    "client_encoding": "UTF8",
    # A server behind a network that has gone is found out.
    "connect_timeout": 3,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
_SESSION = """
SELECT set_config('lock_timeout', %s, false), set_config('tcp_keepalives_idle', '30', false),
    set_config('default_transaction_read_only', %s, false),
    set_config('synchronous_commit',
        CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on'
        ELSE current_setting('synchronous_commit') END, false)
"""
"""The server ends a session, and frees its locks, soon after its client has gone; and a commit
returns when it has reached the disk."""
_UNAVAILABLE = (
    psycopg.OperationalError,
    psycopg.errors.InsufficientPrivilege,
    psycopg.errors.ReadOnlySqlTransaction,
)
_AWAY = ": is PostgreSQL running there?"
_VALUE = re.compile(r"\?|:([a-z_]+)")


class _Text(StrDumper):
    """Texts, of which none that is kept has a NUL: a question for such a one finds nothing."""

    def dump(self, text: str) -> Any:
        return super().dump(text.replace("\0", "\N{REPLACEMENT CHARACTER}"))


class PostgresqlConnection:
    """A connection without transactions of its own."""

    def __init__(self, raw: _Raw) -> None:
        self._raw = raw
        raw.adapters.register_dumper(int, Int8Dumper)
        raw.adapters.register_dumper(str, _Text)

    @property
    def in_transaction(self) -> bool:
        """Whether one has begun, also where a statement in it has failed."""
        status = self._raw.info.transaction_status
        return status in (TransactionStatus.INTRANS, TransactionStatus.INERROR)

    @property
    def is_lost(self) -> bool:
        """Whether the server has ended it."""
        return self._raw.closed

    def execute(self, statement: str, values: Values = (), /) -> Rows:
        """Carries out a statement."""
        try:
            if values:
                return self._raw.execute(_translated(statement), values, binary=True)
            # Several statements in one cannot be prepared.
            return self._raw.execute(statement.encode(), prepare=False)
        except _UNAVAILABLE as error:
            raise StoreUnavailableError(one_line(error)) from None

    def executemany(self, statement: str, values: Iterable[Values], /) -> Rows:
        """Carries out a statement for each of these, without waiting for each."""
        cursor = self._raw.cursor()
        try:
            cursor.executemany(_translated(statement), values)
        except _UNAVAILABLE as error:
            raise StoreUnavailableError(one_line(error)) from None
        return cursor

    def insert(self, table: str, rows: Sequence[Sequence[Any]]) -> None:
        """Adds many rows by one COPY, which costs less than a statement for each."""
        try:
            with (
                self._raw.cursor() as cursor,
                cursor.copy(f"COPY {table} FROM STDIN".encode()) as copy,
            ):
                for row in rows:
                    copy.write_row(row)
        except _UNAVAILABLE as error:
            raise StoreUnavailableError(one_line(error)) from None

    def begin(self) -> None:
        """Begins a transaction that changes, when no other one does."""
        try:
            self.execute(f"BEGIN; SELECT pg_advisory_xact_lock({_LOCKS}, {_OF_CHANGES})")
        except BaseException:
            self.rollback()
            raise

    def begin_reading(self) -> None:
        """Begins a transaction that does not."""
        self.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    def commit(self) -> None:
        """Ends the transaction.

        Raises:
            StoreUnavailableError: a statement in it has failed, or the server does not answer.

        """
        # The server would undo it, and tell that as a success.
        if self._raw.info.transaction_status == TransactionStatus.INERROR:
            raise StoreUnavailableError("a statement has failed before")
        self.execute("COMMIT")

    def rollback(self) -> None:
        """Undoes the transaction; the server does so itself where the connection was lost."""
        if self.in_transaction:
            with suppress(StoreUnavailableError):
                self.execute("ROLLBACK")

    def hold(self) -> None:
        """Keeps other servers away until it is closed.

        Raises:
            StoreUnavailableError: another one does so.

        """
        try:
            self._raw.execute(f"SET lock_timeout = '{_SERVER_WAIT_S}s'".encode())
            self._raw.execute(f"SELECT pg_advisory_lock({_LOCKS}, {_OF_SERVER})".encode())
            self._raw.execute(f"SET lock_timeout = '{BUSY_S}s'".encode())
        except psycopg.errors.LockNotAvailable:
            raise StoreUnavailableError("another server uses it: end that one") from None
        except _UNAVAILABLE as error:
            raise StoreUnavailableError(one_line(error)) from None

    def size_bytes(self) -> int:
        """The room of the database, indices and dead rows included."""
        row = self.execute("SELECT pg_database_size(current_database()) AS size").fetchone()
        return int(row["size"])

    def close(self) -> None:
        """Ends it; what has not been committed is undone."""
        self._raw.close()


@dataclass(frozen=True)
class PostgresqlDatabase:
    """A database by its URL.

    Raises:
        ValueError: the URL is none; the text does not have it, as there may be a password in it.

    """

    url: str = field(repr=False)
    shown: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "shown", shown(parsed(self.url)))

    def connect(self) -> PostgresqlConnection:
        """A connection that changes."""
        connection = PostgresqlConnection(self._open())
        try:
            migrate(connection)
        except StoreUnavailableError as error:
            connection.close()
            raise StoreUnavailableError(fix(str(error), self.url)) from None
        except BaseException:
            connection.close()
            raise
        return connection

    def connect_server(self) -> PostgresqlConnection:
        """One that no other server has until it is closed."""
        connection = self.connect()
        try:
            connection.hold()
        except BaseException:
            connection.close()
            raise
        return connection

    def connect_reader(self) -> PostgresqlConnection:
        """A connection that cannot change anything."""
        return PostgresqlConnection(self._open(read_only="on"))

    def _open(self, read_only: str = "off") -> _Raw:
        told = make_conninfo(**(_DEFAULTS | conninfo_to_dict(self.url)))
        try:
            raw = psycopg.connect(told, autocommit=True, row_factory=dict_row)
            try:
                raw.execute(_SESSION, (f"{BUSY_S}s", read_only))
            except BaseException:
                raw.close()
                raise
        except psycopg.Error as error:
            raise StoreUnavailableError(fix(one_line(error), self.url, _AWAY)) from None
        return raw


@lru_cache(256)
def _translated(statement: str) -> bytes:
    """The statement with the marks that psycopg has for values."""

    def mark(found: re.Match[str]) -> str:
        return f"%({found[1]})s" if found[1] else "%s"

    return _VALUE.sub(mark, statement.replace("%", "%%")).encode()

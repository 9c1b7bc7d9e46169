"""PostgreSQL: a database of its own server, by psycopg."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row
from psycopg.types.json import Json
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


class _Answer:
    """The answer to a statement, which is waited for when it is looked at."""

    def __init__(self, cursor: psycopg.Cursor[dict[str, Any]], settle: Callable[[], None]) -> None:
        self._cursor = cursor
        self.settle = settle

    @property
    def rowcount(self) -> int:
        """Rows that were changed."""
        self.settle()
        return self._cursor.rowcount

    def fetchone(self) -> Any:
        """The next row, or null."""
        with _told():
            return self._cursor.fetchone()

    def fetchall(self) -> list[Any]:
        """All that are left."""
        with _told():
            return self._cursor.fetchall()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.fetchall())


class PostgresqlConnection:
    """A connection without transactions of its own.

    Within one that changes statements are sent without waiting for each (pipeline mode): a result
    takes a dozen of them, and each wait is one for the other program and for Python's lock.
    """

    def __init__(self, raw: _Raw) -> None:
        self._raw = raw
        self._pipeline: psycopg.Pipeline | None = None
        self._pipelines = ExitStack()
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
        with _told():
            if values:
                made = self._raw.execute(_translated(statement), values, binary=True)
            else:
                # Several statements in one cannot be prepared.
                made = self._raw.execute(statement.encode(), prepare=False)
            return _Answer(made, self.settle)

    def executemany(self, statement: str, values: Iterable[Values], /) -> None:
        """Carries out a statement for each of these."""
        with _told(), self._raw.cursor() as cursor:
            cursor.executemany(_translated(statement), values)

    def insert(self, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Adds rows by one statement, however many they are."""
        if rows:
            names = ", ".join(rows[0])
            self.execute(
                f"INSERT INTO {table} ({names})"
                f" SELECT {names} FROM json_populate_recordset(CAST(NULL AS {table}), ?)",
                (Json(rows),),
            )

    def begin(self) -> None:
        """Begins a transaction that changes, when no other one does."""
        try:
            self.execute(f"BEGIN; SELECT pg_advisory_xact_lock({_LOCKS}, {_OF_CHANGES})")
            self._begin_pipeline()
        except BaseException:
            self.rollback()
            raise

    def settle(self) -> None:
        """Waits for all that was sent, and raises what has failed."""
        if self._pipeline is not None:
            with _told():
                self._pipeline.sync()

    def begin_reading(self) -> None:
        """Begins a transaction that does not."""
        self.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    @contextmanager
    def part(self) -> Iterator[None]:
        """A part of the transaction."""
        self.execute("SAVEPOINT part")
        try:
            yield
            self.settle()
        except BaseException:
            # All that was sent after the failure has failed, too.
            self._end_pipeline()
            if self.in_transaction:
                self.execute("ROLLBACK TO part")
                self.execute("RELEASE part")
                self._begin_pipeline()
            raise
        self.execute("RELEASE part")

    def commit(self) -> None:
        """Ends the transaction.

        Raises:
            StoreUnavailableError: a statement in it has failed, or the server does not answer.

        """
        self.settle()
        self._end_pipeline()
        # The server would undo it, and tell that as a success.
        if self._raw.info.transaction_status == TransactionStatus.INERROR:
            raise StoreUnavailableError("a statement has failed before")
        self.execute("COMMIT")

    def rollback(self) -> None:
        """Undoes the transaction; the server does so itself where the connection was lost."""
        self._end_pipeline()
        if self.in_transaction:
            with suppress(StoreUnavailableError):
                self.execute("ROLLBACK")
        if self._raw.info.transaction_status != TransactionStatus.IDLE:
            self._raw.close()

    def _begin_pipeline(self) -> None:
        self._pipeline = self._pipelines.enter_context(self._raw.pipeline())

    def _end_pipeline(self) -> None:
        self._pipeline = None
        # Its failures are those that were told, or follow from them.
        with suppress(psycopg.Error):
            self._pipelines.close()

    def hold(self) -> None:
        """Keeps other servers away until it is closed.

        Raises:
            StoreUnavailableError: another one does so.

        """
        self.execute(f"SET lock_timeout = '{_SERVER_WAIT_S}s'")
        try:
            with _told():
                self._raw.execute(f"SELECT pg_advisory_lock({_LOCKS}, {_OF_SERVER})".encode())
        except StoreUnavailableError as error:
            if isinstance(error.__cause__, psycopg.errors.LockNotAvailable):
                raise StoreUnavailableError("another server uses it: end that one") from None
            raise
        self.execute(f"SET lock_timeout = '{BUSY_S}s'")

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
    is_file: bool = field(init=False, default=False)

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


@contextmanager
def _told() -> Iterator[None]:
    """Tells what is no mistake of a statement by the store's own error."""
    try:
        yield
    except _UNAVAILABLE as error:
        raise StoreUnavailableError(one_line(error)) from error


@lru_cache(256)
def _translated(statement: str) -> bytes:
    """The statement with the marks that psycopg has for values."""

    def mark(found: re.Match[str]) -> str:
        return f"%({found[1]})s" if found[1] else "%s"

    return _VALUE.sub(mark, statement.replace("%", "%%")).encode()

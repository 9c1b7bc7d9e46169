"""Transactions, and connections of the threads that ask."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from mptcplab.server.store.database import Connection, Database, StoreUnavailableError

T = TypeVar("T")


@contextmanager
def changing(connection: Connection) -> Iterator[Connection]:
    """A transaction that changes: all of it, or nothing after an error."""
    connection.begin()
    try:
        yield connection
        connection.commit()
    except BaseException:
        connection.rollback()
        raise


@contextmanager
def reading(connection: Connection) -> Iterator[Connection]:
    """A transaction in which all questions are about one state."""
    connection.begin_reading()
    try:
        yield connection
    finally:
        connection.rollback()


class Readers:
    """A connection that cannot change anything, for each thread that asks."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.is_of_file = database.is_file
        self._own = threading.local()
        self._all: list[Connection] = []
        self._lock = threading.Lock()

    def ask(self, question: Callable[[Connection], T]) -> T:
        """The answer by the connection of this thread, or by a new one where that was lost."""
        found: Connection | None = getattr(self._own, "connection", None)
        if found is not None:
            try:
                return question(found)
            except StoreUnavailableError:
                if not found.is_lost:
                    raise
                self._forget(found)
        return question(self._connect())

    def close(self) -> None:
        """Closes all; no thread asks any more."""
        for one in self._all:
            one.close()

    def _connect(self) -> Connection:
        made = self._database.connect_reader()
        self._own.connection = made
        with self._lock:
            self._all.append(made)
        return made

    def _forget(self, lost: Connection) -> None:
        self._own.connection = None
        with self._lock:
            self._all.remove(lost)
        lost.close()

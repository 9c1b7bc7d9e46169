"""The thread that changes the database: changes that wait are committed together.

A commit costs a write to the disk that is waited for (fsync); one for many results keeps up with
many agents. A change is done when it has been committed, and one that fails takes no other along:
where one does, all of them are carried out once more, each as a part of the transaction.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

from mptcplab.server.store.database import Connection, Database, StoreUnavailableError

T = TypeVar("T")
Change = Callable[[Connection], Any]
_Job = tuple[Change, "Future[Any]"]

MOST_TOGETHER = 64
MOST_WAITING = 1_000


@dataclass(frozen=True)
class _Outcome:
    """The result of a change, or why it was refused."""

    result: Any = None
    refusal: Exception | None = None

    def tell(self, future: Future[Any]) -> None:
        """Tells the one who waits for it."""
        if self.refusal is None:
            future.set_result(self.result)
        else:
            future.set_exception(self.refusal)


class Writer:
    """The thread.

    Raises:
        StoreUnavailableError, sqlite3.Error, SchemaError: the database cannot be opened.

    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection = database.connect_server()
        self._jobs: queue.Queue[_Job | None] = queue.Queue(MOST_WAITING)
        self._thread = threading.Thread(target=self._work, name="writer", daemon=True)
        self._thread.start()

    def submit(self, change: Callable[[Connection], T]) -> Future[T]:
        """The change's result, once it is on the disk.

        It may be carried out twice, and counts once.

        Raises:
            StoreUnavailableError: too many changes wait. The future raises it, too.

        """
        future: Future[T] = Future()
        try:
            self._jobs.put_nowait((change, future))
        except queue.Full:
            raise StoreUnavailableError("too many changes wait") from None
        return future

    def close(self) -> None:
        """Carries out all that waits, and ends the thread."""
        self._jobs.put(None)
        self._thread.join()
        self._connection.close()

    def _work(self) -> None:
        goes_on = True
        while goes_on:
            jobs = [self._jobs.get()]
            while len(jobs) < MOST_TOGETHER and not self._jobs.empty():
                jobs.append(self._jobs.get())
            goes_on = None not in jobs
            self._commit([one for one in jobs if one is not None])

    def _commit(self, jobs: list[_Job]) -> None:
        wanted = [one for one in jobs if one[1].set_running_or_notify_cancel()]
        if not wanted:
            return
        try:
            outcomes = self._as_one(wanted) or self._in_parts(wanted)
            self._connection.commit()
        except Exception as error:
            self._connection.rollback()
            for _, future in wanted:
                future.set_exception(StoreUnavailableError(str(error)))
            return
        for (_, future), outcome in zip(wanted, outcomes, strict=True):
            outcome.tell(future)

    def _as_one(self, wanted: list[_Job]) -> list[_Outcome] | None:
        """Their outcomes, not committed yet; null: one has failed, and all are undone."""
        self._begin()
        try:
            found = [_Outcome(change(self._connection)) for change, _ in wanted]
            self._connection.settle()
        except Exception:
            self._connection.rollback()
            return None
        return found

    def _in_parts(self, wanted: list[_Job]) -> list[_Outcome]:
        """The same, where those that fail are undone alone."""
        self._begin()
        found = []
        for change, _ in wanted:
            try:
                found.append(_Outcome(self._carry_out(change)))
            except Exception as error:
                if not self._connection.in_transaction:
                    raise
                found.append(_Outcome(refusal=error))
        return found

    def _begin(self) -> None:
        """Begins a transaction, by a new connection where nothing was lost with the old one."""
        try:
            self._connection.begin()
        except StoreUnavailableError:
            if not self._connection.is_lost:
                raise
            self._connection = self._database.connect_server()
            self._connection.begin()

    def _carry_out(self, change: Change) -> Any:
        with self._connection.part():
            return change(self._connection)

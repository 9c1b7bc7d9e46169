"""One call of the API: its caller, its body, and the things that answer it."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from mptcplab.server.contact import Role
from mptcplab.server.store.connection import Readers
from mptcplab.server.store.database import Connection, Database
from mptcplab.server.store.people import Person
from mptcplab.server.store.writer import Writer

T = TypeVar("T")
_THREADS = 4


class ApiError(Exception):
    """An answer that is none of success; the text is one sentence without its stop."""

    def __init__(self, status: int, text: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(text)
        self.status = status
        self.headers = dict(headers or {})


def current_ms() -> int:
    """The clock, milliseconds since 1970."""
    return time.time_ns() // 1_000_000


@dataclass
class Backend:
    """The database, and the threads that ask it."""

    readers: Readers
    writer: Writer
    url: str
    fingerprint: str
    """Of the certificate that agents see."""
    now_ms: Callable[[], int] = current_ms
    statuses: Counter[int] = field(default_factory=Counter)
    """Answers by their status."""
    uploads: Counter[str] = field(default_factory=Counter)
    """Results that each agent is sending."""
    _pool: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(_THREADS, "reader")
    )

    @classmethod
    def open(cls, database: Database, url: str, fingerprint: str) -> Backend:
        """That of a database."""
        return cls(Readers(database), Writer(database), url, fingerprint)

    def close(self) -> None:
        """Ends all threads; what waits to be written is written."""
        self._pool.shutdown()
        self.readers.close()
        self.writer.close()

    async def work(self, function: Callable[[], T]) -> T:
        """A function's result, from another thread."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, function)

    async def ask(self, question: Callable[[Connection], T]) -> T:
        """The answer of the database."""
        return await self.work(lambda: self.readers.ask(question))

    async def ask_one(self, question: Callable[[Connection], T]) -> T:
        """The answer to a question about one row.

        Another thread would cost more than a look into a file, and less than another program that
        all agents wait for.
        """
        if self.readers.is_of_file:
            return self.readers.ask(question)
        return await self.ask(question)

    async def change(self, change: Callable[[Connection], T]) -> T:
        """The result of a change that is on the disk."""
        return await asyncio.wrap_future(self.writer.submit(change))


class Access:
    """Callers that an operation takes, beside the roles of people."""

    ENROLMENT = "enrolment"
    AGENT = "agent"


@dataclass
class Call:
    """One call."""

    backend: Backend
    request: Request
    body: bytes = b""
    agent: str = ""
    """The id, where an agent calls."""
    secret: str = ""
    """Of the enrolment, where one is to be enrolled."""
    person: Person | None = None

    def path(self, name: str) -> str:
        """A part of the path."""
        return str(self.request.path_params[name])


@dataclass(frozen=True)
class Operation:
    """A method on a path: the callers it takes, and its parts for the description of the API."""

    method: str
    path: str
    access: Role | str | None
    """A role of people, one of `Access`, or null: everybody."""
    answer: Callable[[Call], Awaitable[Response]]
    about: str
    answers: Mapping[int, str]
    """The meaning of each status of success."""
    body: type[BaseModel] | None = None
    largest_bytes: int = 0
    query: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Of the function that answers."""
        return str(getattr(self.answer, "__name__", self.path))


def answered(value: Any, status: int = 200, **headers: str) -> Response:
    """A value as JSON; `etag="…"` is a header."""
    return JSONResponse(value, status, {name: text for name, text in headers.items() if text})

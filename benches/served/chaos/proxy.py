"""A proxy of TCP between agents and a server, which cuts connections and swallows answers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum

_PIECE_BYTES = 65_536


class Way(Enum):
    """Fate of what comes."""

    OPEN = "open"
    CLOSED = "closed"
    """Connections are closed at once."""
    ONE_WAY = "one-way"
    """Requests reach the server, and its answers nobody: agents send the same again."""
    SILENT = "silent"
    """Nothing goes on, and nothing is closed."""


class Proxy:
    """The proxy; its way may be set from any thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop, server_port: int) -> None:
        self._loop = loop
        self._server_port = server_port
        self._writers: set[asyncio.StreamWriter] = set()
        self.way = Way.OPEN
        self.port = 0

    def cut(self) -> None:
        """Ends all connections, without a word."""
        self._loop.call_soon_threadsafe(self._cut)

    def _cut(self) -> None:
        for writer in list(self._writers):
            writer.transport.abort()

    async def taken(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serves a connection."""
        self._writers.add(writer)
        try:
            if self.way is Way.CLOSED:
                return
            with suppress(OSError):
                far_reader, far_writer = await asyncio.open_connection(
                    "127.0.0.1", self._server_port
                )
                self._writers.add(far_writer)
                try:
                    await self._joined(reader, writer, far_reader, far_writer)
                finally:
                    self._writers.discard(far_writer)
                    far_writer.transport.abort()
        finally:
            self._writers.discard(writer)
            writer.transport.abort()

    async def _joined(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        far_reader: asyncio.StreamReader,
        far_writer: asyncio.StreamWriter,
    ) -> None:
        ways = [
            asyncio.ensure_future(self._copy(reader, far_writer, is_answer=False)),
            asyncio.ensure_future(self._copy(far_reader, writer, is_answer=True)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in ways:
                one.cancel()
            await asyncio.gather(*ways, return_exceptions=True)

    async def _copy(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_answer: bool
    ) -> None:
        while part := await reader.read(_PIECE_BYTES):
            while self.way is Way.SILENT:
                await asyncio.sleep(0.05)
            if not (is_answer and self.way is Way.ONE_WAY):
                writer.write(part)
                await writer.drain()


@contextmanager
def started(server_port: int) -> Iterator[Proxy]:
    """A proxy to a port of the loopback, in a thread of its own."""
    loop = asyncio.new_event_loop()
    proxy = Proxy(loop, server_port)
    ready = threading.Event()
    stop = asyncio.Event()

    async def serve() -> None:
        server = await asyncio.start_server(proxy.taken, "127.0.0.1", 0)
        proxy.port = server.sockets[0].getsockname()[1]
        ready.set()
        await stop.wait()
        server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for one in others:
            one.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), name="proxy")
    thread.start()
    ready.wait()
    try:
        yield proxy
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()

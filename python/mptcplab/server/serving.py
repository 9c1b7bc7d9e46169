"""The server's process: its socket, its event loop, its end."""

from __future__ import annotations

import asyncio
import logging
import resource
import signal
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from mptcplab.server.web.protocol import HEAD_S, KEEP_ALIVE_S, LARGEST_HEAD_BYTES, bounded

MOST_CONNECTIONS = 4_000
CONNECTIONS_OF_ADDRESS = 4
"""Open at once, for each request a second that an address may make."""
_GRACE_S = 10
"""Time for requests that are being answered when it ends."""
_BACKLOG = 1_024


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens; the wildcard of IPv6 takes IPv4, too.

    Raises:
        OSError: the address is not this host's, or taken.

    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, *_, address = found[0]
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        made.bind(address)
        made.listen(_BACKLOG)
        made.setblocking(False)
    except BaseException:
        made.close()
        raise
    return made


def serve(
    app: ASGIApp,
    listener: socket.socket,
    tls: ssl.SSLContext | None,
    *,
    per_address: float,
    ready: Callable[[], None],
) -> None:
    """Serves until Ctrl-C or SIGTERM; `ready` is called when requests are answered.

    Without `tls` it is behind a proxy of this host, which tells the addresses of clients by
    `X-Forwarded-For`.
    """
    _allow_descriptors()
    logging.basicConfig(level=logging.ERROR, format="%(levelname)s: %(message)s")
    most = None if tls is None else int(per_address * CONNECTIONS_OF_ADDRESS)
    config = uvicorn.Config(
        app,
        http=bounded(most),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=tls is None,
        forwarded_allow_ips="127.0.0.1,::1",
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=_GRACE_S,
        h11_max_incomplete_event_size=LARGEST_HEAD_BYTES,
    )
    config.load()
    config.ssl = tls
    with asyncio.Runner(loop_factory=_Loop) as runner:
        runner.run(_Server(config, ready).serve(sockets=[listener]))


class _Loop(asyncio.SelectorEventLoop):
    """The loop of asyncio, where a client has less time to shake hands."""

    async def create_server(self, *arguments: Any, **options: Any) -> Any:
        if options.get("ssl") is not None:
            options["ssl_handshake_timeout"] = HEAD_S
            options["ssl_shutdown_timeout"] = 1.0
        return await super().create_server(*arguments, **options)


class _Server(uvicorn.Server):
    """The server, which ends well at the first signal."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        signals = (signal.SIGINT, signal.SIGTERM)
        for number in signals:
            loop.add_signal_handler(number, self._end)
        try:
            yield
        finally:
            for number in signals:
                loop.remove_signal_handler(number)

    def _end(self) -> None:
        # A second signal waits for no client any more.
        self.force_exit = self.should_exit
        self.should_exit = True


def _allow_descriptors() -> None:
    """Raises the number of files that may be open, where the system allows it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + 200
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))

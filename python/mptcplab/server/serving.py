"""The server's process: its socket, its event loop, its end."""

from __future__ import annotations

import asyncio
import errno
import logging
import math
import resource
import signal
import socket
import ssl
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from mptcplab.server.web.listener import Listener
from mptcplab.server.web.protocol import (
    HANDSHAKE_S,
    KEEP_ALIVE_S,
    LARGEST_HEAD_BYTES,
    BoundedProtocol,
)

MOST_CONNECTIONS = 4_000
CONNECTIONS_OF_ADDRESS = 4
"""Open at once, for each request a second that an address may make."""
_OTHER_FILES = 200
"""Descriptors that are left for all but connections."""
_SHORTAGE_TOLD_EVERY_S = 60.0
_GRACE_S = 10
"""Time for requests that are being answered when it ends."""
_BACKLOG = 1_024


def listening(host: str, port: int, per_address: float | None) -> Listener:
    """A socket that listens; the wildcard of IPv6 takes IPv4, too.

    An address may make `per_address` requests a second, and so have some connections; null: all
    clients are those of a proxy.

    Raises:
        OSError: the address is not this host's, or taken.

    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, *_, address = found[0]
    of_address = None if per_address is None else int(per_address * CONNECTIONS_OF_ADDRESS)
    most = max(min(MOST_CONNECTIONS, _allow_descriptors() - _OTHER_FILES), 1)
    made = Listener(family, most, of_address)
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


def of_namespace(descriptor: int, most: int) -> Listener:
    """A socket of IPv4 that listens already, in another network namespace; `most` connections."""
    made = Listener(socket.AF_INET, most, None, descriptor)
    made.setblocking(False)
    return made


def serve(
    app: ASGIApp,
    listeners: Sequence[socket.socket],
    tls: ssl.SSLContext | None,
    *,
    ready: Callable[[], None],
) -> None:
    """Serves until Ctrl-C or SIGTERM; `ready` is called when requests are answered.

    Without `tls` it is behind a proxy of this host, which tells the addresses of clients by
    `X-Forwarded-For`.
    """
    logging.basicConfig(level=logging.ERROR, format="%(levelname)s: %(message)s")
    config = uvicorn.Config(
        app,
        http=BoundedProtocol,
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
        runner.run(_Server(config, ready).serve(sockets=list(listeners)))


class _Loop(asyncio.SelectorEventLoop):
    """The loop of asyncio, where a client has less time to shake hands.

    A shortage of descriptors is told in one line, and not for each connection that waits.
    """

    _told_at_s = -math.inf

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not isinstance(error, OSError) or error.errno not in (errno.EMFILE, errno.ENFILE):
            super().call_exception_handler(context)
        elif self.time() >= self._told_at_s + _SHORTAGE_TOLD_EVERY_S:
            self._told_at_s = self.time()
            logging.getLogger(__name__).error(
                "no connection is taken for now: %s: raise the limit (ulimit -n)", error.strerror
            )

    async def create_server(self, *arguments: Any, **options: Any) -> Any:
        if options.get("ssl") is not None:
            options["ssl_handshake_timeout"] = HANDSHAKE_S
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


def _allow_descriptors() -> int:
    """Raises the number of files that may be open, where the system allows it, and tells it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + _OTHER_FILES
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return soft if soft != resource.RLIM_INFINITY else wanted

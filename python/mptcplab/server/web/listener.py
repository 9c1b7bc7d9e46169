"""A listening socket that bounds connections before anything is read of them."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

from mptcplab.server.web.rate import network


class Listener(socket.socket):
    """A socket whose connections are counted from `accept` on, and so before a handshake of TLS.

    Those beyond `most`, or beyond `most_of_address` of an address, are closed at once.
    `most_of_address` is null where all clients have the address of a proxy.
    """

    def __init__(
        self, family: int, most: int, most_of_address: int | None, descriptor: int | None = None
    ) -> None:
        """A new socket; that of the descriptor where there is one."""
        # The event loop lets small packets go at once where the protocol is told.
        super().__init__(family, socket.SOCK_STREAM, socket.IPPROTO_TCP, fileno=descriptor)
        self.most = most
        self.most_of_address = most_of_address
        self._connections: Counter[str] = Counter()

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection that is within the bounds; errors are those of a socket."""
        while True:
            plain, address = super().accept()
            known = network(address[0])
            of_address = self._connections[known]
            is_full = self.most_of_address is not None and of_address >= self.most_of_address
            if is_full or self._connections.total() >= self.most:
                plain.close()
                continue
            self._connections[known] += 1
            return _Accepted(plain, partial(self._ended, known)), address

    def _ended(self, known: str) -> None:
        self._connections[known] -= 1
        if not self._connections[known]:
            del self._connections[known]


class _Accepted(socket.socket):
    """A connection that tells when it is closed, once."""

    def __init__(self, plain: socket.socket, ended: Callable[[], None]) -> None:
        super().__init__(plain.family, plain.type, plain.proto, plain.detach())
        self._ended: Callable[[], None] | None = ended

    def close(self) -> None:
        """As of a socket."""
        super().close()
        if self._ended is not None:
            ended, self._ended = self._ended, None
            ended()

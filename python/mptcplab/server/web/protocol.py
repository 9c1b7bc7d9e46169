"""HTTP/1.1 with clients that may be slow on purpose: times and sizes of all before the body."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

HANDSHAKE_S = 5.0
"""Time for the handshake of TLS."""
HEAD_S = 10.0
"""Time for the head of a request, from the connection's beginning or the answer before."""
KEEP_ALIVE_S = 20
"""Time that a connection may be idle."""
LARGEST_HEAD_BYTES = 16 << 10
MOST_UNREAD_BYTES = 8 << 20
"""Of a body that comes although its answer has been given."""


class BoundedProtocol(H11Protocol):
    """A connection that is closed where its client takes too long, or sends too much."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """As of asyncio."""
        super().connection_made(transport)  # type: ignore[arg-type]
        self._deadline: asyncio.TimerHandle | None = None
        self._unread_bytes = 0
        self._arm(HEAD_S)

    def connection_lost(self, exc: Exception | None) -> None:
        """As of asyncio."""
        self._disarm()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """As of asyncio."""
        self._unread_bytes += len(data)
        if not self._is_answering() and self._unread_bytes > MOST_UNREAD_BYTES:
            self.transport.abort()
            return
        super().data_received(data)
        if self._is_answering():
            # Its body has limits of its own.
            self._unread_bytes = 0
            self._disarm()

    def on_response_complete(self) -> None:
        """As of uvicorn."""
        super().on_response_complete()
        # The next request may have come already.
        if not self._is_answering():
            self._arm(KEEP_ALIVE_S + HEAD_S)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002
        """Closes the connection: nothing is left of the protocol to answer in."""
        self.transport.write(
            b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\n"
            b"connection: close\r\ncontent-length: 30\r\n\r\n"
            b'{"error": "This is no HTTP/1"}'
        )
        self.transport.close()

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _arm(self, seconds: float) -> None:
        self._disarm()
        self._deadline = self.loop.call_later(seconds, self.transport.abort)

    def _disarm(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

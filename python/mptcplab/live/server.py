"""The page of a run that goes on over HTTP: for readers of this machine, and to read only."""

from __future__ import annotations

import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from socket import AF_INET, AF_INET6
from socketserver import TCPServer
from time import monotonic
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

from mptcplab.live.page import page, page_policy, update
from mptcplab.live.progress import Session

PATIENCE_S = 10.0
"""Longest time that a reader may take for its question, or for taking the answer."""
MOST_AT_ONCE = 16
"""Connections that are served at the same time; a further one is closed."""
MOST_LINES = 1000
"""Lines of a chart of which a question may say how many samples it has."""
LAST_WORDS_S = 1.5
"""A reader that asks regularly is told within this time that all runs have ended."""
_LONGEST_QUESTION = 16_384


class Server(ThreadingHTTPServer):
    """Serves a session at an address of the loopback."""

    daemon_threads = True
    request_queue_size = MOST_AT_ONCE

    def __init__(self, session: Session, host: str, port: int) -> None:
        """Listens; port 0 is any that is free.

        Raises:
            OSError: the address cannot be had.

        """
        self.address_family = AF_INET6 if ":" in host else AF_INET
        self.session = session
        self.places = threading.BoundedSemaphore(MOST_AT_ONCE)
        self.asked_s = float("-inf")
        """When a reader asked last."""
        self.has_told = threading.Event()
        """A reader has been told that all runs have ended."""
        super().__init__((host, port), _Handler)
        self._thread = threading.Thread(target=self.serve_forever, name="http", daemon=True)
        self._thread.start()

    def server_bind(self) -> None:
        """Binds, without the question to DNS for the machine's name."""
        TCPServer.server_bind(self)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serves a connection where there is a place for it."""
        if not self.places.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:
            # The thread, which gives the place back, did not start.
            self.places.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serves a connection, in a thread of its own."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.places.release()

    @property
    def address(self) -> str:
        """Where the page is."""
        host, port = self.server_address[:2]
        name = f"[{host!s}]" if self.address_family == AF_INET6 else str(host)
        return f"http://{name}:{port}/"

    def end(self) -> None:
        """Ends; a page that is open is told before."""
        if monotonic() - self.asked_s < LAST_WORDS_S:
            self.has_told.wait(LAST_WORDS_S)
        self.shutdown()
        self.server_close()
        self._thread.join()

    def handle_error(self, request: object, client_address: object) -> None:
        """A reader that goes away in the middle is no error of anybody."""


class _Handler(BaseHTTPRequestHandler):
    """Answers one question."""

    server: Server
    timeout = PATIENCE_S
    protocol_version = "HTTP/1.0"
    _HEADERS: ClassVar[dict[str, str]] = {
        "Cache-Control": "no-store",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
    }

    def do_GET(self) -> None:
        """Answers with the page, or with what is new of it."""
        # A page of another site may have its name lead to the loopback, and would then read the
        # answers as its own (DNS rebinding); the name in the question still is that of its site.
        if not is_loopback_name(self.headers.get("Host", "")):
            self.send_error(HTTPStatus.FORBIDDEN, "The page is served under names of the loopback")
            return
        try:
            asked = urlsplit(self.path)
        except ValueError:
            self.send_error(HTTPStatus.BAD_REQUEST)
            return
        session = self.server.session
        match asked.path:
            case "/":
                self._send("text/html; charset=utf-8", page(session).encode())
            case "/newest":
                has_ended = session.has_ended
                try:
                    state, since = question(asked.query)
                except ValueError:
                    self.send_error(HTTPStatus.BAD_REQUEST)
                    return
                self._send("application/json", update(session, state, since))
                self.server.asked_s = monotonic()
                if has_ended:
                    self.server.has_told.set()
            case _:
                self.send_error(HTTPStatus.NOT_FOUND)

    def _send(self, kind: str, body: bytes) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def end_headers(self) -> None:
        """Adds what every answer has."""
        for name, value in self._HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Security-Policy", f"{page_policy()}; frame-ancestors 'none'")
        super().end_headers()

    def version_string(self) -> str:
        """Says nothing of the versions that serve."""
        return "mptcplab"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as in the library
        """Writes nothing: the terminal shows the run."""


def question(query: str) -> tuple[str, list[int]]:
    """The state of a reader's page, and how many samples of each line it has.

    Raises:
        ValueError: the query is none of the page's.

    """
    if len(query) > _LONGEST_QUESTION:
        raise ValueError("too long")
    fields = parse_qs(query, keep_blank_values=True, max_num_fields=2)
    (state,), (since,) = fields.get("state", [""]), fields.get("since", [""])
    numbers = [int(one) for one in since.split(",") if one]
    if len(numbers) > MOST_LINES or min(numbers, default=0) < 0:
        raise ValueError("out of range")
    return state, numbers


def is_loopback_name(host: str) -> bool:
    """Whether the name of a server, with or without a port, is one of the loopback's."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False

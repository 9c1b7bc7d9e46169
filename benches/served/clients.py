"""Many agents in one process: TLS over sockets that never block, and requests at given times."""

from __future__ import annotations

import selectors
import socket
import ssl
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

_PIECE_BYTES = 65_536
_GONE = (ConnectionError, ssl.SSLEOFError, ssl.SSLZeroReturnError)
_LONGEST_S = 60.0
"""Without any answer for so long, a run is given up."""


@dataclass(frozen=True)
class Request:
    """A request, and whether its time counts."""

    sent: bytes
    is_put: bool = True


Round = Sequence[Request]
"""Requests of an agent, one after the other."""


@dataclass
class Course:
    """The answers of a run."""

    put_s: list[float] = field(default_factory=list)
    """Time of each PUT until its answer was there, since it was due."""
    statuses: Counter[int] = field(default_factory=Counter)
    took_s: float = 0.0
    processor_s: float = 0.0
    """Of the generator."""


class _Client:
    """An agent's connection."""

    def __init__(self, plain: socket.socket, tls: ssl.SSLContext) -> None:
        self.socket = tls.wrap_socket(plain, do_handshake_on_connect=False)
        self.has_shaken_hands = False
        self.waiting: deque[tuple[float, deque[Request]]] = deque()
        """Rounds by the time when each was due."""
        self.left = memoryview(b"")
        """Of the request that is being sent."""
        self.current: Request | None = None
        self.since = 0.0
        self.received = bytearray()

    def next(self, now: float) -> None:
        """Begins the next request, if there is one."""
        while self.waiting and not self.waiting[0][1]:
            self.waiting.popleft()
        if self.waiting and self.current is None:
            due, requests = self.waiting[0]
            self.current = requests.popleft()
            self.left = memoryview(self.current.sent)
            # Later ones of a round are due when the one before has been answered.
            self.since, self.waiting[0] = due, (now, requests)

    def answered(self, now: float) -> int | None:
        """The status of the answer, once all of it is there."""
        head_ends = self.received.find(b"\r\n\r\n")
        if head_ends < 0:
            return None
        head = bytes(self.received[:head_ends]).lower()
        length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
        if len(self.received) < head_ends + 4 + length:
            return None
        del self.received[: head_ends + 4 + length]
        self.current = None
        if self.waiting:
            self.waiting[0] = (now, self.waiting[0][1])
        return int(head[9:12])


class Clients:
    """Agents, each with a source address of its own, as behind lines of their own."""

    def __init__(self, port: int, count: int, *, is_kept: bool) -> None:
        self._place = ("127.0.0.1", port)
        self._is_kept = is_kept
        """Connections are kept between rounds."""
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        # The server is known by its fingerprint, which costs no more than this.
        self._tls.check_hostname = False
        self._tls.verify_mode = ssl.CERT_NONE
        self._selector = selectors.EpollSelector()
        self._clients: list[_Client | None] = [None] * count
        self._waiting = 0

    @contextmanager
    def opened(self) -> Iterator[Clients]:
        """With all connections, where they are kept; they are closed afterwards."""
        with ExitStack() as stack:
            stack.callback(self._close_all)
            if self._is_kept:
                for number in range(len(self._clients)):
                    client = self._connect(number)
                    client.socket.setblocking(True)
                    client.socket.do_handshake()
                    client.socket.setblocking(False)
                    client.has_shaken_hands = True
            yield self

    def at_times(
        self, times_s: Sequence[float], agents: Sequence[int], made: Callable[[int], Round]
    ) -> Course:
        """Begins a round of an agent at each of these times, and waits for all answers."""
        course = Course()
        due = deque(zip(times_s, agents, strict=True))
        began, processor_began = time.monotonic(), time.process_time()
        last = began
        while due or self._waiting:
            now = time.monotonic()
            while due and began + due[0][0] <= now:
                at, agent = due.popleft()
                self._begin(agent, began + at, made(agent))
            until = began + due[0][0] - now if due else 1.0
            if self._handle(course, max(until, 0.0)):
                last = time.monotonic()
            elif time.monotonic() - last > _LONGEST_S and self._waiting:
                raise RuntimeError(f"no answer for {_LONGEST_S:g} s")
        course.took_s = time.monotonic() - began
        course.processor_s = time.process_time() - processor_began
        return course

    def at_once(
        self, most: int, seconds: float, agents: Sequence[int], made: Callable[[int], Round]
    ) -> Course:
        """Keeps so many agents waiting for an answer, for a time: the most that a server does."""
        course = Course()
        idle = deque(agents)
        began, processor_began = time.monotonic(), time.process_time()
        while (now := time.monotonic()) - began < seconds or self._waiting:
            while self._waiting < most and idle and now - began < seconds:
                agent = idle.popleft()
                self._begin(agent, now, made(agent))
                idle.append(agent)
            self._handle(course, 0.05)
        course.took_s = time.monotonic() - began
        course.processor_s = time.process_time() - processor_began
        return course

    def _begin(self, agent: int, due: float, requests: Round) -> None:
        client = self._clients[agent] or self._connect(agent)
        client.waiting.append((due, deque(requests)))
        self._waiting += 1
        if client.current is None and client.has_shaken_hands:
            client.next(time.monotonic())
            self._send(agent, client)

    def _connect(self, agent: int) -> _Client:
        plain = socket.socket()
        source = f"127.1.{agent // 200}.{agent % 200 + 1}"
        plain.setsockopt(socket.IPPROTO_IP, socket.IP_BIND_ADDRESS_NO_PORT, 1)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        plain.bind((source, 0))
        plain.connect(self._place)
        plain.setblocking(False)
        client = _Client(plain, self._tls)
        self._clients[agent] = client
        self._selector.register(client.socket, selectors.EVENT_READ | selectors.EVENT_WRITE, agent)
        return client

    def _handle(self, course: Course, seconds: float) -> int:
        """Handles what is ready; says how many rounds have ended."""
        before = self._waiting
        for key, events in self._selector.select(seconds):
            agent: int = key.data
            client = self._clients[agent]
            assert client is not None
            if not client.has_shaken_hands:
                self._shake_hands(agent, client)
            elif events & selectors.EVENT_WRITE and client.left:
                self._send(agent, client)
            elif events & selectors.EVENT_READ:
                self._receive(agent, client, course)
        return before - self._waiting

    def _shake_hands(self, agent: int, client: _Client) -> None:
        try:
            client.socket.do_handshake()
        except ssl.SSLWantReadError:
            self._selector.modify(client.socket, selectors.EVENT_READ, agent)
            return
        except ssl.SSLWantWriteError:
            return
        client.has_shaken_hands = True
        client.next(time.monotonic())
        self._send(agent, client)

    def _send(self, agent: int, client: _Client) -> None:
        wanted = selectors.EVENT_READ
        try:
            while client.left:
                client.left = client.left[client.socket.send(client.left[:_PIECE_BYTES]) :]
        except ssl.SSLWantWriteError:
            wanted |= selectors.EVENT_WRITE
        except _GONE:
            self._closed(agent, client)
            return
        if self._selector.get_key(client.socket).events != wanted:
            self._selector.modify(client.socket, wanted, agent)

    def _receive(self, agent: int, client: _Client, course: Course) -> None:
        try:
            while True:
                part = client.socket.recv(_PIECE_BYTES)
                if not part:
                    self._closed(agent, client)
                    return
                client.received += part
        except ssl.SSLWantReadError:
            pass
        except _GONE:
            self._closed(agent, client)
            return
        now = time.monotonic()
        asked = client.current
        status = client.answered(now)
        if status is None:
            return
        course.statuses[status] += 1
        assert asked is not None
        if asked.is_put:
            course.put_s.append(now - client.since)
        if not client.waiting[0][1]:
            client.waiting.popleft()
            self._waiting -= 1
            if not self._is_kept and not client.waiting:
                self._close(agent, client)
                return
        client.next(now)
        self._send(agent, client)

    def _closed(self, agent: int, client: _Client) -> None:
        """Goes on as an agent does: by another connection, where the server has closed this one."""
        if client.received:
            raise RuntimeError("the server has closed a connection within an answer")
        self._close(agent, client)
        if client.waiting:
            again = self._connect(agent)
            again.waiting = client.waiting
            if client.current is not None:
                _, requests = client.waiting[0]
                requests.appendleft(client.current)
                client.waiting[0] = (client.since, requests)

    def _close(self, agent: int, client: _Client) -> None:
        self._selector.unregister(client.socket)
        client.socket.close()
        self._clients[agent] = None

    def _close_all(self) -> None:
        for agent, client in enumerate(self._clients):
            if client is not None:
                self._close(agent, client)
        self._selector.close()

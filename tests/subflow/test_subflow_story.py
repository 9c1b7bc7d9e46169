"""The story that every face of the crate tells in the same words."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from pathlib import Path

from tests.subflow.hosts import Hosts, Server, ip, mptcp
from tests.subflow.inside import inside

from mptcplab import subflow
from mptcplab.subflow import Event, Events, SubflowError

TOLD = Path(__file__).parents[2] / "crates/host/subflow/tests/story/told.txt"
NOBODY = "10.0.2.77"
"""An address of link 2 behind which nobody is, so that nobody answers."""


class Story:
    """A client's doings, and what came of them."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.told: list[str] = []

    def tell(self, what: str, do: Callable[[], object]) -> None:
        try:
            done = do()
        except SubflowError as error:
            done = error.kind
        self.told.append(f"{what}: {'done' if done is None else done}")

    def ids(self) -> None:
        self.tell("ids", lambda: " ".join(map(str, subflow.subflow_ids(self.sock))))

    def tuple(self, number: int) -> None:
        def told() -> str:
            told = subflow.subflow_tuple(self.sock, number)
            ends = f"{told.local.host} {told.remote.host} {told.local_id} {told.remote_id}"
            return f"{ends} {told.state} {_known(told.backup)}"

        self.tell(f"tuple {number}", told)

    def open(
        self,
        local: str,
        remote: str | None = None,
        *,
        backup: bool = False,
        interface: str | None = None,
    ) -> None:
        host, _, port = (remote or "").partition("/")
        there = (host, int(port)) if port else remote
        self.tell(
            f"open {local} {remote or '-'} {int(backup)} {interface or '-'}",
            lambda: subflow.open_subflow(
                self.sock, local, there, backup, interface=interface, timeout=0.3
            ),
        )

    def close(self, number: int) -> None:
        self.tell(f"close {number}", lambda: subflow.close_subflow(self.sock, number))

    def set_backup(self, number: int, backup: bool) -> None:
        what = f"backup {number} {int(backup)}"
        self.tell(what, lambda: subflow.set_backup(self.sock, number, backup))

    def announce(self, local: str) -> None:
        self.tell(f"announce {local}", lambda: subflow.announce(self.sock, local))

    def withdraw(self, number: int) -> None:
        self.tell(f"withdraw {number}", lambda: subflow.withdraw(self.sock, number))

    def tcp_info(self, number: int) -> None:
        """The first byte is the state."""
        question = socket.IPPROTO_TCP, socket.TCP_INFO, 1
        self.tell(
            f"TCP_INFO {number}",
            lambda: subflow.subflow_getsockopt(self.sock, number, *question)[0],
        )

    def ask(self, what: bytes) -> None:
        """Has the server do something."""
        self.sock.sendall(what)

    def echo(self) -> None:
        self.ask(b"x")
        self.tell("echo", lambda: self.sock.recv(1).decode())

    def event(self, events: Events) -> None:
        event = events.next(10)
        assert event is not None
        self.tell("event", lambda: _in_words(event))


def _in_words(event: Event) -> str:
    """Ports differ from run to run."""
    hosts = (event.local and event.local.host, event.remote and event.remote.host)
    ids = event.local_id, event.remote_id, event.backup
    words = (event.subflow, *hosts, *ids, event.reason)
    return " ".join([event.kind, *map(_known, words)])


def _known(value: object) -> str:
    match value:
        case None:
            return "-"
        case bool():
            return str(int(value))
        case _:
            return str(value)


def _serve(server: Server, listener: socket.socket) -> None:
    """Does with its end of the connection what single bytes ask for."""
    client, _ = listener.accept()
    manager, announced = server.manager, 0
    while asked := client.recv(1):
        match asked:
            case b"a":
                announced = manager.announce(client, "10.0.2.1")
            case b"w":
                manager.withdraw(client, announced)
            case b"p":
                subflows = subflow.connection(client).subflows
                (disliked,) = [one.id for one in subflows if one.remote.host == "10.0.2.2"]
                manager.set_backup(client, disliked, True)
            case b"q":
                client.close()
                return
            case _:
                client.sendall(asked)


def stage() -> socket.socket:
    """Two hosts, with a server that waits for the story's client at the listener."""
    hosts = Hosts(3)
    ip(f"neigh add {NOBODY} lladdr 02:00:00:00:00:77 dev eth2")
    listener = hosts.listen()
    threading.Thread(target=_serve, args=(hosts.server, listener)).start()
    return listener


@inside
def test_python_tells_the_story() -> None:
    tell(stage())


def tell(listener: socket.socket) -> None:
    """Tells the story, and compares."""
    sock = mptcp()
    sock.connect(("10.0.1.1", listener.getsockname()[1]))
    story = Story(sock)

    story.echo()
    with subflow.events(sock) as events:
        story.ids()
        story.open("10.0.2.2")
        story.event(events)
        story.open("10.0.3.2", backup=True, interface="eth3")
        story.event(events)
        story.ids()
        story.tuple(2)
        story.tuple(3)
        story.tcp_info(2)
        story.set_backup(3, False)
        story.tuple(3)
        story.set_backup(2, True)
        story.tuple(2)
        story.set_backup(2, False)
        story.ask(b"p")
        story.event(events)
        story.announce("10.0.1.2")
        story.withdraw(3)
        story.withdraw(77)
        story.ask(b"a")
        story.event(events)
        story.open("10.0.2.2", "10.0.2.1")
        story.event(events)
        story.close(4)
        story.event(events)
        story.ask(b"w")
        story.event(events)
        story.close(1)
        story.event(events)
        story.echo()
        story.close(2)
        story.event(events)
        story.echo()
        story.ids()

    story.close(2)
    story.set_backup(99, True)
    story.tuple(99)
    story.tcp_info(99)
    story.open("10.9.9.9")
    story.open("10.0.2.2", interface="wlan7")
    story.open("10.0.2.2", "fd00:2::1")
    story.open("10.0.2.2", "192.0.2.1")
    story.open("10.0.2.2", "10.0.2.1/9")
    story.open("10.0.2.2", NOBODY)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        story.tell("ids of another", lambda: subflow.subflow_ids(datagrams))

    events = subflow.events(sock)
    story.ask(b"q")
    assert sock.recv(1) == b""
    sock.close()
    story.tell("last event", lambda: _in_words(list(events)[-1]))
    assert "\n".join([*story.told, ""]) == TOLD.read_text(encoding="utf-8")

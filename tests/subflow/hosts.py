"""A client and a server with several links, inside of a test's namespaces."""

from __future__ import annotations

import ctypes
import os
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from mptcplab.subflow import Manager

T = TypeVar("T")

BY_ORDERS = """\
if test -e /proc/sys/net/mptcp/path_manager
then echo userspace > /proc/sys/net/mptcp/path_manager
else echo 1 > /proc/sys/net/mptcp/pm_type
fi
"""
"""Lines of a shell in a namespace whose subflows are opened by order only; before Linux 6.15 the
setting had another name."""

_CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


class Server:
    """A network namespace beside that of the process."""

    def __init__(self) -> None:
        self._descriptor = _on_thread(_made)
        # The peer of whoever opens subflows; without it the kernel would reset them.
        self._manager = self.run(Manager.direct)

    def run(self, work: Callable[[], T]) -> T:
        """Does something in the namespace."""

        def entered() -> T:
            _checked(_libc.setns(self._descriptor, _CLONE_NEWNET))
            return work()

        return _on_thread(entered)

    def ip(self, words: str) -> None:
        """Runs `ip` in the namespace."""
        self.run(lambda: ip(words))

    @property
    def manager(self) -> Manager:
        """Gives orders in the namespace."""
        return self._manager

    @property
    def path(self) -> str:
        """The namespace as a file."""
        return f"/proc/{os.getpid()}/fd/{self._descriptor}"


class Hosts:
    """The process's own namespace is the client. On link n it has `eth`n with 10.0.n.2 and
    fd00:n::2, the server 10.0.n.1 and fd00:n::1."""

    def __init__(self, links: int) -> None:
        ip("link set lo up")
        _prepare()
        self.server = Server()
        self.server.ip("link set lo up")
        self.server.run(_prepare)
        for link in range(1, links + 1):
            ip(f"link add eth{link} type veth peer name peer{link}")
            ip(f"link set peer{link} netns {self.server.path}")
            self.server.ip(f"link set peer{link} name eth{link}")
            for run, host in ((ip, 2), (self.server.ip, 1)):
                run(f"addr add 10.0.{link}.{host}/24 dev eth{link}")
                run(f"addr add fd00:{link}::{host}/64 dev eth{link} nodad")
                run(f"link set eth{link} up")
        for own in range(1, links + 1):
            for family, client in (("-4", f"10.0.{own}.2"), ("-6", f"fd00:{own}::2")):
                ip(f"{family} rule add from {client} lookup {100 + own}")
                for other in range(1, links + 1):
                    if other != own:
                        _route(family, own, other)

    def listen(self, six: bool = False) -> socket.socket:
        """A listener on all addresses of the server."""
        return self.server.run(lambda: _listener(six))

    def connect(self, six: bool = False) -> tuple[socket.socket, socket.socket]:
        """Both ends of a connection over link 1, over which a byte has gone each way."""
        # It stays open: subflows join through it.
        self.listener = listener = self.listen(six)
        client = mptcp(six)
        client.connect(("fd00:1::1" if six else "10.0.1.1", listener.getsockname()[1]))
        server, _ = listener.accept()
        for end, other in ((client, server), (server, client)):
            end.sendall(b"x")
            assert other.recv(1) == b"x"
        return client, server


def ip(words: str) -> None:
    """Runs `ip` in the namespace of the calling thread."""
    subprocess.run(["ip", *words.split()], check=True)


def mptcp(six: bool = False) -> socket.socket:
    """An MPTCP socket."""
    family = socket.AF_INET6 if six else socket.AF_INET
    return socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_MPTCP)


def _listener(six: bool) -> socket.socket:
    listener = mptcp(six)
    listener.bind(("", 0))
    listener.listen()
    return listener


def _route(family: str, own: int, other: int) -> None:
    to, via, source = (
        (f"10.0.{other}.1", f"10.0.{own}.1", f"10.0.{own}.2")
        if family == "-4"
        else (f"fd00:{other}::1", f"fd00:{own}::1", f"fd00:{own}::2")
    )
    ip(f"{family} route add {to} via {via} table {100 + own} dev eth{own} src {source}")


def _prepare() -> None:
    def setting(name: str, value: str) -> None:
        Path("/proc/sys/net", name).write_text(value)

    setting("ipv4/conf/all/rp_filter", "0")
    setting("ipv4/conf/default/rp_filter", "0")
    subprocess.run(["sh", "-e", "-c", BY_ORDERS], check=True)
    # The one that every namespace may use.
    setting("ipv4/tcp_congestion_control", "reno")


def _made() -> int:
    _checked(_libc.unshare(_CLONE_NEWNET))
    return os.open("/proc/thread-self/ns/net", os.O_RDONLY)


def _on_thread(work: Callable[[], T]) -> T:
    """Does something on a thread of its own: a namespace is a property of the thread."""
    done: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return done[0]


def _checked(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))

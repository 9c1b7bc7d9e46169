"""The car of the topology `carfi`: a client with three addresses, a server with three.

The client has 10.0.1.6 (eth0, the default), 10.0.2.6 (eth1, WiFi) and 10.0.3.6 (eth2, cellular),
the server 10.0.4.7, 10.0.5.7 and 10.0.6.7; a router joins all six networks. The hosts route by
source address. All of it lives in namespaces of the test's own.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from tests.subflow.hosts import BY_ORDERS

CLIENT = ("10.0.1.6", "10.0.2.6", "10.0.3.6")
SERVER = ("10.0.4.7", "10.0.5.7", "10.0.6.7")
SERVER6 = "fd00:4::7"
CLIENT6 = ("fd00:1::6", "fd00:2::6", "fd00:3::6")
PORT = 64000


class Node:
    """A network namespace, held by a process that waits."""

    def __init__(self, inside: Node | None = None) -> None:
        words = ["unshare", "--net", "cat"]
        if inside is None:
            words = ["unshare", "--user", "--map-root-user", "--net", "cat"]
        self.holder = subprocess.Popen(
            [*(inside.prefix if inside is not None else []), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self.holder.stdin is not None
        assert self.holder.stdout is not None
        self.holder.stdin.write(b"here\n")
        self.holder.stdin.flush()
        # The answer comes from inside.
        assert self.holder.stdout.readline() == b"here\n"

    @property
    def prefix(self) -> list[str]:
        """Words that run a command in it."""
        target = str(self.holder.pid)
        return ["nsenter", "--user", "--net", "--preserve-credentials", "--target", target]

    def run(self, script: str) -> str:
        """Runs shell commands in it."""
        done = subprocess.run(
            [*self.prefix, "sh", "-e", "-c", script], capture_output=True, text=True
        )
        assert done.returncode == 0, (script, done.stderr)
        return done.stdout

    def end(self) -> None:
        """Lets go of it."""
        self.holder.communicate()


class World:
    """The client, the router and the server."""

    def __init__(self, client: Node, router: Node, server: Node) -> None:
        self.client, self.router, self.server = client, router, server
        for node in (client, router, server):
            node.run(
                "ip link set lo up; echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter;"
                "echo 0 > /proc/sys/net/ipv4/conf/default/rp_filter;"
                "echo reno > /proc/sys/net/ipv4/tcp_congestion_control;"
                "echo 1 > /proc/sys/net/mptcp/close_timeout;"
                f"{BY_ORDERS}"
            )
        router.run(
            "echo 1 > /proc/sys/net/ipv4/ip_forward;echo 1 > /proc/sys/net/ipv6/conf/all/forwarding"
        )
        for number in range(3):
            self._join(client, number, number + 1, 6)
            self._join(server, number, number + 4, 7)

    def _join(self, host: Node, number: int, network: int, last: int) -> None:
        """Link `number` of a host, to the router."""
        near, far = f"eth{number}", f"net{network}"
        target = self.router.holder.pid
        host.run(f"ip link add {near} type veth peer name {far} netns {target}")
        self.router.run(
            f"ip addr add 10.0.{network}.1/24 dev {far};"
            f"ip addr add fd00:{network}::1/64 dev {far} nodad; ip link set {far} up"
        )
        self.bring_up(host, number, network, last)

    def bring_up(self, host: Node, number: int, network: int, last: int) -> None:
        """Addresses, routes and rules of a host's interface."""
        near, table = f"eth{number}", 100 + number
        four, six = f"10.0.{network}", f"fd00:{network}:"
        host.run(
            f"ip link set {near} up;"
            f"ip addr replace {four}.{last}/24 dev {near};"
            f"ip addr replace {six}:{last}/64 dev {near} nodad;"
            f"ip route replace default via {four}.1 dev {near} table {table};"
            f"ip -6 route replace default via {six}:1 dev {near} table {table};"
            f"ip rule add from {four}.{last} table {table} 2>/dev/null || true;"
            f"ip -6 rule add from {six}:{last} table {table} 2>/dev/null || true"
        )
        if number == 0:
            host.run(
                f"ip route replace default via {four}.1 dev {near};"
                f"ip -6 route replace default via {six}:1 dev {near}"
            )

    def client_comes(self, number: int) -> None:
        """The client's interface is up again, with its address."""
        self.bring_up(self.client, number, number + 1, 6)

    def client_goes(self, number: int) -> None:
        """The client's interface goes down, and its addresses with it."""
        self.client.run(f"ip addr flush dev eth{number}; ip link set eth{number} down")

    def limit(self, rate: str) -> None:
        """Each of the six networks carries no more than that in each direction."""
        for node, prefix, numbers in (
            (self.router, "net", range(1, 7)),
            (self.client, "eth", range(3)),
        ):
            for number in numbers:
                node.run(
                    f"tc qdisc replace dev {prefix}{number} root tbf rate {rate} "
                    "burst 64kb latency 50ms"
                )


@contextmanager
def world() -> Iterator[World]:
    """A new one."""
    with ExitStack() as stack:
        nodes: list[Node] = []
        for _ in range(3):
            nodes.append(Node(nodes[0] if nodes else None))
            stack.callback(nodes[-1].end)
        yield World(*nodes)

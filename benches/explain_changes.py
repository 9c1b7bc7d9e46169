"""Every single change of a host's settings against which remedies are held, fixed beforehand.

Each is a host's own setting, of those that the simulator has: schedulers with their options,
congestion controls, buffers, path managers, priorities of paths, paths left out, and the path that
a connection begins on. What is not there cannot be won: the network stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Values = Mapping[str, Any]
"""Path in the scenario → value."""
_SCHEDULERS = ("lowest-rtt", "round-robin", "redundant", "blest", "ecf")
_REPAIRS = {"opportunistic_retransmission": True, "penalisation": True}
_CONTROLS = ("cubic", "reno", "lia", "olia", "balia", "wvegas")
_BUFFERS = (1 << 20, 4 << 20, 16 << 20)
_LIMITS = {"limits": {"subflows": 8, "add_addr_accepted": 8}}
_MANAGERS: tuple[Values, ...] = (
    {"path_manager": "fullmesh", **_LIMITS},
    {"path_manager": "signal", **_LIMITS},
    {"path_manager": "subflow-signal", **_LIMITS},
    {"path_manager": {"ndiffports": 2}},
    {"path_manager": {"ndiffports": 4}},
)


def every_change(tree: Mapping[str, Any]) -> Iterator[Values]:
    """The changes of a case, in a fixed order."""
    bulk = tree["traffic"][0]["bulk"]
    sender, receiver = "client", "server"
    if bulk.get("direction", "down") == "down":
        sender, receiver = receiver, sender
    for name in _SCHEDULERS:
        yield {f"hosts.{sender}.mptcp.scheduler": name}
        if name != "redundant":
            yield {f"hosts.{sender}.mptcp.scheduler": {"name": name, **_REPAIRS}}
    for name in _CONTROLS:
        yield {f"hosts.{sender}.congestion_control": name}
    for host, sysctl in ((sender, "net.ipv4.tcp_wmem"), (receiver, "net.ipv4.tcp_rmem")):
        own = tree["hosts"][host].get("sysctls", {})
        for size in _BUFFERS:
            yield {f"hosts.{host}.sysctls": {**own, sysctl: f"4096 {size} {4 * size}"}}
    for manager in _MANAGERS:
        yield {"hosts.client.mptcp": manager}
    paths = list(tree["hosts"]["client"]["interfaces"])
    for path in paths:
        for backup in (True, False):
            yield {f"hosts.client.interfaces.{path}.backup": backup}
        down = {"at": "0 s", "interface": f"client.{path}", "up": False}
        yield {"events": [down, *tree.get("events", ())]}
        yield {"traffic.0.bulk.via": path}

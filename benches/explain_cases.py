"""Scenarios into each of which one cause was put by hand, and healthy ones, drawn by a seed."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

ROOMY = "4096 4194304 67108864"
"""A send or receive buffer that limits none of the cases."""


@dataclass(frozen=True)
class Case:
    """A scenario with the variant `mptcp`."""

    name: str
    cause: str | None
    """Null: healthy."""
    path: str | None
    text: str


def cases(seed: int, number: int) -> list[Case]:
    """So many cases, the kinds in turn."""
    draw = random.Random(seed)
    kinds = list(_KINDS.items())
    found = []
    for index in range(number):
        name, make = kinds[index % len(kinds)]
        cause, path, tree = make(draw)
        tree["title"] = name
        found.append(Case(f"{name}-{index}", cause, path, json.dumps(tree)))
    return found


Made = tuple[str | None, str | None, dict[str, Any]]


def _base(draw: random.Random) -> dict[str, Any]:
    """Two paths that are alike enough for MPTCP to fill both, and buffers that limit nothing."""
    delay_ms = draw.randint(5, 20)
    return {
        "hosts": {
            "client": {
                "interfaces": {"a": {}, "b": {}},
                "sysctls": {"net.ipv4.tcp_rmem": ROOMY},
            },
            "server": {
                "interfaces": {"a": {}, "b": {}},
                "sysctls": {"net.ipv4.tcp_wmem": ROOMY},
            },
        },
        "links": {
            name: {
                "between": [f"client.{name}", f"server.{name}"],
                "rate": f"{draw.randint(8, 30)} Mbit/s",
                "delay": f"{delay_ms + draw.randint(0, 5)} ms",
            }
            for name in ("a", "b")
        },
        "traffic": [{"bulk": {"from": "client", "to": "server", "duration": "8 s"}}],
        "variants": {"mptcp": {"protocol": "mptcp"}},
    }


def _needed_bytes(tree: Mapping[str, Any]) -> int:
    """Σ rate · the longest round trip."""
    links = tree["links"].values()
    rate_mbps = sum(float(link["rate"].split()[0]) for link in links)
    delay_ms = max(float(link["delay"].split()[0]) for link in links)
    return round(rate_mbps * 1e6 / 8 * 2 * delay_ms / 1e3)


def _healthy(draw: random.Random) -> Made:
    return None, None, _base(draw)


def _send_buffer(draw: random.Random) -> Made:
    tree = _base(draw)
    most = round(_needed_bytes(tree) * draw.uniform(0.15, 0.35))
    tree["hosts"]["server"]["sysctls"] = {"net.ipv4.tcp_wmem": f"4096 16384 {most}"}
    return "send_buffer_too_small", None, tree


def _receive_buffer(draw: random.Random) -> Made:
    tree = _base(draw)
    most = round(_needed_bytes(tree) * draw.uniform(0.3, 0.7))
    tree["hosts"]["client"]["sysctls"] = {"net.ipv4.tcp_rmem": f"4096 {most} {most}"}
    return "receive_buffer_too_small", None, tree


def _loss(draw: random.Random) -> Made:
    tree = _base(draw)
    path = draw.choice(("a", "b"))
    tree["links"][path]["loss"] = f"{draw.uniform(1, 4):.1f} %"
    return "loss", path, tree


def _stripped(draw: random.Random) -> Made:
    tree = _base(draw)
    path = draw.choice(("a", "b"))
    tree["links"][path]["middleboxes"] = [{"strip-options": {"options": ["mptcp"], "on": "syn"}}]
    return ("fallback" if path == "a" else "join_refused"), path, tree


def _late(draw: random.Random) -> Made:
    tree = _base(draw)
    tree["hosts"]["client"]["interfaces"]["b"] = {"address_delay": f"{draw.randint(3, 6)} s"}
    tree["events"] = [
        {"at": "0 s", "interface": "client.b", "up": False},
        {"at": "1 ms", "interface": "client.b", "up": True},
    ]
    return "late_subflow", "b", tree


def _backup(draw: random.Random) -> Made:
    tree = _base(draw)
    tree["hosts"]["client"]["interfaces"]["b"] = {"backup": True}
    return "backup", "b", tree


def _application(draw: random.Random) -> Made:
    tree = _base(draw)
    sum_mbps = sum(float(link["rate"].split()[0]) for link in tree["links"].values())
    tree["traffic"][0]["bulk"]["rate"] = f"{sum_mbps * draw.uniform(0.2, 0.5):.1f} Mbit/s"
    return "application_limited", None, tree


def _shared(draw: random.Random) -> Made:
    tree = _base(draw)
    tree["hosts"]["server"]["interfaces"] = {"lan": {}}
    tree["hosts"]["other"] = {"interfaces": {"c": {}}}
    tree["routers"] = {"r": {}}
    for name in ("a", "b"):
        tree["links"][name] |= {"between": [f"client.{name}", f"r.{name}"], "rate": "100 Mbit/s"}
    tree["links"]["c"] = {
        "between": ["other.c", "r.c"], "rate": "100 Mbit/s", "delay": tree["links"]["a"]["delay"]
    }  # fmt: skip
    tree["links"]["trunk"] = {
        "between": ["r.lan", "server.lan"], "rate": f"{draw.randint(10, 30)} Mbit/s",
        "delay": "5 ms",
    }  # fmt: skip
    background = {
        "from": "other", "to": "server", "duration": "8 s", "protocol": "tcp", "name": "other"
    }  # fmt: skip
    tree["traffic"].append({"bulk": background})
    return "uncoupled_at_shared_bottleneck", None, tree


def _bufferbloat(draw: random.Random) -> Made:
    tree = _base(draw)
    path = draw.choice(("a", "b"))
    tree["links"][path]["queue"] = f"{draw.randint(15, 30)} BDP"
    return "bufferbloat", path, tree


def _delay(draw: random.Random) -> Made:
    tree = _base(draw)
    for host in ("client", "server"):
        del tree["hosts"][host]["sysctls"]
    tree["links"]["b"] |= {"rate": "3 Mbit/s", "delay": f"{draw.randint(150, 300)} ms"}
    return "head_of_line_blocking", "b", tree


_KINDS: Mapping[str, Callable[[random.Random], Made]] = {
    "healthy": _healthy,
    "send-buffer": _send_buffer,
    "receive-buffer": _receive_buffer,
    "loss": _loss,
    "stripped": _stripped,
    "late": _late,
    "backup": _backup,
    "application": _application,
    "shared": _shared,
    "bufferbloat": _bufferbloat,
    "delay": _delay,
}

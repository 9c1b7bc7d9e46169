"""Scenarios into each of which a cause or two were put by hand, and healthy ones, by a seed."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

ROOMY = "4096 4194304 67108864"
"""A send or receive buffer that limits none of the cases."""


@dataclass(frozen=True)
class Case:
    """A scenario with the variant `mptcp`."""

    name: str
    causes: Sequence[Cause]
    """Those that were put in; none of a healthy one."""
    text: str


def cases(seed: int, number: int) -> list[Case]:
    """So many cases, the kinds in turn."""
    draw = random.Random(seed)
    kinds = list(_KINDS.items())
    found = []
    for index in range(number):
        name, make = kinds[index % len(kinds)]
        causes, tree = make(draw)
        tree["title"] = name
        found.append(Case(f"{name}-{index}", causes, json.dumps(tree)))
    return found


Cause = tuple[str, str | None]
"""Its name, and the path that it is about."""
Made = tuple[Sequence[Cause], dict[str, Any]]
_DURATION_S = 5
_STRIPPED_JOIN = ({"options": ["mptcp"], "on": "syn"}, {"options": ["mp-join"]})
_FALLBACKS = (
    {"strip-options": {"options": ["mptcp"], "on": "syn"}},
    {"strip-options": {"options": ["mptcp"], "on": "syn-ack"}},
    {"strip-options": {"options": ["dss"], "on": "data"}},
    {"drop-unknown-options": {"on": "syn"}},
    {"coalesce": {"payload": "4 kB"}},
    {"proxy-ack": {"sender": "server.a"}},
)
"""Middleboxes behind which a connection goes on as TCP, on its first path."""


def _base(
    draw: random.Random, paths: Sequence[str] = ("a", "b"), way: str = "down"
) -> dict[str, Any]:
    """Paths that are alike enough for MPTCP to fill them all, and buffers that limit nothing."""
    delay_ms = draw.randint(5, 20)
    hosts: dict[str, dict[str, Any]] = {
        name: {"interfaces": {path: {} for path in paths}, "sysctls": {}}
        for name in ("client", "server")
    }
    sender, receiver = ("server", "client") if way == "down" else ("client", "server")
    hosts[receiver]["sysctls"] = {"net.ipv4.tcp_rmem": ROOMY}
    hosts[sender]["sysctls"] = {"net.ipv4.tcp_wmem": ROOMY}
    bulk = {"from": "client", "to": "server", "duration": f"{_DURATION_S} s", "direction": way}
    return {
        "hosts": hosts,
        "links": {
            name: {
                "between": [f"client.{name}", f"server.{name}"],
                "rate": f"{draw.randint(8, 30)} Mbit/s",
                "delay": f"{delay_ms + draw.randint(0, 5)} ms",
            }
            for name in paths
        },
        "traffic": [{"bulk": bulk}],
        "variants": {"mptcp": {"protocol": "mptcp"}},
    }


def _needed_bytes(tree: Mapping[str, Any]) -> int:
    """Σ rate · the longest round trip."""
    links = tree["links"].values()
    rate_mbps = sum(float(link["rate"].split()[0]) for link in links)
    delay_ms = max(float(link["delay"].split()[0]) for link in links)
    return round(rate_mbps * 1e6 / 8 * 2 * delay_ms / 1e3)


def _healthy(draw: random.Random) -> Made:
    return (), _base(draw)


def _healthy_upload(draw: random.Random) -> Made:
    return (), _base(draw, way="up")


def _healthy_three(draw: random.Random) -> Made:
    return (), _base(draw, ("a", "b", "c"))


def _send_buffer(draw: random.Random) -> Made:
    way = draw.choice(("down", "up"))
    tree = _base(draw, way=way)
    _shrink_send_buffer(draw, tree, "server" if way == "down" else "client")
    return [("send_buffer_too_small", None)], tree


def _shrink_send_buffer(draw: random.Random, tree: dict[str, Any], host: str) -> None:
    most = round(_needed_bytes(tree) * draw.uniform(0.15, 0.35))
    tree["hosts"][host]["sysctls"]["net.ipv4.tcp_wmem"] = f"4096 16384 {most}"


def _receive_buffer(draw: random.Random) -> Made:
    way = draw.choice(("down", "up"))
    tree = _base(draw, way=way)
    _shrink_receive_buffer(draw, tree, "client" if way == "down" else "server")
    return [("receive_buffer_too_small", None)], tree


def _shrink_receive_buffer(draw: random.Random, tree: dict[str, Any], host: str) -> None:
    most = round(_needed_bytes(tree) * draw.uniform(0.3, 0.7))
    tree["hosts"][host]["sysctls"]["net.ipv4.tcp_rmem"] = f"4096 {most} {most}"


def _loss(draw: random.Random) -> Made:
    tree = _base(draw)
    path = draw.choice(("a", "b"))
    tree["links"][path]["loss"] = f"{draw.uniform(1, 4):.1f} %"
    return [("loss", path)], tree


def _loss_in_bursts(draw: random.Random) -> Made:
    tree = _base(draw)
    path = draw.choice(("a", "b"))
    bursts = {"p": f"{draw.uniform(0.3, 1):.2f} %", "r": "30 %", "good": 0, "bad": 1}
    tree["links"][path]["loss"] = {"gilbert-elliott": bursts}
    return [("loss", path)], tree


def _join_stripped(draw: random.Random) -> Made:
    tree = _base(draw)
    tree["links"]["b"]["middleboxes"] = [{"strip-options": draw.choice(_STRIPPED_JOIN)}]
    return [("join_refused", "b")], tree


def _fallback(draw: random.Random) -> Made:
    tree = _base(draw)
    tree["links"]["a"]["middleboxes"] = [draw.choice(_FALLBACKS)]
    return [("fallback", "a")], tree


def _late(draw: random.Random) -> Made:
    tree = _base(draw)
    _delay_address(draw, tree)
    return [("late_subflow", "b")], tree


def _delay_address(draw: random.Random, tree: dict[str, Any]) -> None:
    delay_ms = draw.randint(1500, 4000)
    tree["hosts"]["client"]["interfaces"]["b"] = {"address_delay": f"{delay_ms} ms"}
    tree["events"] = [
        {"at": "0 s", "interface": "client.b", "up": False},
        {"at": "1 ms", "interface": "client.b", "up": True},
    ]


def _backup(draw: random.Random) -> Made:
    tree = _base(draw)
    tree["hosts"]["client"]["interfaces"]["b"] = {"backup": True}
    return [("backup", "b")], tree


def _no_join(draw: random.Random) -> Made:
    tree = _base(draw)
    mptcp = draw.choice(({"path_manager": "default"}, {"limits": {"subflows": 0}}))
    tree["hosts"]["client"]["mptcp"] = mptcp
    return [("no_join", "b")], tree


def _no_route(draw: random.Random) -> Made:
    """The second path leads to a host that is not the server."""
    tree = _base(draw)
    del tree["hosts"]["server"]["interfaces"]["b"]
    tree["hosts"]["elsewhere"] = {"interfaces": {"b": {}}}
    tree["links"]["b"]["between"] = ["client.b", "elsewhere.b"]
    return [("no_join", "b")], tree


def _application(draw: random.Random) -> Made:
    tree = _base(draw)
    sum_mbps = sum(float(link["rate"].split()[0]) for link in tree["links"].values())
    tree["traffic"][0]["bulk"]["rate"] = f"{sum_mbps * draw.uniform(0.2, 0.5):.1f} Mbit/s"
    return [("application_limited", None)], tree


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
    # Shares of a queue take longer to show than what a path alone carries.
    tree["traffic"][0]["bulk"]["duration"] = "8 s"
    background = {
        "from": "other", "to": "server", "duration": "8 s", "protocol": "tcp", "name": "other"
    }  # fmt: skip
    tree["traffic"].append({"bulk": background})
    return [("uncoupled_at_shared_bottleneck", None)], tree


def _bufferbloat(draw: random.Random) -> Made:
    tree = _base(draw)
    path = draw.choice(("a", "b"))
    tree["links"][path]["queue"] = f"{draw.randint(15, 30)} BDP"
    # CUBIC takes some seconds to fill it.
    tree["traffic"][0]["bulk"]["duration"] = "8 s"
    return [("bufferbloat", path)], tree


def _delay(draw: random.Random) -> Made:
    """A path with a long delay, and buffers too small for it: one matter by two names."""
    tree = _base(draw)
    for host in ("client", "server"):
        del tree["hosts"][host]["sysctls"]
    tree["links"]["b"] |= {"rate": "3 Mbit/s", "delay": f"{draw.randint(150, 300)} ms"}
    return [("head_of_line_blocking", "b"), ("send_buffer_too_small", None)], tree


def _loss_and_backup(draw: random.Random) -> Made:
    tree = _base(draw)
    tree["links"]["a"]["loss"] = f"{draw.uniform(1, 3):.1f} %"
    tree["hosts"]["client"]["interfaces"]["b"] = {"backup": True}
    return [("loss", "a"), ("backup", "b")], tree


def _loss_and_late(draw: random.Random) -> Made:
    tree = _base(draw)
    tree["links"]["a"]["loss"] = f"{draw.uniform(1, 3):.1f} %"
    _delay_address(draw, tree)
    return [("loss", "a"), ("late_subflow", "b")], tree


def _both_buffers(draw: random.Random) -> Made:
    """Neither gains anything where the other one stays as it is."""
    tree = _base(draw)
    most = round(_needed_bytes(tree) * draw.uniform(0.3, 0.5))
    tree["hosts"]["client"]["sysctls"]["net.ipv4.tcp_rmem"] = f"4096 {most} {most}"
    tree["hosts"]["server"]["sysctls"]["net.ipv4.tcp_wmem"] = f"4096 16384 {most}"
    return [("send_buffer_too_small", None), ("receive_buffer_too_small", None)], tree


def _buffer_and_loss(draw: random.Random) -> Made:
    tree = _base(draw)
    tree["links"]["b"]["loss"] = f"{draw.uniform(1, 3):.1f} %"
    _shrink_send_buffer(draw, tree, "server")
    return [("send_buffer_too_small", None), ("loss", "b")], tree


_KINDS: Mapping[str, Callable[[random.Random], Made]] = {
    "healthy": _healthy,
    "send-buffer": _send_buffer,
    "healthy-upload": _healthy_upload,
    "receive-buffer": _receive_buffer,
    "healthy-three": _healthy_three,
    "loss": _loss,
    "loss-in-bursts": _loss_in_bursts,
    "join-stripped": _join_stripped,
    "fallback": _fallback,
    "late": _late,
    "backup": _backup,
    "no-join": _no_join,
    "no-route": _no_route,
    "application": _application,
    "shared": _shared,
    "bufferbloat": _bufferbloat,
    "delay": _delay,
    "loss-and-backup": _loss_and_backup,
    "loss-and-late": _loss_and_late,
    "both-buffers": _both_buffers,
    "buffer-and-loss": _buffer_and_loss,
}
KINDS = len(_KINDS)

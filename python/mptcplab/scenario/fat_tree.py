"""The network of a data centre as hosts, routers or switches, and links: the k-ary fat-tree.

k pods of k/2 edge and k/2 aggregation routers, each with k ports, (k/2)² core routers and k³/4
hosts, k/2 at each edge router: Al-Fares, Loukissas and Vahdat, "A Scalable, Commodity Data Center
Network Architecture", SIGCOMM 2008. All routers use all equally short ways; switches do as their
controller says. All links are alike, so
that the network carries whatever the links of its hosts do, if it is spread evenly.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import Field, StrictBool, field_validator

from mptcplab.scenario.fields import Model
from mptcplab.scenario.host import HostSettings
from mptcplab.scenario.link import LinkStart

LARGEST_K = 16
HOST_INTERFACE = "eth"


class FatTree(Model):
    """A k-ary fat-tree, of k³/4 hosts."""

    k: int = Field(description="Ports of each router: an even number")
    link: LinkStart = Field(description="Settings of every link")
    host: HostSettings = Field(HostSettings(), description="Settings of every host")
    switches: StrictBool = Field(
        False, description="OpenFlow switches, which obey the controller, in place of the routers"
    )

    @field_validator("k")
    @classmethod
    def _even(cls, value: int) -> int:
        if value % 2 or not 2 <= value <= LARGEST_K:
            raise ValueError(f"k is an even number from 2 to {LARGEST_K}")
        return value


def nodes_and_links(
    k: int, link: Any, host: Any, *, switches: bool = False
) -> dict[str, dict[str, Any]]:
    """`hosts`, `routers` or `switches`, and `links` of a k-ary fat-tree as a scenario has them.

    Hosts are `h0`, `h1` … from pod to pod, each with the interface `eth`; the links of hosts have
    the names of their hosts. Routers are `edge0-1` and `agg0-1` (pod and number) and `core0` …; the
    links between them have the names of both, the lower first.
    """
    half = k // 2
    inner = [f"core{number}" for number in range(half * half)]
    inner += [
        f"{kind}{pod}-{n}" for pod in range(k) for kind in ("agg", "edge") for n in range(half)
    ]
    return {
        "hosts": {
            f"h{number}": {**(host or {}), "interfaces": {HOST_INTERFACE: {}}}
            for number in range(k * half * half)
        },
        "routers": {} if switches else {name: {"ecmp": True} for name in inner},
        "switches": {name: {} for name in inner} if switches else {},
        "links": {name: {**link, "between": [one, other]} for name, one, other in _links(k)},
    }


def _links(k: int) -> Iterator[tuple[str, str, str]]:
    """Name, lower end and upper end of each link."""
    half = k // 2
    for pod in range(k):
        for edge in range(half):
            lower = f"edge{pod}-{edge}"
            for port in range(half):
                host = f"h{(pod * half + edge) * half + port}"
                yield host, f"{host}.{HOST_INTERFACE}", f"{lower}.{host}"
            for agg in range(half):
                upper = f"agg{pod}-{agg}"
                yield f"{lower}-{upper}", f"{lower}.{upper}", f"{upper}.{lower}"
        for agg in range(half):
            lower = f"agg{pod}-{agg}"
            for port in range(half):
                upper = f"core{agg * half + port}"
                yield f"{lower}-{upper}", f"{lower}.{upper}", f"{upper}.{lower}"

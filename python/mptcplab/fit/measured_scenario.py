"""The scenario of measured paths."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mptcplab.fit.link import link_of
from mptcplab.measure.plan import Direction
from mptcplab.scenario import Scenario, loads

MPTCP = "mptcp"
_NAME = re.compile(r"[a-z][a-z0-9]{0,11}")
_WIDE = {"rate": "10 Gbit/s", "queue": "1000 packets"}
"""A link that all paths share and that none notices: it takes whole windows at once."""


@dataclass(frozen=True)
class LinkEstimate:
    """A path as a link."""

    interface: str
    rate_mbps: float
    """That over which TCP alone takes as long as was measured: of a path that loses packets what it
    lets through."""
    delay_ms: float
    """One way: half of the idle round trip."""
    queue_bytes: int | None
    """The queue that stood under load; null where no load was measured."""

    def to_json(self) -> dict[str, Any]:
        """As in `mptcplab probe --explain --json`."""
        return {
            "interface": self.interface,
            "rate_mbps": self.rate_mbps,
            "delay_ms": self.delay_ms,
            "queue_bytes": self.queue_bytes,
        }


def variant_of(place: int) -> str:
    """The variant of TCP over the link at this place alone."""
    return f"tcp-{place + 1}"


def scenario_of(
    links: Sequence[LinkEstimate],
    direction: Direction,
    size_bytes: int,
    shared_mbps: float | None,
    congestion_control: str | None,
) -> Scenario:
    """A scenario of a client with a link a path and a server behind all of them.

    Its variants are MPTCP, TCP over each link, and TCP over all at once. What measurements do not
    tell is as on hosts that were not tuned.

    Raises:
        ScenarioError: an estimate is none that a scenario takes.

    """
    names = _names(links)
    control = {} if congestion_control is None else {"congestion_control": congestion_control}
    shared = _WIDE if shared_mbps is None else {"rate": f"{shared_mbps:.5g} Mbit/s"}
    tree = {
        "name": "measured",
        "hosts": {
            "client": {"interfaces": {name: {} for name in names}, **control},
            "server": {"interfaces": {"net": {}}, **control},
        },
        "routers": {"core": {}},
        "links": {
            **{name: link_of(name, "core", one) for name, one in zip(names, links, strict=True)},
            "shared": {"between": ["core.net", "server.net"], **shared},
        },
        "traffic": [_transfer(direction, size_bytes)],
        "variants": {
            MPTCP: {"protocol": "mptcp"},
            **{
                variant_of(place): {"protocol": "tcp", "via": name}
                for place, name in enumerate(names)
            },
            "tcp-at-once": {"protocol": "tcp", "via": list(names)},
        },
    }
    return loads(json.dumps(tree), "the fitted scenario")


def _names(links: Sequence[LinkEstimate]) -> list[str]:
    """Names in the scenario: those of the interfaces, where they can be."""
    names = [one.interface for one in links]
    is_usable = len(set(names)) == len(names) and all(_NAME.fullmatch(name) for name in names)
    taken = {"shared", "net"} & set(names)
    return names if is_usable and not taken else [f"p{place}" for place in range(len(links))]


def _transfer(direction: Direction, size_bytes: int) -> dict[str, Any]:
    ends = {"from": "client", "to": "server", "size": f"{size_bytes} B"}
    if direction is Direction.DOWN:
        return {"http": ends}
    return {"bulk": {**ends, "direction": "up"}}

"""The scenario of estimated paths."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from mptcplab.fit.link import link_of
from mptcplab.fit.paths import PathEstimate
from mptcplab.scenario import Scenario, loads
from mptcplab.trace.accounts import WINDOW, Account

VARIANT = "mptcp"
LONGEST_S = 20.0
"""Of a longer connection so much is simulated, lest trials take long."""
_NOTICEABLE = 0.05
"""Part of the time that a closed window takes for the receive buffer to be set."""
_MEMORY_PER_WINDOW = 2304 / 1416
"""Memory that a full segment takes in Linux, over its payload with a mapping of data: of a socket
over the window that it grants."""
_ENDED = ("data_fin", "fin")


def scenario_of(
    paths: Sequence[PathEstimate], of: Account, first_window_bytes: int | None
) -> Scenario:
    """A scenario of two hosts and a link a path, whose only traffic is the connection's data.

    `first_window_bytes` is the window that the data's sender had at the beginning, where known.
    What packets do not tell is as on a host that was not tuned.

    Raises:
        ScenarioError: an estimate is none that a scenario takes, as a rate of nothing.

    """
    way = "down" if of.sender == "server" else "up"
    tree = {
        "name": "fitted",
        "hosts": {
            name: _host(name, paths, of, first_window_bytes) for name in ("client", "server")
        },
        "links": {path.name: _link(path, way) for path in paths},
        "traffic": [{"bulk": {"from": "client", "to": "server", "direction": way, **_size(of)}}],
        "variants": {VARIANT: {"protocol": "mptcp"}},
        "events": [
            event
            for path in paths
            if path.joined_after_s is not None
            for event in (
                {"at": "0 s", "interface": f"client.{path.name}", "up": False},
                {"at": "1 ms", "interface": f"client.{path.name}", "up": True},
            )
        ],
    }
    return loads(json.dumps(tree), "the fitted scenario")


def _host(
    name: str, paths: Sequence[PathEstimate], of: Account, first_window_bytes: int | None
) -> dict[str, Any]:
    host: dict[str, Any] = {"interfaces": {one.name: _interface(name, one) for one in paths}}
    is_receiver = name != of.sender
    if is_receiver and of.share(WINDOW) >= _NOTICEABLE:
        window_bytes = of.row[f"{of.sender}_window_max_bytes"]
        most = round(_MEMORY_PER_WINDOW * window_bytes)
        # Data that is not in order takes a part of it for a while.
        is_grown = first_window_bytes is not None and 2 * first_window_bytes < window_bytes
        first = round(_MEMORY_PER_WINDOW * (first_window_bytes or 0)) if is_grown else most
        host["sysctls"] = {"net.ipv4.tcp_rmem": f"4096 {first} {most}"}
    return host


def _interface(host: str, path: PathEstimate) -> dict[str, Any]:
    interface: dict[str, Any] = {"family": "ipv6"} if ":" in path.client_address else {}
    if host == "client" and path.backup:
        interface["backup"] = True
    if host == "client" and path.joined_after_s is not None:
        interface["address_delay"] = f"{path.joined_after_s:.3f} s"
    return interface


def _link(path: PathEstimate, way: str) -> dict[str, Any]:
    link = link_of(path.name, "server", path)
    if path.loss:
        link[way] = {"loss": f"{100 * path.loss:.4f} %"}
    return link


def _size(of: Account) -> dict[str, Any]:
    """The size of what was sent, or its duration where it was longer, or did not end."""
    if of.row["end"] in _ENDED and of.duration_s <= LONGEST_S:
        return {"size": f"{of.row[f'{of.sender}_bytes']} B"}
    return {"duration": f"{min(of.duration_s, LONGEST_S):.3f} s"}

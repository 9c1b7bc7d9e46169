"""The short forms of a scenario, written out: a topology, patterns of hosts, drawn servers.

Done on the plain tree before anything else reads it, so that the rest sees hosts, links and lists.
What is not well-formed is left for the validation of its own key.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, Field, ValidationError

from mptcplab.scenario.drawn import Draw, servers
from mptcplab.scenario.fat_tree import FatTree, nodes_and_links
from mptcplab.scenario.fields import Model

_KINDS = ("hosts", "routers", "switches", "links")
_Read = TypeVar("_Read", bound=BaseModel)


class Topology(Model):
    """A network that is made by a rule."""

    fat_tree: FatTree = Field(alias="fat-tree")


def expanded(tree: Any) -> Any:
    """The scenario's tree with every host, router, switch, link, client and server in full."""
    if not isinstance(tree, dict):
        return tree
    full = _with_topology(tree) if "topology" in tree else tree
    traffic, hosts = full.get("traffic"), full.get("hosts")
    if not isinstance(traffic, list) or not isinstance(hosts, dict):
        return full
    return {**full, "traffic": [_in_full(item, list(hosts)) for item in traffic]}


def _with_topology(tree: dict[str, Any]) -> dict[str, Any]:
    """Adds the topology's nodes and links; what the scenario says of one of them wins."""
    given = tree["topology"]
    if _read(Topology, given) is None:
        # Its own mistake is told; nodes and links of some kind keep others from being told of them.
        made = nodes_and_links(2, {}, {})
    else:
        asked = given["fat-tree"]
        switches = asked.get("switches", False)
        made = nodes_and_links(asked["k"], asked["link"], asked.get("host"), switches=switches)
    full = dict(tree)
    for kind in _KINDS:
        own = tree.get(kind, {})
        if isinstance(own, dict) and (own or made[kind]):
            full[kind] = {**made[kind], **own}
            for name in own.keys() & made[kind].keys():
                if isinstance(own[name], dict):
                    full[kind][name] = {**made[kind][name], **own[name]}
    return full


def _in_full(item: Any, hosts: Sequence[str]) -> Any:
    """An entry of the traffic with the clients that a pattern means, and the servers drawn."""
    if not isinstance(item, dict):
        return item
    return {kind: _body_in_full(body, hosts) for kind, body in item.items()}


def _body_in_full(body: Any, hosts: Sequence[str]) -> Any:
    if not isinstance(body, dict):
        return body
    full = dict(body)
    pattern = body.get("from")
    if isinstance(pattern, str) and "*" in pattern:
        full["from"] = fnmatch.filter(hosts, pattern) or pattern
    clients = full.get("from")
    draw = _read(Draw, body["to"]) if isinstance(body.get("to"), dict) else None
    if draw is not None and isinstance(clients, list) and len(clients) > 1:
        full["to"] = servers(draw, clients)
    return full


def _read(model: type[_Read], value: Any) -> _Read | None:
    try:
        return model.model_validate(value)
    except ValidationError:
        return None

"""Middleboxes of the plan."""

from __future__ import annotations

from typing import Any

from mptcplab.scenario.link import Link
from mptcplab.scenario.middlebox import (
    Box,
    Chance,
    Coalesce,
    DropUnknownOptions,
    Nat,
    OneWay,
    ProxyAck,
    Split,
    StripOptions,
)
from mptcplab.scenario.network import Network, free_addresses

Json = dict[str, Any]
_DIRECTIONS = {"up": 0, "down": 1, None: None}


def compile_middleboxes(name: str, link: Link, network: Network) -> list[Json]:
    """What stands in a link."""
    free = free_addresses(network, name)
    given = {str(box.box.address) for box in link.middleboxes if isinstance(box.box, Nat)}
    return [
        {
            "kind": middlebox.field,
            **_settings(link, middlebox.box),
            **(_outer(middlebox.box, free, given) if isinstance(middlebox.box, Nat) else {}),
        }
        for middlebox in link.middleboxes
    ]


def _outer(nat: Nat, free: Any, given: set[str]) -> Json:
    """Its outer address: as given, or the next that nobody has."""
    if nat.address is not None:
        return {"address": str(nat.address)}
    return {"address": next(str(address) for address in free if str(address) not in given)}


def _settings(link: Link, box: Box) -> Json:
    made: Json = {"direction": _DIRECTIONS[box.direction]} if isinstance(box, OneWay) else {}
    match box:
        case Nat():
            made["inside"] = link.between.index(box.inside)
        case ProxyAck():
            made["sender"] = link.between.index(box.sender)
        case StripOptions():
            made |= {"kinds": box.kinds, "mptcp_subtypes": box.subtypes, "on": _segments(box.on)}
        case DropUnknownOptions():
            made["on"] = _segments(box.on)
        case Split():
            made["payload_bytes"] = box.payload
        case Coalesce():
            made |= {"payload_bytes": box.payload, "hold_ns": box.hold}
        case Chance():
            made["probability"] = box.probability
    return made


def _segments(kind: str) -> str:
    return kind.replace("-", "_")

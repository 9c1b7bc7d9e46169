"""Middleboxes of the plan."""

from __future__ import annotations

from collections.abc import Iterator

from mptcplab.plan import middlebox as plan
from mptcplab.scenario import middlebox as scenario
from mptcplab.scenario.link import Link
from mptcplab.scenario.network import IpAddress, Network, free_addresses

_DIRECTIONS = {"up": 0, "down": 1, None: None}
_SEGMENTS: dict[scenario.Segments, plan.SegmentKind] = {
    "syn": "syn",
    "syn-ack": "syn_ack",
    "ack": "ack",
    "data": "data",
    "all": "all",
}


def compile_middleboxes(name: str, link: Link, network: Network) -> tuple[plan.Middlebox, ...]:
    """Middleboxes of a link."""
    nats = [one.nat for one in link.middleboxes if one.nat is not None]
    given = {nat.address for nat in nats}
    free = (address for address in free_addresses(network, name) if address not in given)
    return tuple(_middlebox(link, one, free) for one in link.middleboxes)


def _middlebox(
    link: Link, middlebox: scenario.Middlebox, free: Iterator[IpAddress]
) -> plan.Middlebox:
    """One of them; a NAT without an address of its own takes the next of `free`."""
    match middlebox.box:
        case scenario.Nat() as box:
            inside = link.between.index(box.inside)
            return plan.Nat(inside=inside, address=box.address or next(free))
        case scenario.ProxyAck() as box:
            return plan.ProxyAck(sender=link.between.index(box.sender))
        case box:
            return _one_way(middlebox, box, _DIRECTIONS[box.direction])


def _one_way(
    middlebox: scenario.Middlebox, box: scenario.OneWay, direction: int | None
) -> plan.Middlebox:
    match box:
        case scenario.StripOptions():
            return plan.StripOptions(
                direction=direction,
                kinds=tuple(box.kinds),
                mptcp_subtypes=tuple(box.subtypes),
                on=_SEGMENTS[box.on],
            )
        case scenario.DropUnknownOptions():
            return plan.DropUnknownOptions(direction=direction, on=_SEGMENTS[box.on])
        case scenario.DropSynData():
            return plan.DropSynData(direction=direction, segment=box.segment)
        case scenario.Split():
            return plan.Split(direction=direction, payload_bytes=box.payload)
        case scenario.Coalesce():
            return plan.Coalesce(direction=direction, payload_bytes=box.payload, hold_ns=box.hold)
        case scenario.Chance(probability=probability):
            kind = plan.ChangePayload if middlebox.change_payload is not None else plan.Corrupt
            return kind(direction=direction, probability=probability)
    raise AssertionError(f"no middlebox {box}")

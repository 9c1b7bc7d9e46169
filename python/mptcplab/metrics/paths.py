"""Figures by path. A path is named by the client's interface.

The payload of a path is what the client's subflows over that interface carried, as the client's
kernel counts it: received for downloads, acknowledged for uploads. Interface counters would add
headers, acknowledgements, retransmissions and other traffic, so that the parts would not compare
with the goodput; they serve for the course of the throughput over time instead.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from mptcplab.metrics.plan_view import PlanView
from mptcplab.metrics.rows import Row, grouped, total
from mptcplab.metrics.totals import SubflowTotals
from mptcplab.metrics.transfers import goodput_mbps, rate_mbps


@dataclass(frozen=True)
class PathFigures:
    """Traffic of one interface of one client."""

    client: str
    interface: str
    goodput_mbps: float | None
    """The client's goodput, in proportion to the payload of its paths: the paths sum up to it."""
    share: float
    """Part of the client's payload that went this way, 0 to 1."""
    payload_bytes: int
    """Payload at the level of subflows; data sent over two paths counts on both."""
    carried_mbps: float | None
    """That payload over the time of the client's goodput."""


def path_figures(
    transfers: Sequence[Row], totals: Sequence[SubflowTotals], plan: PlanView
) -> tuple[PathFigures, ...]:
    """The paths of every client, in the order of the plan."""
    figures: list[PathFigures] = []
    for (client,), own in grouped(transfers, "client").items():
        by_interface = _alone(own, plan) or _payload(client, {row["way"] for row in own}, totals)
        payload = sum(by_interface.values())
        if payload == 0:
            continue
        goodput = goodput_mbps(own)
        figures += [
            PathFigures(
                client=client,
                interface=interface,
                goodput_mbps=None if goodput is None else goodput * payload_bytes / payload,
                share=payload_bytes / payload,
                payload_bytes=payload_bytes,
                carried_mbps=rate_mbps(payload_bytes, own),
            )
            for interface, payload_bytes in by_interface.items()
        ]
    return tuple(sorted(figures, key=lambda path: plan.place(path.client, path.interface)))


def _alone(transfers: Sequence[Row], plan: PlanView) -> dict[str, int] | None:
    """All that went over the path that was measured alone; null where none was, or by a plan."""
    measured = plan.measured
    if measured is None or measured.path is None:
        return None
    return {measured.path: total(transfers, "bytes")}


def _payload(client: str, ways: set[str], totals: Sequence[SubflowTotals]) -> dict[str, int]:
    """Payload of a client's subflows by interface."""
    carried: dict[str, int] = {}
    for one in totals:
        if one.node == client and one.interface is not None:
            down = one.bytes_received or 0 if "down" in ways else 0
            up = one.bytes_acked or 0 if "up" in ways else 0
            carried[one.interface] = carried.get(one.interface, 0) + down + up
    return carried

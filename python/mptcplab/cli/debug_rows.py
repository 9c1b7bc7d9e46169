"""State as rows of tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mptcplab.debugger import Session


def subflow_rows(connections: Sequence[Any]) -> list[dict[str, Any]]:
    """A row for each subflow, from the end that sends the data."""
    rows = []
    for connection in connections:
        end = connection and connection[connection["sender"]]
        for place, subflow in enumerate(end["subflows"] if end else []):
            rows.append(
                {
                    "connection": connection["number"],
                    "traffic": connection["traffic"],
                    "sender": connection["sender"],
                    "subflow": place,
                    "id": subflow["id"],
                    "local": subflow["local"],
                    "remote": subflow["remote"],
                    "state": subflow["state"],
                    **{name: subflow[name] for name in _FIGURES},
                }
            )
    return rows


_FIGURES = (
    "congestion_state", "cwnd_bytes", "ssthresh_bytes", "srtt_ns", "in_flight_bytes",
    "unsent_bytes", "retransmissions",
)  # fmt: skip
SUBFLOW = (
    "connection", "subflow", "local", "state", "cwnd_bytes", "ssthresh_bytes", "srtt_ns",
    "in_flight_bytes",
)  # fmt: skip
LINK = (
    "link", "from_interface", "to_interface", "queued_packets", "queued_bytes",
    "in_flight_packets", "delivered_packets", "lost_packets", "dropped_queue_packets",
)  # fmt: skip


def link_rows(links: dict[str, Any]) -> list[dict[str, Any]]:
    """A row for each direction of each link."""
    return [
        {"link": name, **{key: value for key, value in direction.items() if key != "packets"}}
        for name, link in links.items()
        for direction in link["directions"]
    ]


def packets(session: Session, name: str) -> list[tuple[int, Any]]:
    """The packets in a link, each with its direction."""
    directions = session.links[name].directions
    return [(n, packet) for n, one in enumerate(directions) for packet in one.packets]


def packet_row(one: tuple[int, Any]) -> dict[str, Any]:
    """A row for a packet in a link."""
    direction, packet = one
    return {"direction": direction, **vars(packet)}

"""The state of a world that stands still. Offsets count from the begin of a connection.

Names end in their unit; a value that is not there, or not yet, is null.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mptcplab.debugger.problem import DebugError


@dataclass(frozen=True)
class Subflow:
    """A subflow at one end; a plain TCP connection has one, of id 0.

    `snd_una`, `snd_nxt` and `rcv_nxt` count from the SYN, which has 0: the first byte has 1.
    """

    id: int
    """Counts all that were opened, from 0; never used again."""
    state: str
    """As RFC 9293 names it."""
    stage: str
    """`opening`, `pre-established`, `established` or `closing`."""
    initiated_here: bool
    backup: bool | None
    local: str
    remote: str
    local_id: int | None
    remote_id: int | None
    congestion_control: str
    congestion_state: str
    """`Open`, `CWR`, `Recovery` or `Loss`, as in Linux."""
    cwnd_bytes: int
    ssthresh_bytes: int | None
    mss_bytes: int
    srtt_ns: int
    rttvar_ns: int
    min_rtt_ns: int | None
    rto_ns: int
    in_flight_bytes: int
    unacked_segments: int
    lost_segments: int
    """Taken to be lost, and not sent again yet."""
    sacked_segments: int
    unsent_bytes: int
    snd_isn: int
    """Initial sequence number of this end."""
    snd_una: int
    snd_nxt: int
    snd_wnd_bytes: int
    """Window of the peer."""
    rcv_isn: int
    rcv_nxt: int
    rcv_wnd_bytes: int
    """Window that was last advertised."""
    ready_bytes: int
    reassembly_bytes: int
    """Came before what precedes it in the subflow."""
    snd_buf_bytes: int
    rcv_buf_bytes: int
    bytes_sent: int
    bytes_acked: int
    bytes_received: int
    bytes_retransmitted: int
    retransmissions: int
    timeouts: int
    delivery_rate_bps: int | None
    pacing_rate_bps: int | None
    timers_ns: Mapping[str, int]
    """Name → when it fires, of those that run."""


@dataclass(frozen=True)
class End:
    """One end of a connection. `snd_una` and the like count the bytes of its data from 0.

    They, and the buffers, are null for TCP, whose only subflow has them.
    """

    node: str
    protocol: str
    """`mptcp`, or `tcp`: after a fallback too."""
    fallback: bool
    token: int | None
    local: str
    remote: str
    snd_una: int | None
    snd_nxt: int | None
    """The first byte that no subflow was given yet."""
    write_seq: int | None
    """The end of what the application has written."""
    snd_wnd_end: int | None
    """The end of the peer's window."""
    rcv_nxt: int | None
    rcv_wnd_bytes: int | None
    reassembly_bytes: int | None
    """Data that waits for data before it, from another subflow."""
    ready_bytes: int
    """Data in order that the application has not read."""
    send_queue_bytes: int
    """Written and not acknowledged."""
    snd_buf_bytes: int | None
    rcv_buf_bytes: int | None
    bytes_sent: int | None
    bytes_acked: int | None
    bytes_received: int | None
    bytes_reinjected: int | None
    retransmission_timer_ns: int | None
    """When the connection's own timer sends data again, if it runs."""
    scheduler: str | None
    """The scheduler with its state."""
    subflows: tuple[Subflow, ...]
    """Those that there are, in the order in which they were opened."""

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> End:
        """Reads what the simulator tells."""
        subflows = tuple(Subflow(**one) for one in told["subflows"])
        return cls(**{**told, "subflows": subflows})


@dataclass(frozen=True)
class Connection:
    """A connection. It has the fields of `End`, too: those of the end that sends the data."""

    number: int
    """In the order of opening."""
    traffic: str
    opened_ns: int
    sender: str
    """`client` or `server`; of data both ways the client."""
    client: End | None
    """Null once it has gone."""
    server: End | None
    """Null before it is accepted, and once it has gone."""

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> Connection:
        """Reads what the simulator tells."""
        ends = {one: told[one] and End.read(told[one]) for one in ("client", "server")}
        return cls(**{**told, **ends})

    @property
    def end(self) -> End:
        """The end that sends the data.

        Raises:
            DebugError: it is not there.

        """
        end = self.client if self.sender == "client" else self.server
        if end is None:
            raise DebugError(f"connection {self.number} has no end at its {self.sender} now")
        return end

    @property
    def subflows(self) -> tuple[Subflow, ...]:
        """Those of the sender."""
        return self.end.subflows

    def __getattr__(self, name: str) -> Any:
        if name in End.__dataclass_fields__:
            return getattr(self.end, name)
        raise AttributeError(f"a connection has no {name!r}")


@dataclass(frozen=True)
class LinkPacket:
    """A packet in a link."""

    place: str
    """`propagating`, `sending` or `queued`."""
    at_ns: int
    """When it arrives, has been sent, or came into the queue."""
    ip_bytes: int
    packet: str
    """In one line."""


@dataclass(frozen=True)
class Direction:
    """A direction of a link: 0 from its first end to the second, 1 back."""

    from_interface: str
    to_interface: str
    rate_bps: int | None
    queued_packets: int
    queued_bytes: int
    in_flight_packets: int
    """In serialisation, or on their way."""
    offered_packets: int
    delivered_packets: int
    lost_packets: int
    dropped_queue_packets: int
    dropped_down_packets: int
    packets: tuple[LinkPacket, ...]
    """First those that arrive first."""


@dataclass(frozen=True)
class Link:
    """A link."""

    name: str
    directions: tuple[Direction, ...]

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> Link:
        """Reads what the simulator tells."""
        return cls(told["name"], tuple(map(_direction, told["directions"])))


@dataclass(frozen=True)
class Route:
    """An entry of a routing table."""

    table: str
    """`main`, or the interface from whose addresses it is for."""
    to: str
    interfaces: tuple[str, ...]
    """Equally good ones."""


@dataclass(frozen=True)
class Host:
    """A host, a router or a switch."""

    name: str
    waiting_packets: int
    """Have come, and are not handled yet."""
    open_connections: int
    addresses: tuple[str, ...]
    routes: tuple[Route, ...]

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> Host:
        """Reads what the simulator tells."""
        routes = tuple(
            Route(one["table"], one["to"], tuple(one["interfaces"])) for one in told["routes"]
        )
        return cls(**{**told, "routes": routes, "addresses": tuple(told["addresses"])})


def _direction(told: Mapping[str, Any]) -> Direction:
    return Direction(**{**told, "packets": tuple(map(_packet, told["packets"]))})


def _packet(told: Mapping[str, Any]) -> LinkPacket:
    at_ns = next(told[key] for key in ("arrives_ns", "sent_ns", "since_ns") if key in told)
    return LinkPacket(told["place"], at_ns, told["ip_bytes"], told["packet"])

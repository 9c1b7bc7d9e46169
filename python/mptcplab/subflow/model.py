"""The kernel's state of a connection and its subflows."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any, NamedTuple, Self


class Address(NamedTuple):
    """An address and a port, as sockets take and give them."""

    host: str
    port: int

    @property
    def ip(self) -> IPv4Address | IPv6Address:
        """The address without the port."""
        return ip_address(self.host)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads `10.0.1.2:80` or `[fd00::1]:80`."""
        host, _, port = text.rpartition(":")
        return cls(host.strip("[]"), int(port))


@dataclass(frozen=True)
class SubflowTuple:
    """A subflow's addresses, and what it is in its connection. What is not known is `None`."""

    local: Address
    remote: Address
    local_id: int | None
    """Id of the local address."""
    remote_id: int | None
    """Id of the remote address."""
    state: str | None
    """State of TCP by its name in RFC 9293."""
    backup: bool | None
    """It is a backup, for one of the two ends."""

    @classmethod
    def of(cls, told: dict[str, Any]) -> Self:
        """From JSON."""
        ends = {name: Address.parse(told[name]) for name in ("local", "remote")}
        return cls(**(told | ends))


@dataclass(frozen=True)
class TcpInfo:
    """The kernel's state of one subflow (`struct tcp_info`); unknown fields are `None`."""

    state: str | None
    """State by its name in RFC 9293."""
    bytes_sent: int | None
    """Payload sent, retransmissions included."""
    bytes_acked: int | None
    """Payload acknowledged by the peer."""
    bytes_received: int | None
    """Payload received in order."""
    bytes_retrans: int | None
    """Payload sent again."""
    segs_out: int | None
    """Segments sent."""
    segs_in: int | None
    """Segments received."""
    retrans: int | None
    """Segments sent again."""
    rtt_us: int | None
    """Smoothed round-trip time, microseconds."""
    rttvar_us: int | None
    """Mean deviation of the round-trip time, microseconds."""
    min_rtt_us: int | None
    """Smallest recent round-trip time, microseconds."""
    cwnd: int | None
    """Congestion window, segments."""
    ssthresh: int | None
    """Slow-start threshold, segments; `None` while there is none."""
    unacked: int | None
    """Segments in flight."""
    delivery_rate_bps: int | None
    """Most recent delivery rate, bit/s."""
    pacing_rate_bps: int | None
    """Pacing rate, bit/s; `None` while unlimited."""
    snd_wnd: int | None
    """Receive window announced by the peer, bytes."""
    rcv_space: int | None
    """Receive buffer in use, bytes."""
    reord_seen: int | None
    """Reordering events seen by the sender."""
    dsack_dups: int | None
    """Duplicates that the receiver reported (DSACK)."""
    rto_us: int | None
    """Retransmission timeout, microseconds."""


@dataclass(frozen=True)
class MptcpInfo:
    """The kernel's state of a connection (`struct mptcp_info`); unknown fields are `None`."""

    token: int | None
    """Token of this end."""
    subflows: int | None
    """Additional subflows, as the kernel counts them: also those whose SYN has no answer yet."""
    subflows_total: int | None
    """Subflows, the initial one included where it lives."""
    add_addr_signal: int | None
    """Addresses announced."""
    add_addr_accepted: int | None
    """Announced addresses accepted."""
    fallback: bool | None
    """The connection has become plain TCP."""
    write_seq: int | None
    """Next data sequence number to be written."""
    snd_una: int | None
    """Oldest data sequence number not yet acknowledged."""
    rcv_nxt: int | None
    """Next data sequence number expected."""
    bytes_sent: int | None
    """Payload sent, reinjections excluded."""
    bytes_received: int | None
    """Payload received in order."""
    bytes_acked: int | None
    """Payload acknowledged at the level of the connection."""
    bytes_retrans: int | None
    """Payload sent again on another subflow (reinjected)."""
    retransmits: int | None
    """Timeouts at the level of the connection."""
    checksum: bool | None
    """Data checksums are in use."""


@dataclass(frozen=True)
class Subflow:
    """A subflow of one's own connection."""

    id: int
    """Its id, never given again in the connection."""
    local: Address
    remote: Address
    info: TcpInfo
    """Its state and counters."""

    @classmethod
    def of(cls, told: dict[str, Any]) -> Self:
        """From JSON."""
        local, remote = (Address.parse(told[name]) for name in ("local", "remote"))
        return cls(told["id"], local, remote, TcpInfo(**told["info"]))


@dataclass(frozen=True)
class Connection:
    """A connection and its subflows."""

    info: MptcpInfo
    """The connection's counters."""
    token: int
    """Its token on this host."""
    subflows: tuple[Subflow, ...]
    """In the order of their ids; those that are being opened or closed, too."""

    @classmethod
    def of(cls, told: dict[str, Any]) -> Self:
        """From JSON."""
        subflows = tuple(Subflow.of(each) for each in told["subflows"])
        return cls(MptcpInfo(**told["info"]), told["token"], subflows)

"""The schema of every table of a recording: the one source of truth for names, types and units."""

from dataclasses import dataclass
from functools import cached_property

import polars as pl

INTEGER = pl.Int64()
"""Counts, sizes and times; signed, so that differences of counters never wrap."""
SEQUENCE = pl.UInt64()
"""What fills 64 bits: data sequence numbers, and rates whose "unlimited" is the largest value."""
TEXT = pl.String()
FLAG = pl.Boolean()

ColumnType = pl.Int64 | pl.UInt64 | pl.String | pl.Boolean


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    name: str
    type: ColumnType
    unit: str
    """Unit of the values; empty where there is none."""
    meaning: str


@dataclass(frozen=True)
class Table:
    """One table of a recording."""

    name: str
    row: str
    """What one row stands for."""
    columns: tuple[Column, ...]

    @cached_property
    def schema(self) -> pl.Schema:
        """The table's polars schema, columns in order."""
        return pl.Schema({column.name: column.type for column in self.columns})


def _time(name: str, meaning: str) -> Column:
    return Column(name, INTEGER, "ns", meaning)


def _text(name: str, meaning: str) -> Column:
    return Column(name, TEXT, "", meaning)


def _flag(name: str, meaning: str) -> Column:
    return Column(name, FLAG, "", meaning)


def _count(name: str, meaning: str) -> Column:
    return Column(name, INTEGER, "", meaning)


def _bytes(name: str, meaning: str) -> Column:
    return Column(name, INTEGER, "B", meaning)


def _rate(name: str, meaning: str) -> Column:
    return Column(name, SEQUENCE, "bit/s", meaning)


def _microseconds(name: str, meaning: str) -> Column:
    return Column(name, INTEGER, "µs", meaning)


_TRAFFIC = _text("traffic", "name of the traffic item")
_WAY = _text("way", "`up` from the client to the server, or `down`")
_TOKEN = _count("token", "token of the connection at this end; null for TCP")
_FINAL = _flag("final", "read just before the socket was closed")
_SAMPLED = _time("t_ns", "time of the sample")
_NODE = _text("node", "name of the host or router")

TRANSFERS = Table(
    "transfers",
    "one connection of a traffic item, from start to end",
    (
        _TRAFFIC,
        _text("kind", "`bulk`, `http`, `ftp` or `request_response`"),
        _count("index", "which download or stream of the item"),
        _text("client", "node that connects"),
        _text("server", "node that accepts"),
        _WAY,
        _text("protocol", "protocol that was asked for, `tcp` or `mptcp`"),
        _flag("fallback", "MPTCP was asked for, TCP was spoken"),
        _count("token", "token of the client's side; null for TCP"),
        _text("source", "address:port of the client"),
        _text("target", "address:port of the server, as connected"),
        _time("start_ns", "start, before the connection is opened"),
        _time("connected_ns", "end of the handshake at the client"),
        _time("first_byte_ns", "first byte at the receiver"),
        _time("end_ns", "last byte at the receiver"),
        _bytes("bytes", "payload delivered to the receiving application"),
        _count("joins", "additional subflows established over its life"),
        _time("longest_silence_ns", "longest time between two deliveries at the receiver"),
        _time("longest_silence_at_ns", "start of the longest silence"),
        _text("error", "null, or the sentence that says what went wrong"),
    ),
)

DELIVERIES = Table(
    "deliveries",
    "what the receiver of a transfer got in one bin of 10 ms; empty bins have no row",
    (
        _TRAFFIC,
        _count("index", "which download or stream of the item"),
        _WAY,
        _time("t_ns", "start of the bin"),
        _bytes("bytes", "payload delivered in the bin"),
    ),
)

SUBFLOW_SAMPLES = Table(
    "subflow_samples",
    "one subflow at one time, as one end's kernel sees it; a plain TCP connection is one subflow",
    (
        _SAMPLED,
        _NODE,
        _TOKEN,
        _text("subflow", "address pair, local first: `10.0.1.2:40000-10.0.9.2:5001`"),
        _text("interface", "interface of the local address; null if it is gone"),
        _text("state", "state of the connection by its RFC 9293 name"),
        _flag("backup", "the subflow is a backup"),
        _count("local_id", "address identifier of this end"),
        _count("remote_id", "address identifier of the other end"),
        _FINAL,
        _bytes("bytes_sent", "payload sent, retransmissions included"),
        _bytes("bytes_acked", "payload acknowledged by the other end"),
        _bytes("bytes_received", "payload received in order"),
        _bytes("bytes_retrans", "payload retransmitted"),
        _count("segs_out", "segments sent"),
        _count("segs_in", "segments received"),
        _count("retrans", "segments retransmitted"),
        _microseconds("rtt_us", "smoothed round-trip time"),
        _microseconds("rttvar_us", "mean deviation of the round-trip time"),
        _microseconds("min_rtt_us", "least round-trip time"),
        Column("cwnd", INTEGER, "segments", "congestion window"),
        Column("ssthresh", INTEGER, "segments", "slow-start threshold"),
        Column("unacked", INTEGER, "segments", "segments in flight"),
        _rate("delivery_rate_bps", "the kernel's estimate of the delivery rate"),
        _rate("pacing_rate_bps", "pacing rate"),
        _bytes("snd_wnd", "window that the other end offers"),
        _bytes("rcv_space", "the kernel's estimate of the receive buffer needed"),
        _text("congestion_control", "congestion control algorithm"),
        _count("reord_seen", "reordering events seen"),
        _count("dsack_dups", "duplicates reported by the other end"),
        _microseconds("rto_us", "retransmission timeout"),
    ),
)

CONNECTION_SAMPLES = Table(
    "connection_samples",
    "one MPTCP connection at one time, from MPTCP_INFO",
    (
        _SAMPLED,
        _NODE,
        _TOKEN,
        _count("subflows", "additional subflows, as the kernel counts them"),
        _count("subflows_total", "all subflows"),
        _count("add_addr_signal", "addresses announced"),
        _count("add_addr_accepted", "announced addresses accepted"),
        _flag("fallback", "the connection fell back to TCP"),
        Column("write_seq", SEQUENCE, "", "next data sequence number to be written"),
        Column("snd_una", SEQUENCE, "", "first data sequence number not yet acknowledged"),
        Column("rcv_nxt", SEQUENCE, "", "next data sequence number expected"),
        _bytes("bytes_sent", "payload sent"),
        _bytes("bytes_received", "payload received"),
        _bytes("bytes_acked", "payload acknowledged"),
        _bytes("bytes_retrans", "payload reinjected: sent again on another subflow"),
        _count("retransmits", "retransmission timeouts of the connection"),
        _flag("checksum", "DSS checksums are in use"),
        _FINAL,
    ),
)

INTERFACE_SAMPLES = Table(
    "interface_samples",
    "one interface's counters",
    (
        _SAMPLED,
        _NODE,
        _text("interface", "name of the interface"),
        _bytes("rx_bytes", "received"),
        _bytes("tx_bytes", "sent"),
        _count("rx_packets", "packets received"),
        _count("tx_packets", "packets sent"),
        _count("rx_dropped", "received packets dropped"),
        _count("tx_dropped", "packets to be sent that were dropped"),
        _flag("up", "the interface is up and has a carrier"),
    ),
)

LINK_SAMPLES = Table(
    "link_samples",
    "one direction of one link",
    (
        _SAMPLED,
        _text("link", "name of the link"),
        _text("from", "`node.interface` that sends into this direction"),
        _text("to", "`node.interface` that receives from it"),
        _rate("rate_bps", "rate; null if unlimited or a trace"),
        _count("queued_packets", "packets in the queue"),
        _bytes("queued_bytes", "bytes in the queue"),
        _count("in_flight_packets", "packets under way: no longer queued, not yet delivered"),
        _count("offered_packets", "packets offered"),
        _bytes("offered_bytes", "bytes offered"),
        _count("delivered_packets", "packets delivered"),
        _bytes("delivered_bytes", "bytes delivered"),
        _count("dropped_queue", "packets dropped because the queue was full"),
        _count("dropped_aqm", "packets dropped by the queue discipline"),
        _count("dropped_loss", "packets lost at random"),
        _count("dropped_down", "packets dropped because the link was down"),
        _count("duplicated", "packets duplicated"),
        _count("reordered", "packets held back for reordering"),
        _count("overruns", "packets that the emulator itself lost"),
    ),
)

LATENCIES = Table(
    "latencies",
    "one echo or request and its answer",
    (
        _TRAFFIC,
        _text("kind", "`ping` or `request_response`"),
        _count("sequence", "number of the request"),
        _time("t_ns", "when it was sent"),
        _time("rtt_ns", "time until the answer; null if it was lost"),
    ),
)

COUNTERS = Table(
    "counters",
    "one counter of one node over the run",
    (
        _NODE,
        _text("name", "`MPTcpExtMPJoinSynAckRx`, `TcpExtTCPTimeouts`, …"),
        _count("value", "value after the run less the value before"),
    ),
)

EVENTS = Table(
    "events",
    "something that happened",
    (
        _time("t_ns", "when"),
        _text(
            "kind",
            "`link`, `interface`, `backup`, `address` or `traffic`",
        ),
        _text("subject", "what it happened to"),
        _text("label", "the event in words"),
    ),
)

OUTPUTS = Table(
    "outputs",
    "a line of a command's output",
    (
        _TRAFFIC,
        _NODE,
        _text("stream", "`stdout` or `stderr`"),
        _time("t_ns", "when it was written"),
        _text("text", "the line"),
    ),
)

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        TRANSFERS,
        DELIVERIES,
        SUBFLOW_SAMPLES,
        CONNECTION_SAMPLES,
        INTERFACE_SAMPLES,
        LINK_SAMPLES,
        LATENCIES,
        COUNTERS,
        EVENTS,
        OUTPUTS,
    )
}
"""All tables by name, in the order of ``docs/recording.md``."""

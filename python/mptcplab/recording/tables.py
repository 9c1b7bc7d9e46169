"""The schema of every table of a recording: the one source of truth for names, types and units."""

from mptcplab.tables.schema import (
    Table,
    count,
    flag,
    microseconds,
    new,
    rate,
    segments,
    size,
    text,
    time,
    wide,
)

_TRAFFIC = text("traffic", "name of the flow")
_WAY = text("way", "`up` from the client to the server, or `down`")
_TOKEN = count("token", "token of the connection at this end; null for TCP")
_FINAL = flag("final", "read just before the socket was closed")
_SAMPLED = time("t_ns", "time of the sample")
_NODE = text("node", "name of the host or router")

TRANSFERS = Table(
    "transfers",
    "one connection of a flow, from start to end",
    (
        _TRAFFIC,
        text("kind", "`bulk`, `http`, `ftp`, `request_response` or `stream`"),
        count("index", "which download or stream of the flow"),
        text("client", "node that connects"),
        text("server", "node that accepts"),
        _WAY,
        text("protocol", "protocol that was asked for, `tcp` or `mptcp`"),
        flag("fallback", "MPTCP was asked for, TCP was spoken"),
        count("token", "token of the client's side; null for TCP"),
        text("source", "address:port of the client"),
        text("target", "address:port of the server, as connected"),
        time("start_ns", "start, before the connection is opened"),
        time("connected_ns", "end of the handshake at the client"),
        time("first_byte_ns", "first byte at the receiver"),
        time("end_ns", "last byte at the receiver"),
        size("bytes", "payload delivered to the receiving application"),
        count("joins", "additional subflows established over its life"),
        time("longest_silence_ns", "longest time between two deliveries at the receiver"),
        time("longest_silence_at_ns", "start of the longest silence"),
        text("error", "null, or the sentence that says what went wrong"),
    ),
    keys=("traffic", "kind", "index", "client", "server", "way", "protocol"),
)

DELIVERIES = Table(
    "deliveries",
    "what the receiver of a transfer got in one bin of 10 ms; empty bins have no row",
    (
        _TRAFFIC,
        count("index", "which download or stream of the flow"),
        _WAY,
        time("t_ns", "start of the bin"),
        size("bytes", "payload delivered in the bin"),
    ),
    keys=("traffic", "index", "way", "t_ns", "bytes"),
)

JOINS = Table(
    "joins",
    "one additional subflow of a transfer's connection, as it was established",
    (
        _TRAFFIC,
        count("index", "which download or stream of the flow"),
        _WAY,
        count("number", "which additional subflow of the connection, from 1"),
        time("t_ns", "when it was established"),
    ),
    keys=("traffic", "index", "way", "number", "t_ns"),
    is_new=True,
)

_TCP_COUNTERS = (
    size("bytes_sent", "payload sent, retransmissions included"),
    size("bytes_acked", "payload acknowledged by the other end"),
    size("bytes_received", "payload received in order"),
    size("bytes_retrans", "payload retransmitted"),
    count("segs_out", "segments sent"),
    count("segs_in", "segments received"),
    count("retrans", "segments retransmitted"),
    microseconds("rtt_us", "smoothed round-trip time"),
    microseconds("rttvar_us", "mean deviation of the round-trip time"),
    microseconds("min_rtt_us", "least round-trip time"),
    segments("cwnd", "congestion window"),
    segments("ssthresh", "slow-start threshold"),
    segments("unacked", "segments in flight"),
    rate("delivery_rate_bps", "the kernel's estimate of the delivery rate"),
    rate("pacing_rate_bps", "pacing rate"),
    size("snd_wnd", "window that the other end offers"),
    size("rcv_space", "the kernel's estimate of the receive buffer needed"),
)

_BUFFERS = tuple(
    new(column)
    for column in (
        size("snd_buf", "memory that the send buffer holds at most"),
        size("snd_queued", "memory of what was written and not acknowledged"),
        size("rcv_buf", "memory that the receive buffer holds at most"),
    )
)

SUBFLOW_SAMPLES = Table(
    "subflow_samples",
    "one subflow at one time, as one end's kernel sees it; a plain TCP connection is one subflow",
    (
        _SAMPLED,
        _NODE,
        _TOKEN,
        text("subflow", "address pair, local first: `10.0.1.2:40000-10.0.9.2:5001`"),
        text("interface", "interface of the local address; null if it is gone"),
        text("state", "state of the connection by its RFC 9293 name"),
        flag("backup", "the subflow is a backup"),
        count("local_id", "address identifier of this end"),
        count("remote_id", "address identifier of the other end"),
        _FINAL,
        *_TCP_COUNTERS,
        text("congestion_control", "congestion control algorithm"),
        count("reord_seen", "reordering events seen"),
        count("dsack_dups", "duplicates reported by the other end"),
        microseconds("rto_us", "retransmission timeout"),
        new(microseconds("busy_us", "time in which data was not acknowledged or not sent")),
        new(microseconds("rwnd_limited_us", "of it, time in which the peer's window was full")),
        new(microseconds("sndbuf_limited_us", "of it, time in which the send buffer was full")),
        new(size("notsent_bytes", "payload handed over and not sent")),
        *_BUFFERS,
    ),
    keys=("t_ns", "node", "subflow"),
)

CONNECTION_SAMPLES = Table(
    "connection_samples",
    "one MPTCP connection at one time, from MPTCP_INFO",
    (
        _SAMPLED,
        _NODE,
        _TOKEN,
        count("subflows", "additional subflows, as the kernel counts them"),
        count("subflows_total", "all subflows"),
        count("add_addr_signal", "addresses announced"),
        count("add_addr_accepted", "announced addresses accepted"),
        flag("fallback", "the connection fell back to TCP"),
        wide("write_seq", "next data sequence number to be written"),
        wide("snd_una", "first data sequence number not yet acknowledged"),
        wide("rcv_nxt", "next data sequence number expected"),
        size("bytes_sent", "payload sent"),
        size("bytes_received", "payload received"),
        size("bytes_acked", "payload acknowledged"),
        size("bytes_retrans", "payload reinjected: sent again on another subflow"),
        count("retransmits", "retransmission timeouts of the connection"),
        flag("checksum", "DSS checksums are in use"),
        _FINAL,
        *_BUFFERS,
    ),
)

INTERFACE_SAMPLES = Table(
    "interface_samples",
    "one interface's counters",
    (
        _SAMPLED,
        _NODE,
        text("interface", "name of the interface"),
        size("rx_bytes", "received"),
        size("tx_bytes", "sent"),
        count("rx_packets", "packets received"),
        count("tx_packets", "packets sent"),
        count("rx_dropped", "received packets dropped"),
        count("tx_dropped", "packets to be sent that were dropped"),
        flag("up", "the interface is up and has a carrier"),
    ),
    keys=("t_ns", "node", "interface"),
)

LINK_SAMPLES = Table(
    "link_samples",
    "one direction of one link",
    (
        _SAMPLED,
        text("link", "name of the link"),
        text("from", "`node.interface` that sends into this direction"),
        text("to", "`node.interface` that receives from it"),
        rate("rate_bps", "rate; null if unlimited or a trace"),
        count("queued_packets", "packets in the queue"),
        size("queued_bytes", "bytes in the queue"),
        count("in_flight_packets", "packets under way: no longer queued, not yet delivered"),
        count("offered_packets", "packets offered"),
        size("offered_bytes", "bytes offered"),
        count("delivered_packets", "packets delivered"),
        size("delivered_bytes", "bytes delivered"),
        count("dropped_queue", "packets dropped because the queue was full"),
        count("dropped_aqm", "packets dropped by the queue discipline"),
        count("dropped_loss", "packets lost at random"),
        count("dropped_down", "packets dropped because the link was down"),
        count("duplicated", "packets duplicated"),
        count("reordered", "packets held back for reordering"),
        count("overruns", "packets that the emulator itself lost"),
    ),
    keys=("t_ns", "link", "from", "to"),
)

LATENCIES = Table(
    "latencies",
    "one echo or request and its answer",
    (
        _TRAFFIC,
        text("kind", "`ping` or `request_response`"),
        count("sequence", "number of the request"),
        time("t_ns", "when it was sent; null between real hosts"),
        time("rtt_ns", "time until the answer; null if it was lost"),
    ),
    keys=("traffic", "kind", "sequence"),
)

FRAMES = Table(
    "frames",
    "one frame of a stream that the receiver has whole",
    (
        _TRAFFIC,
        _WAY,
        count("sequence", "number of the frame"),
        time("t_ns", "when it was made"),
        time("delay_ns", "time until its last byte was delivered"),
    ),
    keys=("traffic", "way", "sequence", "t_ns", "delay_ns"),
    is_new=True,
)

COUNTERS = Table(
    "counters",
    "one counter of one node over the run",
    (
        _NODE,
        text("name", "`MPTcpExtMPJoinSynAckRx`, `TcpExtTCPTimeouts`, …"),
        count("value", "value after the run less the value before"),
    ),
    keys=("node", "name"),
)

EVENTS = Table(
    "events",
    "something that happened",
    (
        time("t_ns", "when"),
        text(
            "kind",
            "`link`, `interface`, `backup`, `address` or `traffic`",
        ),
        text("subject", "what it happened to"),
        text("label", "the event in words"),
    ),
)

_COMMANDS = text(
    "traffic", "name of the flow; `controller`: the program of the switches' controller"
)
_WHERE = text("node", "name of the host; `controller`: the namespace of that program")

OUTPUTS = Table(
    "outputs",
    "a line of a command's output",
    (
        _COMMANDS,
        _WHERE,
        text("stream", "`stdout` or `stderr`"),
        time("t_ns", "when it was written"),
        text("text", "the line"),
    ),
    keys=("traffic", "node", "t_ns"),
)

PROGRAMS = Table(
    "programs",
    "one run of a command's program, at one end",
    (
        _COMMANDS,
        _WHERE,
        text("side", "`client`, `server` for the command that serves it, or `controller`"),
        text("command", "program and arguments, as run"),
        time("start_ns", "when it was started"),
        time("end_ns", "when it had ended"),
        text(
            "ended",
            "`itself`; `duration`, its time was over; `stopped`, it was no longer needed or the "
            "run ended; `failed`, it could not be run",
        ),
        count("status", "its exit status; null where it did not exit by itself"),
        count("signal", "number of the signal that killed it"),
        text("error", "null, or why it could not be run"),
    ),
    keys=("traffic", "node", "side", "start_ns", "end_ns", "ended"),
    is_new=True,
)

SOCKETS = Table(
    "sockets",
    "one TCP socket of a command's programs over its life, a subflow being one, as one end's "
    "kernel accounts for it",
    (
        _TRAFFIC,
        _NODE,
        _TOKEN,
        text("subflow", "address pair, local first: `10.0.1.2:40000-10.0.9.2:5001`"),
        text("interface", "interface of the local address; null if it has none"),
        time(
            "start_ns",
            "when the program called connect(2); null at the accepting end and for joined subflows",
        ),
        time("first_ns", "when it was first heard of"),
        time("end_ns", "when the kernel destroyed it; null if it lived on"),
        time("last_received_ns", "when payload came last, to the kernel's tick"),
        time("last_acked_ns", "when an acknowledgement came last, to the kernel's tick"),
        text("state", "state at the last reading"),
        *_TCP_COUNTERS,
        count("reord_seen", "reordering events seen"),
        count("dsack_dups", "duplicates reported by the other end"),
        microseconds("rto_us", "retransmission timeout"),
    ),
    keys=("traffic", "node", "subflow", "first_ns"),
    is_new=True,
)

FLOW_ENTRIES = Table(
    "flow_entries",
    "one flow entry of a switch over its life in the run",
    (
        text("switch", "name of the switch"),
        count("table_id", "number of its table"),
        count("priority", "its priority"),
        text("match", "the fields that packets must have, in words; empty: every packet"),
        text("instructions", "its instructions, in words; empty: packets are dropped"),
        time("start_ns", "when it was added; null before the run"),
        time("end_ns", "when it was removed; null if it was there at the end"),
        text(
            "ended",
            "`idle_timeout`, `hard_timeout`, `delete`, `group_delete`, or `replaced` by another "
            "one of the same match and priority; null if it was there at the end",
        ),
        count("packets", "packets that it matched, until its end or that of the run"),
        size("bytes", "bytes of them"),
    ),
    keys=("switch", "table_id", "priority", "packets", "bytes"),
    is_new=True,
)

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        TRANSFERS,
        DELIVERIES,
        JOINS,
        SUBFLOW_SAMPLES,
        CONNECTION_SAMPLES,
        INTERFACE_SAMPLES,
        LINK_SAMPLES,
        LATENCIES,
        FRAMES,
        COUNTERS,
        EVENTS,
        OUTPUTS,
        PROGRAMS,
        SOCKETS,
        FLOW_ENTRIES,
    )
}
"""All tables by name, in the order of ``docs/recording.md``."""

MEASURED = ("transfers", "subflow_samples", "latencies")
"""Those that a recording of real hosts has; the others are empty."""

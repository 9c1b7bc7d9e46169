"""The schema of every table of an analysis: the one source of truth for names, kinds and units."""

from mptcplab.tables.schema import (
    Table,
    count,
    duration,
    flag,
    number,
    of_each_end,
    size,
    text,
    time,
    wide,
)

_CONNECTION = count("connection", "number of the connection, from 0 in the order of first packets")
_SUBFLOW = count("subflow", "number of the subflow in its connection, from 0 likewise")
_FROM = text("from", "the end that sent it: `client` or `server`")
_FRAME = count("frame", "number of the frame in its file, from 1, as Wireshark shows it")
_ENDPOINTS = (
    text("client_address", "address of the client"),
    count("client_port", "port of the client"),
    text("server_address", "address of the server"),
    count("server_port", "port of the server"),
)

CONNECTIONS = Table(
    "connections",
    "one connection, of MPTCP or of plain TCP; columns that begin with `client_` or `server_` are "
    "about what this end sent",
    (
        _CONNECTION,
        text("protocol", "`mptcp` or `tcp`: what both ends agreed on, even if it fell back later"),
        count("version", "version of MPTCP: 0 (RFC 6824) or 1 (RFC 8684)", optional=True),
        *_ENDPOINTS,
        count("client_token", "token of the client: what the server's joins name", optional=True),
        count("server_token", "token of the server: what the client's joins name", optional=True),
        wide("client_key", "key of the client", optional=True),
        wide("server_key", "key of the server", optional=True),
        wide("client_idsn", "initial data sequence number of the client", optional=True),
        wide("server_idsn", "initial data sequence number of the server", optional=True),
        flag("checksums", "data checksums were agreed on", optional=True),
        flag("inferred", "the handshake was not captured: known from later packets"),
        time("start_ns", "first packet"),
        time("end_ns", "last packet"),
        text(
            "end",
            "how it ended: `data_fin` (acknowledged, of both ends), `fin`, `fast_close`, `reset`; "
            "`open`: not in this capture",
        ),
        text(
            "fallback", "why it is TCP though MPTCP was asked for; null if it is not", optional=True
        ),
        time("fallback_ns", "when it fell back", optional=True),
        count("subflows", "how many subflows it had"),
        count("packets", "packets of all subflows"),
        count("duplicates", "packets that another interface had seen before; nothing is counted"),
        *of_each_end(
            (
                size("bytes", "distinct bytes of data"),
                size("unmapped_bytes", "payload without a captured mapping; not in `bytes`"),
                count("packets", "packets"),
                size("payload_bytes", "payload, with all that was sent more than once"),
                size("reinjected_bytes", "payload that another subflow had carried before"),
                size("reinjected_won_bytes", "of these, acknowledged before the original was"),
                size("late_bytes", "new data below the highest data sequence number seen"),
                size("late_max_bytes", "largest distance below it"),
                duration("data_rtt_min_ns", "shortest data-level round trip", optional=True),
                duration("data_rtt_mean_ns", "mean data-level round trip", optional=True),
                duration("data_rtt_max_ns", "longest data-level round trip", optional=True),
                count("data_rtt_samples", "how many data-level round trips were measured"),
                size("window_min_bytes", "least window granted to it", optional=True),
                size("window_max_bytes", "largest window granted to it", optional=True),
                duration("window_limited_ns", "time in which this window left no full segment"),
                time("data_fin_ns", "DATA_FIN sent", optional=True),
                time("data_fin_acknowledged_ns", "DATA_FIN acknowledged", optional=True),
                time("first_data_ns", "first byte of data", optional=True),
                time("last_data_ns", "last new byte of data", optional=True),
                duration("silence_ns", "longest time without new data", optional=True),
                time("silence_at_ns", "start of the longest silence", optional=True),
                duration(
                    "recovery_ns",
                    "longest part of a silence with data unacknowledged, above a second",
                    optional=True,
                ),
                time("recovery_at_ns", "start of that", optional=True),
                count("checksums_verified", "data checksums that were verified (`--checksums`)"),
                count("checksums_wrong", "of these, wrong ones"),
                count("moves", "how often most of its new data moved to another subflow"),
            )
        ),
    ),
)

SUBFLOWS = Table(
    "subflows",
    "one subflow; a plain TCP connection is one subflow. Columns that begin with `client_` or "
    "`server_` are about what this end sent; the client is that of the connection",
    (
        _CONNECTION,
        _SUBFLOW,
        text("origin", "`initial` or `join`"),
        text("opener", "end that opened it: `client` or `server`"),
        flag("announced", "the address that it was opened to had been announced by ADD_ADDR"),
        flag("inferred", "its handshake was not captured: attached by later packets"),
        *_ENDPOINTS,
        count("client_address_id", "address identifier of the client's end", optional=True),
        count("server_address_id", "address identifier of the server's end", optional=True),
        flag("client_backup", "the client's last word: a backup", optional=True),
        flag("server_backup", "the server's last word: a backup", optional=True),
        count("priority_changes", "MP_PRIO options"),
        flag("hmac_valid", "HMACs of the join right; null: not seen or no keys", optional=True),
        time("start_ns", "first packet"),
        time("established_ns", "handshake complete", optional=True),
        duration("handshake_rtt_ns", "round trip of the handshake", optional=True),
        time("end_ns", "last packet"),
        text("end", "how it ended: `fin`, `reset`, `fast_close`, `silent` or `open`"),
        count("reset_reason", "reason of MP_TCPRST (RFC 8684, section 3.6)", optional=True),
        *of_each_end(
            (
                count("mss", "maximum segment size in its SYN", optional=True),
                count("window_shift", "window scale in its SYN", optional=True),
                count("packets", "packets, as captured"),
                count("wire_packets", "packets, one above the MTU as those that it stands for"),
                size("payload_bytes", "payload, retransmissions included"),
                size("bytes", "distinct bytes of the subflow"),
                number(
                    "share",
                    "",
                    "part of its end's payload in the connection, 0 to 1",
                    optional=True,
                ),
                count("retransmissions", "packets with data, SYN or FIN sent again"),
                count("retransmitted_packets", "the same, counted as `wire_packets`"),
                size(
                    "retransmitted_bytes",
                    "payload sent again on the subflow; `payload_bytes` is `bytes` + this − "
                    "`retransmitted_unseen_bytes` + `probe_bytes`",
                ),
                size("retransmitted_unseen_bytes", "of it, first copies that were not captured"),
                size("probe_bytes", "payload of keep-alives and window probes, sent before"),
                count("fast_retransmissions", "sent again as the receiver reported later data"),
                count("timeout_retransmissions", "sent again as time ran out"),
                count("spurious_retransmissions", "not needed, according to D-SACK (RFC 2883)"),
                count("out_of_order", "new data below what was sent: reordered before the capture"),
                count("keep_alives", "keep-alive probes"),
                count("window_probes", "data beyond a closed window"),
                count("sack_blocks", "SACK blocks about its data"),
                count("dsack_blocks", "D-SACK blocks about its data"),
                count("duplicate_acknowledgements", "duplicate acknowledgements of its data"),
                count("zero_windows", "packets that granted it a closed window"),
                count("ecn_marked", "packets marked CE"),
                count("rtt_samples", "round trips of its data"),
                duration("rtt_min_ns", "shortest round trip", optional=True),
                duration("rtt_mean_ns", "mean round trip", optional=True),
                duration("rtt_max_ns", "longest round trip", optional=True),
                duration("rtt_deviation_ns", "standard deviation of the trips", optional=True),
                size("in_flight_max_bytes", "most bytes of data unacknowledged"),
                size("pipe_max_bytes", "the largest pipe (RFC 6675)"),
                size("window_max_bytes", "largest window that it granted", optional=True),
                duration(
                    "idle_max_ns", "longest time between two packets with data", optional=True
                ),
                time("idle_at_ns", "start of that time", optional=True),
                time("first_data_ns", "first byte of data", optional=True),
                time("last_data_ns", "last byte of data", optional=True),
                size("reinjected_bytes", "payload that another subflow had carried before"),
            )
        ),
    ),
)

ADDRESSES = Table(
    "addresses",
    "what one address of one end sent in a connection",
    (
        _CONNECTION,
        text("address", "the address"),
        text("end", "whose address it is: `client` or `server`"),
        count("packets", "packets"),
        size("bytes", "bytes from the IP header on"),
        number("share", "", "part of the connection's packets from that end, 0 to 1"),
        time("first_ns", "first packet"),
        time("last_ns", "last packet"),
        number("packets_per_ms", "1/ms", "packets over the time from first to last", optional=True),
        number("burst_packets_per_ms", "1/ms", "the same over the fullest 100 ms, by 5 ms steps"),
        time("burst_start_ns", "start of these 100 ms"),
    ),
)

SAMPLES = Table(
    "samples",
    "one direction of one subflow in 100 ms, counted from the Unix epoch; bins without a packet "
    "have no row",
    (
        _CONNECTION,
        _SUBFLOW,
        _FROM,
        time("t_ns", "start of the bin"),
        count("packets", "packets"),
        size("payload_bytes", "payload"),
        size("new_bytes", "of it, not sent on this subflow before"),
        count("retransmissions", "packets sent again"),
        duration("rtt_min_ns", "shortest round trip that ended in the bin", optional=True),
        duration("rtt_mean_ns", "mean round trip", optional=True),
        duration("rtt_max_ns", "longest round trip", optional=True),
        size("in_flight_bytes", "unacknowledged, last of the bin"),
        size("window_bytes", "window granted to it, last of the bin", optional=True),
        size("new_data_bytes", "payload that no subflow of the connection had carried before"),
        size("reinjected_bytes", "payload that another subflow had carried before"),
    ),
)

EVENTS = Table(
    "events",
    "one thing that happened to a connection",
    (
        _CONNECTION,
        count("subflow", "subflow that it is about", optional=True),
        text("from", "whose doing it is: `client` or `server`", optional=True),
        time("t_ns", "when"),
        _FRAME,
        text("kind", "what it is, one of [these words](#events)"),
        text("text", "the same as a sentence, with every field of the option"),
    ),
)

PACKETS = Table(
    "packets",
    "one packet of a connection",
    (
        _CONNECTION,
        _SUBFLOW,
        _FROM,
        time("t_ns", "when it was captured"),
        _FRAME,
        count("interface", "number of the interface, from 0 over all files"),
        text("flags", "letters of `CEUAPRSF` that are set"),
        text(
            "kind",
            "`acknowledgement`, `new`, `fast_retransmission`, `timeout_retransmission`, "
            "`out_of_order`, `keep_alive`, `window_probe`, `not_acceptable` (its receiver ignores "
            "it) or `duplicate`",
        ),
        count(
            "sequence",
            "sequence number; 0 is the SYN, 1 the first byte of data; null of a duplicate, and "
            "where an RST came before the initial number was known",
            optional=True,
        ),
        count("raw_sequence", "sequence number as in the packet"),
        count("acknowledgement", "acknowledgement number, likewise", optional=True),
        count("raw_acknowledgement", "acknowledgement number as in the packet", optional=True),
        size("payload_bytes", "payload"),
        size("packet_bytes", "length from the IP header on"),
        size("new_bytes", "payload not sent on this subflow before"),
        size("newly_acknowledged_bytes", "data of the other end that it acknowledges first"),
        size("in_flight_bytes", "data unacknowledged of its sender, after it"),
        size("pipe_bytes", "of it, the pipe: what may be on the way, by SACK (RFC 6675)"),
        size("window_bytes", "window that it grants, scaled", optional=True),
        count("raw_window", "window as in the packet"),
        duration("rtt_ns", "round trip that it completes", optional=True),
        text("rtt_method", "`timestamp` (RFC 7323) or `karn` (RFC 6298)", optional=True),
        text(
            "layers",
            "headers between that of the link and the IP header, the outermost first, by spaces: "
            "tags, tunnels and the packets that carry them; null where there are none",
            optional=True,
        ),
        count("identification", "identification of the IPv4 header", optional=True),
        count("ecn", "ECN field of the IP header"),
        count("ts_value", "TSval (RFC 7323)", optional=True),
        count("ts_echo", "TSecr", optional=True),
        count("mss", "maximum segment size in the packet", optional=True),
        count("window_shift", "window scale in the packet", optional=True),
        text("sack", "SACK blocks as in the packet: `left-right`, by commas", optional=True),
        text("mptcp", "options of MPTCP, [spelled out](#options-of-mptcp)", optional=True),
        count("data_sequence", "data sequence number; 1 is the first byte of data", optional=True),
        count("data_acknowledgement", "data acknowledgement, likewise", optional=True),
        size("new_data_bytes", "payload that no subflow had carried before"),
        size("reinjected_bytes", "payload that another subflow had carried before"),
        count("reinjected_from", "that other subflow", optional=True),
        duration("data_rtt_ns", "data-level round trip that it completes", optional=True),
    ),
    on_request=True,
)

MAPPINGS = Table(
    "mappings",
    "one mapping of a DSS option",
    (
        _CONNECTION,
        _SUBFLOW,
        _FROM,
        time("t_ns", "when it was captured"),
        _FRAME,
        count("data_sequence", "first data sequence number; 1 is the first byte", optional=True),
        wide("raw_data_sequence", "the same as in the option"),
        count("data_sequence_bytes", "bytes of that field: 4 or 8"),
        count("subflow_sequence", "sequence number of the subflow, counted from its SYN"),
        size("bytes", "length of the mapping as in the option; 0 is the infinite mapping"),
        flag("data_fin", "DATA_FIN is set"),
        count("checksum", "checksum of the data", optional=True),
        flag("checksum_valid", "it is right; null: not verified", optional=True),
    ),
    on_request=True,
)

TABLES: dict[str, Table] = {
    table.name: table
    for table in (CONNECTIONS, SUBFLOWS, ADDRESSES, SAMPLES, EVENTS, PACKETS, MAPPINGS)
}
"""All tables by name, in the order of ``docs/trace.md``."""

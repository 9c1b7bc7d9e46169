//! The rows. Columns that begin with `client_` or `server_` tell of what that end sent.

use std::net::IpAddr;

use super::file::columns;
use crate::{Kind, Nanos, RttMethod, Side};

columns! {
    /// A connection.
    ConnectionRow in "connections" {
        /// Number, from 0 in the order of first packets.
        connection: u32,
        /// `mptcp` or `tcp`.
        protocol: &'static str,
        /// Version of MPTCP; null for TCP that never tried.
        version: Option<u8>,
        /// Address of the end that opened it.
        client_address: IpAddr,
        /// Its port.
        client_port: u16,
        /// Address of the other end.
        server_address: IpAddr,
        /// Its port.
        server_port: u16,
        /// Token by which the server joins.
        client_token: Option<u32>,
        /// Token by which the client joins.
        server_token: Option<u32>,
        /// Key of the client.
        client_key: Option<u64>,
        /// Key of the server.
        server_key: Option<u64>,
        /// Initial data sequence number of the client.
        client_idsn: Option<u64>,
        /// Initial data sequence number of the server.
        server_idsn: Option<u64>,
        /// Checksums of data were agreed upon.
        checksums: Option<bool>,
        /// The handshake was not captured.
        inferred: bool,
        /// First packet.
        start_ns: Nanos,
        /// Last packet.
        end_ns: Nanos,
        /// How it ended.
        end: &'static str,
        /// Why it became TCP.
        fallback: Option<&'static str>,
        /// When.
        fallback_ns: Option<Nanos>,
        /// Subflows that it had.
        subflows: u32,
        /// Packets, duplicates not counted.
        packets: u64,
        /// Packets that another interface had seen before.
        duplicates: u64,
        /// What the client sent.
        client: ConnectionEndRow,
        /// What the server sent.
        server: ConnectionEndRow,
    }

    /// What one end of a connection sent.
    ConnectionEndRow {
        /// Distinct bytes of data.
        bytes: u64,
        /// Bytes of which no mapping was captured; not in `bytes`.
        unmapped_bytes: u64,
        /// Packets.
        packets: u64,
        /// Bytes of data with all that was sent more than once.
        payload_bytes: u64,
        /// Bytes that were sent on another subflow before.
        reinjected_bytes: u64,
        /// Those of them whose copy was acknowledged first.
        reinjected_won_bytes: u64,
        /// New bytes below the highest data sequence number seen before.
        late_bytes: u64,
        /// Largest distance below it.
        late_max_bytes: u64,
        /// Round trips at the level of data.
        data_rtt_samples: u64,
        /// The least.
        data_rtt_min_ns: Option<i64>,
        /// Their mean.
        data_rtt_mean_ns: Option<i64>,
        /// The most.
        data_rtt_max_ns: Option<i64>,
        /// Least window that the other end granted.
        window_min_bytes: Option<u64>,
        /// Largest window that the other end granted.
        window_max_bytes: Option<u64>,
        /// Time for which the window left less than a segment.
        window_limited_ns: i64,
        /// When the end of its data was first told.
        data_fin_ns: Option<Nanos>,
        /// When that was acknowledged.
        data_fin_acknowledged_ns: Option<Nanos>,
        /// First new data.
        first_data_ns: Option<Nanos>,
        /// Last new data.
        last_data_ns: Option<Nanos>,
        /// Longest time between two segments with new data.
        silence_ns: Option<i64>,
        /// When it began.
        silence_at_ns: Option<Nanos>,
        /// Longest silence that was no pause of the application.
        recovery_ns: Option<i64>,
        /// When it began.
        recovery_at_ns: Option<Nanos>,
        /// How often most of its data moved to another subflow.
        moves: u32,
    }

    /// A subflow.
    SubflowRow in "subflows" {
        /// Number of the connection.
        connection: u32,
        /// Number in the connection, from 0 in the order of first packets.
        subflow: u32,
        /// `initial` or `join`.
        origin: &'static str,
        /// End that opened it.
        opener: Side,
        /// It was opened to an address that ADD_ADDR had announced.
        announced: bool,
        /// Attached by evidence, for its handshake was not captured.
        inferred: bool,
        /// Address of the connection's client.
        client_address: IpAddr,
        /// Its port.
        client_port: u16,
        /// Address of the connection's server.
        server_address: IpAddr,
        /// Its port.
        server_port: u16,
        /// Id of the client's address.
        client_address_id: Option<u8>,
        /// Id of the server's address.
        server_address_id: Option<u8>,
        /// The client asked for it to be a backup.
        client_backup: Option<bool>,
        /// The server asked for it to be a backup.
        server_backup: Option<bool>,
        /// MP_PRIO options seen.
        priority_changes: u32,
        /// Its HMACs are right; null where keys are unknown or none was seen.
        hmac_valid: Option<bool>,
        /// First packet.
        start_ns: Nanos,
        /// Third packet of the handshake.
        established_ns: Option<Nanos>,
        /// From SYN to SYN/ACK, or to the third packet: the one that was captured.
        handshake_rtt_ns: Option<i64>,
        /// Last packet.
        end_ns: Nanos,
        /// How it ended.
        end: &'static str,
        /// Reason of MP_TCPRST.
        reset_reason: Option<u8>,
        /// What the client sent.
        client: SubflowEndRow,
        /// What the server sent.
        server: SubflowEndRow,
    }

    /// What one end of a connection sent on a subflow, and what the other end told of it.
    SubflowEndRow {
        /// Largest segment that it takes.
        mss: Option<u16>,
        /// Shift of the windows that it tells.
        window_shift: Option<u8>,
        /// Packets, as captured.
        packets: u64,
        /// Packets, one above the MTU counted as those that it stands for.
        wire_packets: u64,
        /// Bytes of data with all that was sent again.
        payload_bytes: u64,
        /// Distinct bytes of data.
        bytes: u64,
        /// Part of the connection's `payload_bytes` from this end; null where that is 0.
        share: Option<f64>,
        /// Packets sent again, as captured.
        retransmissions: u64,
        /// Packets sent again, counted as `wire_packets`.
        retransmitted_packets: u64,
        /// Bytes of data sent again.
        retransmitted_bytes: u64,
        /// Sent again because the receiver told of later data.
        fast_retransmissions: u64,
        /// Sent again because time ran out.
        timeout_retransmissions: u64,
        /// Sent again without need, as D-SACK tells.
        spurious_retransmissions: u64,
        /// Packets captured in another order than sent.
        out_of_order: u64,
        /// Keep-alives.
        keep_alives: u64,
        /// Probes of a closed window.
        window_probes: u64,
        /// Blocks of SACK that told of its data, without D-SACK.
        sack_blocks: u64,
        /// Blocks of D-SACK that told of its data.
        dsack_blocks: u64,
        /// Duplicate acknowledgements of its data.
        duplicate_acknowledgements: u64,
        /// Packets that told it of a closed window.
        zero_windows: u64,
        /// Packets marked Congestion Experienced.
        ecn_marked: u64,
        /// Round trips of its data.
        rtt_samples: u64,
        /// The least.
        rtt_min_ns: Option<i64>,
        /// Their mean.
        rtt_mean_ns: Option<i64>,
        /// The most.
        rtt_max_ns: Option<i64>,
        /// Standard deviation.
        rtt_deviation_ns: Option<i64>,
        /// Most that was unacknowledged.
        in_flight_max_bytes: u64,
        /// Largest window granted to it.
        window_max_bytes: Option<u64>,
        /// Longest time between two packets with data.
        idle_max_ns: Option<i64>,
        /// When it began.
        idle_at_ns: Option<Nanos>,
        /// First data.
        first_data_ns: Option<Nanos>,
        /// Last data.
        last_data_ns: Option<Nanos>,
        /// Bytes that another subflow had sent before.
        reinjected_bytes: u64,
    }

    /// An address of a connection: what it sent.
    AddressRow in "addresses" {
        /// Number of the connection.
        connection: u32,
        /// The address.
        address: IpAddr,
        /// Whose it is.
        end: Side,
        /// Packets.
        packets: u64,
        /// Their bytes from the IP header on.
        bytes: u64,
        /// Part of the packets of its end.
        share: f64,
        /// First packet.
        first_ns: Nanos,
        /// Last packet.
        last_ns: Nanos,
        /// Packets a millisecond between first and last; null for a single moment.
        packets_per_ms: Option<f64>,
        /// The most packets a millisecond in a window of 100 ms.
        burst_packets_per_ms: f64,
        /// Where that window begins.
        burst_start_ns: Nanos,
    }

    /// What one end sent on a subflow in a bin of 100 ms.
    SampleRow in "samples" {
        /// Number of the connection.
        connection: u32,
        /// Number of the subflow.
        subflow: u32,
        /// Who sent.
        from: Side,
        /// Start of the bin, a multiple of 100 ms.
        t_ns: Nanos,
        /// Packets.
        packets: u32,
        /// Bytes of data.
        payload_bytes: u64,
        /// Those of them that the subflow had not sent before.
        new_bytes: u64,
        /// Packets sent again.
        retransmissions: u32,
        /// Least round trip of what this end sent.
        rtt_min_ns: Option<i64>,
        /// Their mean.
        rtt_mean_ns: Option<i64>,
        /// Most.
        rtt_max_ns: Option<i64>,
        /// Bytes unacknowledged, after its last packet of the bin.
        in_flight_bytes: u64,
        /// Window that the other end last granted.
        window_bytes: Option<u64>,
        /// Bytes that the connection had not sent before.
        new_data_bytes: u64,
        /// Bytes that another subflow had sent before.
        reinjected_bytes: u64,
    }

    /// Something that happened.
    EventRow in "events" {
        /// Number of the connection.
        connection: u32,
        /// Number of the subflow that it is about.
        subflow: Option<u32>,
        /// Whose doing it is.
        from: Option<Side>,
        /// When.
        t_ns: Nanos,
        /// The frame that shows it.
        frame: u64,
        /// What.
        kind: &'static str,
        /// The same for people.
        text: String,
    }

    /// A packet.
    PacketRow in "packets" {
        /// Number of the connection.
        connection: u32,
        /// Number of the subflow.
        subflow: u32,
        /// Who sent it.
        from: Side,
        /// When it was captured.
        t_ns: Nanos,
        /// Number of the frame in its file, from 1.
        frame: u64,
        /// Which interface of which file.
        interface: u32,
        /// Control bits that are set.
        flags: &'static str,
        /// What it was.
        kind: Kind,
        /// Sequence number, counted from the SYN; null of a duplicate.
        sequence: Option<i64>,
        /// The same as in the header.
        raw_sequence: u32,
        /// Acknowledged sequence number, counted from the SYN of the other end.
        acknowledgement: Option<i64>,
        /// The same as in the header.
        raw_acknowledgement: Option<u32>,
        /// Bytes of data.
        payload_bytes: u32,
        /// Bytes from the IP header on.
        packet_bytes: u32,
        /// Bytes of data that the subflow had not sent before.
        new_bytes: u32,
        /// Bytes of the other end that it is the first to acknowledge.
        newly_acknowledged_bytes: u64,
        /// Bytes of its sender that are unacknowledged, after it.
        in_flight_bytes: u64,
        /// Window that it grants.
        window_bytes: Option<u64>,
        /// Window as in the header.
        raw_window: u16,
        /// Round trip that it completes.
        rtt_ns: Option<i64>,
        /// How that was measured.
        rtt_method: Option<RttMethod>,
        /// Identification of the IPv4 header.
        identification: Option<u16>,
        /// ECN field of the IP header.
        ecn: u8,
        /// TSval.
        ts_value: Option<u32>,
        /// TSecr.
        ts_echo: Option<u32>,
        /// Largest segment that the sender takes.
        mss: Option<u16>,
        /// Shift of the sender's windows.
        window_shift: Option<u8>,
        /// Blocks of SACK as in the header: `left-right`, by commas.
        sack: Option<String>,
        /// Options of MPTCP, spelled out.
        mptcp: Option<String>,
        /// Data sequence number of its first byte, counted from the initial one.
        data_sequence: Option<i64>,
        /// Data acknowledgement, counted from the initial data sequence number of the other end.
        data_acknowledgement: Option<i64>,
        /// Bytes that the connection had not sent before.
        new_data_bytes: u32,
        /// Bytes that another subflow had sent before.
        reinjected_bytes: u32,
        /// Which.
        reinjected_from: Option<u32>,
        /// Round trip at the level of data that it completes.
        data_rtt_ns: Option<i64>,
    }

    /// A mapping of a subflow's bytes to data.
    MappingRow in "mappings" {
        /// Number of the connection.
        connection: u32,
        /// Number of the subflow.
        subflow: u32,
        /// Who sent it.
        from: Side,
        /// When.
        t_ns: Nanos,
        /// The frame that has it.
        frame: u64,
        /// Data sequence number of the first byte, counted from the initial one.
        data_sequence: Option<i64>,
        /// The same as in the option.
        raw_data_sequence: u64,
        /// Bytes that it takes there: 4 or 8.
        data_sequence_bytes: u8,
        /// Sequence number of the subflow, counted from its SYN.
        subflow_sequence: u32,
        /// Bytes mapped; 0 is the infinite mapping.
        bytes: u16,
        /// The mapping ends the data.
        data_fin: bool,
        /// Checksum.
        checksum: Option<u16>,
        /// The checksum is right; null where it was not asked for, or not all was captured.
        checksum_valid: Option<bool>,
    }
}

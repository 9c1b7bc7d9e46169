//! Rows of subflows. Columns that begin with `client_` or `server_` are about the data of that end.

use std::net::IpAddr;

use super::super::file::columns;
use crate::{Nanos, Side};

columns! {
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
        /// Attached by other evidence, as its handshake was not captured.
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
        /// Data of the client.
        client: SubflowEndRow,
        /// Data of the server.
        server: SubflowEndRow,
    }

    /// Data of one end of a connection on a subflow, and the other end's acknowledgements of it.
    SubflowEndRow {
        /// Largest segment that it takes.
        mss: Option<u16>,
        /// Shift of the windows that it grants.
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
        /// Of them, bytes whose first transmission was not captured.
        retransmitted_unseen_bytes: u64,
        /// Bytes of keep-alives and window probes that were sent before.
        probe_bytes: u64,
        /// Sent again because the receiver reported later data.
        fast_retransmissions: u64,
        /// Sent again because a timer expired.
        timeout_retransmissions: u64,
        /// Sent again without need, according to D-SACK.
        spurious_retransmissions: u64,
        /// Packets captured in another order than sent.
        out_of_order: u64,
        /// Keep-alives.
        keep_alives: u64,
        /// Probes of a closed window.
        window_probes: u64,
        /// Blocks of SACK about its data, without D-SACK.
        sack_blocks: u64,
        /// Blocks of D-SACK about its data.
        dsack_blocks: u64,
        /// Duplicate acknowledgements of its data.
        duplicate_acknowledgements: u64,
        /// Packets that granted it a window of 0.
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
        /// The largest pipe.
        pipe_max_bytes: u64,
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
}

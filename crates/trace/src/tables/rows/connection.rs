//! Rows of connections. Columns that begin with `client_` or `server_` are about the data of that
//! end.

use std::net::IpAddr;

use super::super::file::columns;
use crate::Nanos;

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
        /// Data of the client.
        client: ConnectionEndRow,
        /// Data of the server.
        server: ConnectionEndRow,
    }

    /// Data of one end of a connection.
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
        /// When its DATA_FIN was first seen.
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
        /// Longest part of a gap that was no pause of the application.
        recovery_ns: Option<i64>,
        /// When it began.
        recovery_at_ns: Option<Nanos>,
        /// Checksums of data that were verified.
        checksums_verified: u64,
        /// Those of them that are wrong.
        checksums_wrong: u64,
        /// How often most of its data moved to another subflow.
        moves: u32,
    }
}

//! Rows of single packets, and of the mappings in them.

use super::super::file::columns;
use crate::{Kind, Nanos, RttMethod, Side};

columns! {
    /// A packet.
    PacketRow in "packets" {
        /// Number of the connection.
        connection: u32,
        /// Number of the subflow.
        subflow: u32,
        /// End that sent it.
        from: Side,
        /// When it was captured.
        t_ns: Nanos,
        /// Number of the frame in its file, from 1.
        frame: u64,
        /// Which interface of which file.
        interface: u32,
        /// Control bits that are set.
        flags: &'static str,
        /// Its kind.
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
        /// The pipe of its sender, after it.
        pipe_bytes: u64,
        /// Window that it grants.
        window_bytes: Option<u64>,
        /// Window as in the header.
        raw_window: u16,
        /// Round trip that it completes.
        rtt_ns: Option<i64>,
        /// How that was measured.
        rtt_method: Option<RttMethod>,
        /// Headers between that of the link and the IP header, by spaces; null where there are
        /// none.
        layers: Option<String>,
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
        /// Options of MPTCP, field by field.
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
        /// End that sent it.
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

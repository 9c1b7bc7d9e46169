//! Rows of addresses, of bins of time and of events.

use std::net::IpAddr;

use super::super::file::columns;
use crate::{Nanos, Side};

columns! {
    /// An address of a connection, and the packets that it sent.
    AddressRow in "addresses" {
        /// Number of the connection.
        connection: u32,
        /// The address.
        address: IpAddr,
        /// End that has it.
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

    /// The data of one end on a subflow in a bin of 100 ms.
    #[derive(Clone, Copy)]
    SampleRow in "samples" {
        /// Number of the connection.
        connection: u32,
        /// Number of the subflow.
        subflow: u32,
        /// End that sent.
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
        /// End that caused it.
        from: Option<Side>,
        /// When.
        t_ns: Nanos,
        /// The frame that shows it.
        frame: u64,
        /// Kind of event.
        kind: &'static str,
        /// A sentence.
        text: String,
    }
}

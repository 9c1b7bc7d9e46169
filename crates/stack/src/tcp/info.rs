//! What Linux tells in `TCP_INFO`.

use super::{FourTuple, State};
use crate::Nanos;

/// State of one TCP connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpInfo {
    /// Addresses and ports.
    pub tuple: FourTuple,
    /// State.
    pub state: State,
    /// Payload sent, retransmissions included.
    pub bytes_sent: u64,
    /// Payload that the peer acknowledged.
    pub bytes_acked: u64,
    /// Payload received in order.
    pub bytes_received: u64,
    /// Payload sent again.
    pub bytes_retransmitted: u64,
    /// Segments sent.
    pub segments_out: u64,
    /// Segments received.
    pub segments_in: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// SRTT; 0 before the first sample.
    pub smoothed_rtt_ns: Nanos,
    /// RTTVAR.
    pub rtt_variation_ns: Nanos,
    /// Smallest round trip of the last five minutes; none before the first sample.
    pub min_rtt_ns: Option<Nanos>,
    /// RTO.
    pub rto_ns: Nanos,
    /// cwnd in bytes.
    pub window_bytes: u64,
    /// ssthresh in bytes; none before the first loss.
    pub slow_start_threshold_bytes: Option<u64>,
    /// Largest payload of a segment sent.
    pub mss: u32,
    /// Segments sent and not acknowledged cumulatively.
    pub unacked_segments: u64,
    /// Payload that is taken to be in the network.
    pub in_flight_bytes: u64,
    /// Payload queued and not sent.
    pub unsent_bytes: u64,
    /// Rate of delivery over the last round trip; none before the first sample.
    pub delivery_rate_bps: Option<u64>,
    /// Rate that pacing would have; none before the first round trip.
    pub pacing_rate_bps: Option<u64>,
    /// Window of the peer.
    pub send_window_bytes: u64,
    /// What the application reads in a round trip, by which the receive buffer is tuned.
    pub receive_space_bytes: u64,
    /// Name of the congestion control.
    pub congestion_control: &'static str,
    /// Reordering was seen as often.
    pub reorderings: u64,
    /// D-SACK blocks received.
    pub duplicate_sacks: u64,
}

//! The figures of `TCP_INFO` of Linux.

use super::{FourTuple, SendingTimes, State, Tcp};
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
    /// Bytes that the application reads in a round trip, by which the receive buffer is tuned.
    pub receive_space_bytes: u64,
    /// How long data waited, and what held it up.
    pub times: SendingTimes,
    /// Memory that the send buffer holds at most.
    pub send_buffer_bytes: u64,
    /// Memory of what was handed over and not acknowledged.
    pub send_memory_bytes: u64,
    /// Memory that the receive buffer holds at most.
    pub receive_buffer_bytes: u64,
    /// Name of the congestion control.
    pub congestion_control: &'static str,
    /// Reordering was seen as often.
    pub reorderings: u64,
    /// D-SACK blocks received.
    pub duplicate_sacks: u64,
}

impl Tcp {
    /// State of the connection.
    pub(crate) fn info(&self) -> TcpInfo {
        let window = self.congestion.window();
        let threshold = window.slow_start_threshold_bytes;
        TcpInfo {
            tuple: self.tuple,
            state: self.state,
            bytes_sent: self.volume.sent(),
            bytes_acked: self.volume.acknowledged(),
            bytes_received: self.volume.received(),
            bytes_retransmitted: self.volume.retransmitted(),
            segments_out: u64::from(self.counters.segments_out)
                + u64::from(self.counters.retransmitted),
            segments_in: self.counters.segments_in.into(),
            retransmissions: self.counters.retransmitted.into(),
            smoothed_rtt_ns: self.rtt.smoothed_ns(),
            rtt_variation_ns: self.rtt.variation_ns(),
            min_rtt_ns: self.rtt.minimum_ns(),
            rto_ns: self.rtt.rto_ns(),
            window_bytes: window.bytes,
            slow_start_threshold_bytes: (threshold != u64::MAX).then_some(threshold),
            mss: window.mss,
            unacked_segments: self.scoreboard.len() as u64,
            in_flight_bytes: self.scoreboard.in_flight_bytes(),
            unsent_bytes: self.snd.queued_bytes(),
            delivery_rate_bps: self.rate.rate_bps(),
            pacing_rate_bps: self.pacing_rate_bps(),
            send_window_bytes: self.snd.window_bytes(),
            receive_space_bytes: self.receiver.space_bytes(),
            times: self.times,
            send_buffer_bytes: self.send_buffer_memory_bytes(),
            send_memory_bytes: self.outstanding_memory_bytes(),
            receive_buffer_bytes: self.receiver.memory_bytes(),
            congestion_control: self.congestion.name(),
            reorderings: self.rack.reorderings(),
            duplicate_sacks: self.counters.duplicate_sacks_in.into(),
        }
    }
}

//! The owner's view of a connection.

use mptcplab_wire::Segment;

use super::{FourTuple, State, Tcp, TcpCounters, pacing};
use crate::Nanos;
use crate::congestion::{PathView, Window};

impl Tcp {
    /// State.
    pub(crate) fn state(&self) -> State {
        self.state
    }

    /// Addresses and ports.
    pub(crate) fn tuple(&self) -> FourTuple {
        self.tuple
    }

    /// Counters.
    pub(crate) fn counters(&self) -> &TcpCounters {
        &self.counters
    }

    /// Whether the congestion control looks at the other paths: [`Tcp::receive`] should be given
    /// them.
    pub(crate) fn is_coupled(&self) -> bool {
        self.congestion.is_coupled()
    }

    /// Window that the peer last offered.
    pub(crate) fn send_window_bytes(&self) -> u64 {
        self.snd.window_bytes()
    }

    /// Congestion window.
    pub(crate) fn congestion_window(&self) -> Window {
        *self.congestion.window()
    }

    /// Shrinks the congestion window to `bytes`, but not below one segment, and the threshold
    /// with it: penalisation by a scheduler.
    pub(crate) fn shrink_window(&mut self, bytes: u64) {
        self.congestion.penalise(bytes);
    }

    /// SRTT; 0 before the first sample.
    pub(crate) fn smoothed_rtt_ns(&self) -> Nanos {
        self.rtt.smoothed_ns()
    }

    /// RTTVAR.
    pub(crate) fn rtt_variation_ns(&self) -> Nanos {
        self.rtt.variation_ns()
    }

    /// RTO.
    pub(crate) fn rto_ns(&self) -> Nanos {
        self.rtt.rto_ns()
    }

    /// Rate that pacing has, or would have; none before the first round trip.
    pub(crate) fn pacing_rate_bps(&self) -> Option<u64> {
        pacing::rate_bps(self.paced_bits(), self.rtt.smoothed_ns())
    }

    /// Bits that pacing sends, or would send, in a round trip: those of the window after the last
    /// acknowledgement, before a rest let it shrink.
    pub(crate) fn paced_bits(&self) -> u64 {
        match self.paced_bits {
            0 => self.paced_bits_now(),
            bits => bits,
        }
    }

    /// The same of the window as it is.
    pub(super) fn paced_bits_now(&self) -> u64 {
        pacing::paced_bits(self.congestion.window(), self.snd.outstanding_bytes())
    }

    /// SND.UNA.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.snd.una()
    }

    /// Offset in the peer's stream of a segment that came from it.
    pub(crate) fn offset_of(&self, segment: &Segment) -> u64 {
        self.receiver.offset(segment.sequence).unwrap_or(0)
    }

    /// RCV.NXT.
    pub(crate) fn received(&self) -> u64 {
        self.receiver.next()
    }

    /// Whether consecutive retransmission timeouts have begun, and nothing was acknowledged since.
    pub(crate) fn is_timed_out(&self) -> bool {
        self.liveness.has_timed_out()
    }

    /// When the last acceptable segment came.
    pub(crate) fn heard_at(&self) -> Nanos {
        self.liveness.heard_at()
    }

    /// This path as coupled congestion control sees it.
    pub(crate) fn path_view(&self) -> PathView {
        let window = self.congestion.window();
        let loss_interval = self.congestion.loss_interval();
        PathView {
            is_self: true,
            window_bytes: window.bytes,
            slow_start_threshold_bytes: window.slow_start_threshold_bytes,
            mss: window.mss,
            smoothed_rtt_ns: self.rtt.smoothed_ns(),
            min_rtt_ns: self.rtt.minimum_ns().unwrap_or(0),
            in_flight_bytes: self.flight_bytes(),
            bytes_since_loss: loss_interval.since_bytes,
            bytes_between_losses: loss_interval.between_bytes,
        }
    }
}

//! Retransmissions.

use super::Tcp;
use super::outgoing_segment::OutgoingSegment;
use super::record::Status;
use super::recovery::Phase;
use super::timers::Timer;
use crate::Nanos;

impl Tcp {
    /// The first lost segment, where the congestion window has room for it.
    pub(super) fn next_retransmission(&mut self, now: Nanos) -> Option<OutgoingSegment> {
        let number = self.scoreboard.first_lost()?;
        if self.recovery.sends_new_first() {
            return None;
        }
        let flight = self.flight_bytes();
        let with_this = flight + self.congestion.segment_bytes();
        if flight > 0 && with_this > self.congestion.window_bytes() {
            return None;
        }
        match self.recovery.phase {
            Phase::Loss { .. } => self.counters.slow_start_retransmissions += 1,
            _ => self.counters.fast_retransmissions += 1,
        }
        self.resend(now, number)
    }

    /// A tail loss probe: new data, else the last segment again (RFC 8985, section 7.3).
    pub(super) fn next_loss_probe(&mut self, now: Nanos) -> Option<OutgoingSegment> {
        if let Some(segment) = self.new_segment(now, true) {
            self.on_loss_probe_sent(now, false);
            return Some(segment);
        }
        self.due.loss_probe = false;
        let number = self.scoreboard.last()?;
        if self.scoreboard.get(number)?.status != Status::InFlight {
            return None;
        }
        let segment = self.resend(now, number);
        self.on_loss_probe_sent(now, true);
        segment
    }

    fn resend(&mut self, now: Nanos, number: u64) -> Option<OutgoingSegment> {
        let stamp = self.rate.stamp(now, false);
        self.scoreboard.retransmit(number, now, stamp);
        let record = self.scoreboard.get(number)?;
        let (start, fin, bytes) = (record.start, record.fin, record.payload_bytes);
        let (payload, mapping) = self.snd.sent(start, bytes as usize);
        let bytes = u64::from(bytes);
        let segment = OutgoingSegment::data(start, payload, mapping, fin, false);
        self.counters.retransmitted += 1;
        self.volume.count_retransmitted(bytes);
        let timestamp = self.options.timestamp_value(now);
        self.recovery.on_retransmitted(timestamp);
        self.recovery.on_sent(self.congestion.segment_bytes());
        self.pace(now, bytes);
        let first = self.scoreboard.first() == Some(number);
        if first || self.timers.get(Timer::Retransmission).is_none() {
            self.restart_retransmission(now);
        }
        Some(segment)
    }
}

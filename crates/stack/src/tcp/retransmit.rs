//! What leaves again.

use super::Tcp;
use super::draft::Draft;
use super::records::Status;
use super::recovery::Phase;
use super::timers::Timer;
use crate::Nanos;

impl Tcp {
    /// The first lost segment, where the congestion window has room for it.
    pub(super) fn draft_lost(&mut self, now: Nanos) -> Option<Draft> {
        let number = self.records.first_lost()?;
        if self.recovery.sends_new_first() {
            return None;
        }
        let bytes = self.records.get(number)?.bytes();
        let flight = self.records.in_flight_bytes();
        if flight > 0 && flight + bytes > self.window.bytes {
            return None;
        }
        match self.recovery.phase {
            Phase::Loss { .. } => self.counters.slow_start_retransmissions += 1,
            _ => self.counters.fast_retransmissions += 1,
        }
        self.resend(now, number)
    }

    /// A tail loss probe: new data, else the last segment again (RFC 8985, section 7.3).
    pub(super) fn draft_loss_probe(&mut self, now: Nanos) -> Option<Draft> {
        if let Some(draft) = self.draft_new(now, true) {
            self.on_loss_probe_sent(now, false);
            return Some(draft);
        }
        self.due.loss_probe = false;
        let number = self.records.last()?;
        if self.records.get(number)?.status != Status::InFlight {
            return None;
        }
        let draft = self.resend(now, number);
        self.on_loss_probe_sent(now, true);
        draft
    }

    fn resend(&mut self, now: Nanos, number: u64) -> Option<Draft> {
        let stamp = self.rate.stamp(now, false);
        self.records.retransmit(number, now, stamp);
        let record = self.records.get(number)?;
        let bytes = record.payload.len() as u64;
        let payload = record.payload.clone();
        let draft = Draft::data(record.start, payload, record.mapping, record.fin, false);
        self.counters.retransmitted += 1;
        self.retransmitted_bytes += bytes;
        self.sent_bytes += bytes;
        let timestamp = self.timestamps.as_ref().map(|state| state.value(now));
        self.recovery.on_retransmitted(timestamp);
        self.recovery.on_sent(bytes);
        self.pace(now, bytes);
        let first = self.records.first() == Some(number);
        if first || self.timers.get(Timer::Retransmission).is_none() {
            self.timers
                .set(Timer::Retransmission, now + self.rtt.rto_ns());
        }
        Some(draft)
    }
}

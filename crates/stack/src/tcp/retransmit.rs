//! What leaves again.

use mptcplab_wire::Segment;

use super::Tcp;
use super::extension::{Carrier, Extension};
use super::records::Status;
use super::recovery::Phase;
use super::timers::Timer;
use crate::Nanos;

impl Tcp {
    /// The first lost segment, where the congestion window has room for it.
    pub(super) fn transmit_lost(
        &mut self,
        now: Nanos,
        extension: &mut impl Extension,
    ) -> Option<Segment> {
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
        self.resend(now, number, extension)
    }

    /// A tail loss probe: new data, else the last segment again (RFC 8985, section 7.3).
    pub(super) fn transmit_loss_probe(
        &mut self,
        now: Nanos,
        extension: &mut impl Extension,
    ) -> Option<Segment> {
        if let Some(segment) = self.transmit_new(now, true, extension) {
            self.on_loss_probe_sent(now, false);
            return Some(segment);
        }
        self.due.loss_probe = false;
        let number = self.records.last()?;
        if self.records.get(number)?.status != Status::InFlight {
            return None;
        }
        let segment = self.resend(now, number, extension);
        self.on_loss_probe_sent(now, true);
        segment
    }

    fn resend(
        &mut self,
        now: Nanos,
        number: u64,
        extension: &mut impl Extension,
    ) -> Option<Segment> {
        let stamp = self.rate.stamp(now, false);
        self.records.retransmit(number, now, stamp);
        let record = self.records.get(number)?;
        let (offset, payload, mapping, fin) = (
            record.start,
            record.payload.clone(),
            record.mapping,
            record.fin,
        );
        let bytes = payload.len() as u64;
        let carrier = if bytes > 0 {
            Carrier::Data {
                offset,
                bytes: payload.len(),
                mapping,
            }
        } else {
            Carrier::Ack
        };
        self.counters.retransmitted += 1;
        self.retransmitted_bytes += bytes;
        self.sent_bytes += bytes;
        let timestamp = self.timestamps.as_ref().map(|state| state.value(now));
        self.recovery.on_retransmitted(timestamp);
        self.recovery.on_sent(bytes);
        let mut segment = self.segment(now, offset, payload, fin, carrier, extension);
        self.ecn.mark(&mut segment, false);
        self.pace(now, bytes);
        let first = self.records.first() == Some(number);
        if first || self.timers.get(Timer::Retransmission).is_none() {
            self.timers
                .set(Timer::Retransmission, now + self.rtt.rto_ns());
        }
        Some(segment)
    }
}

//! Serialisation at fixed rates and at rates that vary, without rounding that adds up.

use strength_reduce::StrengthReducedU64;

use super::Nanobits;
use crate::Nanos;
use crate::pace::{FixedRate, Pace};
use crate::varying::VaryingRate;

/// When a serialiser is free again and its token bucket full, exactly.
///
/// Without a bucket these are the same moment. A packet ends at a fraction of a nanosecond and is
/// reported at the next whole one. What the serialiser could have sent between the two, `spare`, is
/// already sent of a packet that waited. Where the directions of a half-duplex link have different
/// rates, `spare` is converted from one to the other and rounded down: less than 10⁻⁹ of a bit a
/// turn.
#[derive(Clone, Debug, Default)]
pub(crate) struct FixedSerialiser {
    /// End of the latest packet, rounded up.
    free_at: Nanos,
    /// When the rate has made up for all that was sent, rounded up: not before `free_at`.
    full_at: Nanos,
    /// Work that would have been done between the exact moment and `full_at`.
    spare: Nanobits,
    /// The rate in which `spare` is counted.
    spare_bps: u64,
}

impl FixedSerialiser {
    /// When a packet that arrived at this time can start, at the earliest.
    pub(crate) fn start(&self, arrived: Nanos) -> Nanos {
        self.free_at.max(arrived)
    }

    /// Sends a packet from `start`, as returned by [`start`](Self::start). Returns the work that is
    /// left of it at `start`, beyond what the bucket holds, and when it ends.
    pub(crate) fn send(
        &mut self,
        start: Nanos,
        arrived: Nanos,
        work: Nanobits,
        rate: &FixedRate,
    ) -> (Nanobits, Nanos) {
        let bps = rate.bps.get();
        let waited = arrived < self.full_at;
        let spare = if waited { self.spare_at(bps) } else { 0 };
        let left = work.saturating_sub(spare);
        let span = divided_up(left, rate.bps);
        let refill_ns = self.full_at.saturating_sub(start);
        self.spare = spare + span * Nanobits::from(bps) - work;
        self.spare_bps = bps;
        self.full_at = after(start + refill_ns, span);
        if rate.burst == 0 {
            self.free_at = self.full_at;
            return (left, self.free_at);
        }
        let refill = Nanobits::from(refill_ns) * Nanobits::from(bps);
        let left = (refill + work).saturating_sub(spare + rate.burst);
        let least = span.min(rate.least_packet_ns.into());
        self.free_at = after(start, divided_up(left, rate.bps).max(least));
        (left, self.free_at)
    }

    /// The same at a rate that varies, from `start` in a millisecond that has one.
    pub(crate) fn send_varying(
        &mut self,
        start: Nanos,
        arrived: Nanos,
        work: Nanobits,
        rate: &VaryingRate,
    ) -> (Nanobits, Nanos) {
        let before = rate.bps_at(start.saturating_sub(1));
        let spare = match arrived < self.full_at && start == self.full_at {
            true => self.spare_at(before),
            false => 0,
        };
        let left = work.saturating_sub(spare);
        (self.full_at, self.spare, self.spare_bps) = match left {
            0 => (start, spare - work, before),
            _ => rate.end(start, left),
        };
        self.free_at = self.full_at;
        (left, self.free_at)
    }

    /// The spare work, at a rate.
    fn spare_at(&self, bps: u64) -> Nanobits {
        if self.spare == 0 || bps == self.spare_bps {
            return self.spare;
        }
        self.spare * Nanobits::from(bps) / Nanobits::from(self.spare_bps)
    }

    /// Tokens in the bucket at a time at which nothing is sent.
    pub(crate) fn tokens(&self, now: Nanos, rate: &FixedRate) -> Nanobits {
        let refill_ns = Nanobits::from(self.full_at.saturating_sub(now));
        let refill = refill_ns * Nanobits::from(rate.bps.get());
        let spare = if refill_ns > 0 { self.spare } else { 0 };
        rate.burst.saturating_sub(refill.saturating_sub(spare))
    }

    /// Sends nothing before `now`, forgets what was being sent, and has so many tokens, as far as
    /// they are within the bucket.
    pub(crate) fn restart(&mut self, now: Nanos, tokens: Nanobits, pace: &Pace) {
        *self = Self {
            free_at: now,
            full_at: now,
            ..Self::default()
        };
        if let Pace::Fixed(rate) = pace {
            let refill = rate.burst.saturating_sub(tokens);
            let span = divided_up(refill, rate.bps);
            self.full_at = after(now, span);
            self.spare_bps = rate.bps.get();
            self.spare = span * Nanobits::from(self.spare_bps) - refill;
        }
    }
}

/// The moment a span after another.
fn after(moment: Nanos, span: Nanobits) -> Nanos {
    moment.saturating_add(Nanos::try_from(span).unwrap_or(Nanos::MAX))
}

/// `work / bps`, rounded up. Work of packets fits 64 bits, whose division by a rate that was
/// prepared for it takes a few multiplications.
fn divided_up(work: Nanobits, bps: StrengthReducedU64) -> Nanobits {
    match u64::try_from(work) {
        Ok(work) => {
            let (whole, rest) = StrengthReducedU64::div_rem(work, bps);
            Nanobits::from(whole) + Nanobits::from(rest > 0)
        }
        Err(_) => work.div_ceil(Nanobits::from(bps.get())),
    }
}

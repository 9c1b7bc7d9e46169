//! Serialisation at fixed rates, without rounding that adds up.

use strength_reduce::StrengthReducedU64;

use super::Nanobits;
use crate::Nanos;

/// When a serialiser is free again, exactly.
///
/// A packet ends at a fraction of a nanosecond and is reported at the next whole one. What the
/// serialiser could have sent between the two, `spare`, is already sent of a packet that waited.
/// Where the directions of a half-duplex link have different rates, `spare` is converted from one
/// to the other and rounded down: less than 10⁻⁹ of a bit a turn.
#[derive(Debug, Default)]
pub(crate) struct FixedSerialiser {
    /// End of the latest packet, rounded up.
    free_at: Nanos,
    /// Work that would have been done between the exact end and `free_at`.
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
    /// left of it at `start` and when it ends.
    pub(crate) fn send(
        &mut self,
        start: Nanos,
        arrived: Nanos,
        work: Nanobits,
        rate: StrengthReducedU64,
    ) -> (Nanobits, Nanos) {
        let bps = rate.get();
        let waited = arrived < self.free_at;
        let spare = if !waited || self.spare == 0 {
            0
        } else if bps == self.spare_bps {
            self.spare
        } else {
            self.spare * Nanobits::from(bps) / Nanobits::from(self.spare_bps)
        };
        let left = work.saturating_sub(spare);
        let span = divided_up(left, rate);
        self.spare = spare + span * Nanobits::from(bps) - work;
        self.spare_bps = bps;
        self.free_at = start.saturating_add(Nanos::try_from(span).unwrap_or(Nanos::MAX));
        (left, self.free_at)
    }

    /// Sends nothing before `now`, and forgets what was being sent.
    pub(crate) fn restart(&mut self, now: Nanos) {
        *self = Self {
            free_at: now,
            ..Self::default()
        };
    }
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

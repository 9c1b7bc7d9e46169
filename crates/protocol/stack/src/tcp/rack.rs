//! Loss detection by time: RACK (RFC 8985, section 6).

use super::delivery::Delivery;
use super::scoreboard::Scoreboard;
use crate::Nanos;

/// Selectively acknowledged segments that tell of a loss where no reordering was ever seen.
const DUPLICATE_THRESHOLD: usize = 3;

/// Recoveries for which a widened reordering window lasts.
const WIDENED_FOR: u32 = 16;

/// State of RACK.
#[derive(Clone, Debug)]
pub(crate) struct Rack {
    /// Number of the transmission that was sent last among those delivered.
    newest: Option<u64>,
    /// Its round trip.
    rtt_ns: Nanos,
    /// Largest offset delivered.
    forward: u64,
    reorderings: u64,
    multiplier: u64,
    widened_for: u32,
    /// The round of a D-SACK ends when this offset is acknowledged.
    duplicate_round: Option<u64>,
}

/// Losses that were found, and when to look again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Detected {
    /// Records newly taken to be lost.
    pub(crate) lost: u64,
    /// Of these sent more than once.
    pub(crate) lost_again: u32,
    /// The oldest segment in flight is lost if it is not acknowledged by then.
    pub(crate) deadline: Option<Nanos>,
}

impl Rack {
    pub(crate) fn new() -> Self {
        Self {
            newest: None,
            rtt_ns: 0,
            forward: 0,
            reorderings: 0,
            multiplier: 1,
            widened_for: 0,
            duplicate_round: None,
        }
    }

    /// How often reordering was seen.
    pub(crate) fn reorderings(&self) -> u64 {
        self.reorderings
    }

    /// Steps 1 to 3: takes over what was delivered. True where it came out of order.
    pub(crate) fn on_delivery(&mut self, now: Nanos, delivery: &Delivery) -> bool {
        if let Some(newest) = delivery.newest {
            self.rtt_ns = now.saturating_sub(newest.sent);
            if self
                .newest
                .is_none_or(|number| number < newest.transmission)
            {
                self.newest = Some(newest.transmission);
            }
        }
        let reordered = delivery
            .original_start
            .is_some_and(|start| start < self.forward);
        if reordered {
            self.reorderings += 1;
        }
        self.forward = self.forward.max(delivery.end);
        reordered
    }

    /// Notes that a recovery was in vain: what was taken to be lost was late.
    pub(crate) fn note_reordering(&mut self) {
        self.reorderings += 1;
    }

    /// Step 4, D-SACK: a retransmission was in vain, so the window widens, once a round trip.
    pub(crate) fn on_duplicate(&mut self, acknowledged: u64, next: u64) {
        if self
            .duplicate_round
            .is_some_and(|round| acknowledged >= round)
        {
            self.duplicate_round = None;
        }
        if self.duplicate_round.is_none() {
            self.duplicate_round = Some(next);
            self.multiplier = (self.multiplier + 1).min(255);
            self.widened_for = WIDENED_FOR;
        }
    }

    /// Step 4, end of a recovery without D-SACK.
    pub(crate) fn on_recovery_end(&mut self) {
        self.widened_for = self.widened_for.saturating_sub(1);
        if self.widened_for == 0 {
            self.multiplier = 1;
        }
    }

    /// Step 4: how much later than another a segment may arrive that was sent before it.
    fn reordering_window_ns(
        &self,
        sacked: usize,
        recovering: bool,
        min_rtt_ns: Nanos,
        smoothed_rtt_ns: Nanos,
    ) -> Nanos {
        if self.reorderings == 0 && (recovering || sacked >= DUPLICATE_THRESHOLD) {
            return 0;
        }
        (self.multiplier * min_rtt_ns / 4).min(smoothed_rtt_ns)
    }

    /// Step 5: marks what was sent long enough before something that was delivered.
    pub(crate) fn detect(
        &self,
        now: Nanos,
        scoreboard: &mut Scoreboard,
        recovering: bool,
        min_rtt_ns: Nanos,
        smoothed_rtt_ns: Nanos,
    ) -> Detected {
        let mut detected = Detected {
            lost: 0,
            lost_again: 0,
            deadline: None,
        };
        let Some(newest) = self.newest else {
            return detected;
        };
        let window =
            self.reordering_window_ns(scoreboard.sacked(), recovering, min_rtt_ns, smoothed_rtt_ns);
        while let Some(oldest) = scoreboard.oldest_in_flight() {
            if oldest.number >= newest {
                break;
            }
            let deadline = oldest.sent + self.rtt_ns + window;
            if now < deadline {
                detected.deadline = Some(deadline);
                break;
            }
            let again = scoreboard
                .get(oldest.record)
                .is_some_and(|record| record.retransmitted);
            scoreboard.mark_lost(oldest.record);
            detected.lost += 1;
            detected.lost_again += u32::from(again);
        }
        detected
    }

    /// The time up to which transmissions have timed out (section 6.3): `now` before the first
    /// acknowledgement.
    pub(crate) fn timed_out_before(
        &self,
        now: Nanos,
        sacked: usize,
        min_rtt_ns: Nanos,
        smoothed_rtt_ns: Nanos,
    ) -> Nanos {
        if self.newest.is_none() {
            return now;
        }
        let window = self.reordering_window_ns(sacked, false, min_rtt_ns, smoothed_rtt_ns);
        now.saturating_sub(self.rtt_ns + window)
    }
}

//! Reasons of retransmissions.

use crate::{Kind, Nanos};

/// Duplicate acknowledgements that indicate a loss (RFC 5681, section 3.2).
const DUPLICATE_THRESHOLD: u32 = 3;
/// Least by which a retransmission timeout exceeds the round trip: half of Linux's 200 ms, so that
/// an estimate that is somewhat too large does no harm.
const LEAST_TIMEOUT: Nanos = 100_000_000;

/// The receiver's reports of loss, and the repair that is going on.
///
/// Fields that most segments need stand together: with many connections each cache line counts.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Recovery {
    /// When the receiver last reported anything new.
    reported_at: Nanos,
    /// Send time of the newest transmission that arrived, as far as acknowledgements show.
    arrived_sent_at: Nanos,
    /// Duplicate acknowledgements since the last that acknowledged something.
    duplicates: u32,
    /// End of the highest block of SACK.
    sacked: i64,
    repair: Repair,
}

/// A repair that is going on.
#[derive(Clone, Copy, Debug)]
struct Repair {
    /// It ends when this is acknowledged.
    until: i64,
    /// It was begun by a timer.
    by_timer: bool,
    /// TSval of its first retransmission.
    timestamp: Option<u32>,
    /// Its retransmissions that may have been needed.
    needed: u64,
}

const NO_REPAIR: Repair = Repair {
    until: i64::MIN,
    by_timer: false,
    timestamp: None,
    needed: 0,
};

impl Default for Recovery {
    fn default() -> Self {
        Self {
            duplicates: 0,
            sacked: i64::MIN,
            reported_at: Nanos::MIN,
            arrived_sent_at: Nanos::MIN,
            repair: NO_REPAIR,
        }
    }
}

/// A segment that is sent again, in the state of its sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Again {
    /// First sequence number.
    pub(super) start: i64,
    /// The one that follows its last.
    pub(super) end: i64,
    /// The number after the highest that was sent.
    pub(super) next: i64,
    /// Highest cumulative acknowledgement.
    pub(super) acknowledged: i64,
    /// When.
    pub(super) at: Nanos,
    /// Its TSval.
    pub(super) timestamp: Option<u32>,
    /// When its first byte was sent last, if that was seen.
    pub(super) before: Option<Nanos>,
    /// When its sender last sent data.
    pub(super) sent_at: Option<Nanos>,
    /// SRTT between the place of the capture and the receiver.
    pub(super) downstream: Nanos,
    /// SRTT between the place of the capture and the sender.
    pub(super) upstream: Nanos,
}

impl Recovery {
    /// Notes that the cumulative acknowledgement advanced.
    #[inline]
    pub(super) fn acknowledged(&mut self, at: Nanos) {
        self.duplicates = 0;
        self.reported_at = at;
    }

    /// Notes that a transmission of this time arrived.
    #[inline]
    pub(super) fn arrived(&mut self, sent_at: Nanos) {
        self.arrived_sent_at = self.arrived_sent_at.max(sent_at);
    }

    /// Counts a duplicate acknowledgement.
    pub(super) fn duplicate(&mut self, at: Nanos) {
        self.duplicates = self.duplicates.saturating_add(1);
        self.reported_at = at;
    }

    /// Takes a block of SACK that ends before `end`.
    pub(super) fn sacked(&mut self, end: i64, at: Nanos) {
        if end > self.sacked {
            self.sacked = end;
            self.reported_at = at;
        }
    }

    /// Notes retransmissions that were not needed: a repair without needed ones ends (RFC 3708).
    pub(super) fn spurious(&mut self, count: u64) {
        self.repair.needed = self.repair.needed.saturating_sub(count);
        if self.repair.needed == 0 {
            self.repair = NO_REPAIR;
        }
    }

    /// Takes the echo of a timestamp with which the cumulative acknowledgement advances: where it
    /// is older than the repair there was no loss, and the repair ends (Eifel, RFC 3522 and 4015).
    pub(super) fn echo(&mut self, echo: u32) {
        let distance = self
            .repair
            .timestamp
            .map(|begun| echo.wrapping_sub(begun) as i32);
        if distance.is_some_and(|distance| distance < 0) {
            self.repair = NO_REPAIR;
        }
    }

    /// Returns for how long the receiver has reported nothing new.
    pub(super) fn quiet(&self, at: Nanos) -> Nanos {
        at.saturating_sub(self.reported_at)
    }

    /// Returns whether the receiver has reported that it lacks `[start, end)` but has later data,
    /// or the repair of such a loss goes on.
    pub(super) fn is_reported(&self, start: i64, end: i64, acknowledged: i64) -> bool {
        self.sacked > end
            || (self.duplicates >= DUPLICATE_THRESHOLD && start <= acknowledged)
            || (!self.repair.by_timer && acknowledged < self.repair.until)
    }

    /// Returns the kind of the retransmission.
    pub(super) fn kind(&mut self, again: &Again) -> Kind {
        let going_on = again.acknowledged < self.repair.until;
        if !self.is_after_silence(again) {
            let sent_before_arrivals = again.before.is_some_and(|sent| sent < self.arrived_sent_at);
            let reported = sent_before_arrivals
                || self.is_reported(again.start, again.end, again.acknowledged);
            if !going_on && reported {
                self.begin(again, false);
            } else if going_on {
                self.repair.needed += 1;
            }
            if going_on && self.repair.by_timer {
                return Kind::TimeoutRetransmission;
            }
            if reported {
                return Kind::FastRetransmission;
            }
        }
        // A timeout sends the first that is not acknowledged, a tail loss probe the last.
        if again.start <= again.acknowledged && again.end < again.next {
            self.begin(again, true);
        }
        Kind::TimeoutRetransmission
    }

    /// Returns whether both ends were silent for so long that a timer must be the reason.
    fn is_after_silence(&self, again: &Again) -> bool {
        let silent = again
            .sent_at
            .map_or(Nanos::MAX, |sent| again.at.saturating_sub(sent));
        let timeout = LEAST_TIMEOUT
            .saturating_add(again.downstream)
            .saturating_add(again.upstream.saturating_mul(2));
        silent.min(self.quiet(again.at)) >= timeout
    }

    /// Begins a repair, or goes on by timer with one whose retransmissions were lost too.
    fn begin(&mut self, again: &Again, by_timer: bool) {
        if again.acknowledged >= self.repair.until {
            self.repair = Repair {
                timestamp: again.timestamp,
                ..NO_REPAIR
            };
        }
        self.repair.until = again.next;
        self.repair.by_timer = by_timer;
        self.repair.needed += 1;
    }
}

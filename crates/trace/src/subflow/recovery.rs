//! Why data were sent again.

use crate::{Kind, Nanos};

/// Duplicate acknowledgements that tell of a loss (RFC 5681, section 3.2).
const DUPLICATE_THRESHOLD: u32 = 3;
/// Least by which a retransmission timeout exceeds the round trip: half of Linux's 200 ms, so that
/// an estimate that is somewhat too large does no harm.
const LEAST_TIMEOUT: Nanos = 100_000_000;

/// What the receiver told, and which repair is going on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recovery {
    /// Duplicate acknowledgements since the last that acknowledged something.
    duplicates: u32,
    /// End of the highest block of SACK.
    sacked: i64,
    /// When the receiver last told anything new.
    news_at: Nanos,
    /// The repair that is going on ends when this is acknowledged.
    until: i64,
    /// It was begun by a timer.
    by_timer: bool,
}

impl Default for Recovery {
    fn default() -> Self {
        Self {
            duplicates: 0,
            sacked: i64::MIN,
            news_at: Nanos::MIN,
            until: i64::MIN,
            by_timer: false,
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
    /// When its sender last sent data.
    pub(super) sent_at: Option<Nanos>,
    /// SRTT between the place of the capture and the receiver.
    pub(super) downstream: Nanos,
    /// SRTT between the place of the capture and the sender.
    pub(super) upstream: Nanos,
}

impl Recovery {
    /// The cumulative acknowledgement moved on.
    #[inline]
    pub(super) fn acknowledged(&mut self, at: Nanos) {
        self.duplicates = 0;
        self.news_at = at;
    }

    /// A duplicate acknowledgement came.
    pub(super) fn duplicate(&mut self, at: Nanos) {
        self.duplicates = self.duplicates.saturating_add(1);
        self.news_at = at;
    }

    /// A block of SACK that ends before `end` came.
    pub(super) fn sacked(&mut self, end: i64, at: Nanos) {
        if end > self.sacked {
            self.sacked = end;
            self.news_at = at;
        }
    }

    /// How long the receiver had told nothing new.
    pub(super) fn quiet(&self, at: Nanos) -> Nanos {
        at.saturating_sub(self.news_at)
    }

    /// Whether the receiver has told that it lacks `[start, end)` but has later data, or the
    /// repair of such a loss goes on.
    pub(super) fn is_told(&self, start: i64, end: i64, acknowledged: i64) -> bool {
        self.sacked > end
            || (self.duplicates >= DUPLICATE_THRESHOLD && start <= acknowledged)
            || (!self.by_timer && acknowledged < self.until)
    }

    /// What the retransmission is.
    pub(super) fn kind(&mut self, again: &Again) -> Kind {
        let going_on = again.acknowledged < self.until;
        let silent = again
            .sent_at
            .map_or(Nanos::MAX, |sent| again.at.saturating_sub(sent));
        let timeout = LEAST_TIMEOUT
            .saturating_add(again.downstream)
            .saturating_add(again.upstream.saturating_mul(2));
        let after_silence = silent.min(self.quiet(again.at)) >= timeout;
        if !after_silence {
            if going_on && self.by_timer {
                return Kind::TimeoutRetransmission;
            }
            if self.is_told(again.start, again.end, again.acknowledged) {
                if !going_on {
                    self.begin(again.next, false);
                }
                return Kind::FastRetransmission;
            }
        }
        // A timeout sends the first that is not acknowledged, a tail loss probe the last.
        if again.start <= again.acknowledged && again.end < again.next {
            self.begin(again.next, true);
        }
        Kind::TimeoutRetransmission
    }

    fn begin(&mut self, until: i64, by_timer: bool) {
        self.until = until;
        self.by_timer = by_timer;
    }
}

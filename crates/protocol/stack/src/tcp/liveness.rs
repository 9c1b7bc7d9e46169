//! Signs of life of the peer, and unanswered attempts to get one.

use crate::Nanos;

/// State of what is asked of the peer and not answered.
#[derive(Clone, Debug)]
pub(crate) struct Liveness {
    /// When the last acceptable segment came.
    heard_at: Nanos,
    /// Probes of a closed window or an idle peer without an answer.
    probes: u32,
    /// How often the timer of a closed window was doubled.
    persist_backoff: u32,
    /// The retransmission timer has fired, and nothing was acknowledged since.
    timed_out: bool,
    /// When it fired first without an answer since.
    unanswered_since: Option<Nanos>,
}

impl Liveness {
    pub(crate) fn new(now: Nanos) -> Self {
        Self {
            heard_at: now,
            probes: 0,
            persist_backoff: 0,
            timed_out: false,
            unanswered_since: None,
        }
    }

    /// When the last acceptable segment came.
    pub(crate) fn heard_at(&self) -> Nanos {
        self.heard_at
    }

    /// Notes an acceptable segment, which answers all probes.
    #[inline]
    pub(crate) fn on_segment(&mut self, now: Nanos) {
        self.heard_at = now;
        self.probes = 0;
    }

    /// Probes without an answer.
    pub(crate) fn probes(&self) -> u32 {
        self.probes
    }

    pub(crate) fn count_probe(&mut self) {
        self.probes += 1;
    }

    /// Doubles the timer of a closed window once more. Gives how often it was doubled.
    pub(crate) fn back_off_persist(&mut self) -> u32 {
        self.persist_backoff += 1;
        self.persist_backoff
    }

    /// Takes back the doublings, as new data was sent.
    #[inline]
    pub(crate) fn end_persist_backoff(&mut self) {
        self.persist_backoff = 0;
    }

    /// Whether the retransmission timer has fired, and nothing was acknowledged since.
    #[inline]
    pub(crate) fn has_timed_out(&self) -> bool {
        self.timed_out
    }

    /// Notes that data was acknowledged.
    #[inline]
    pub(crate) fn on_acknowledged(&mut self) {
        self.timed_out = false;
        self.unanswered_since = None;
    }

    /// Gives when the retransmission timer fired first without an answer since: now, if ever.
    pub(crate) fn unanswered_since(&mut self, now: Nanos) -> Nanos {
        *self.unanswered_since.get_or_insert(now)
    }

    /// Notes that the retransmission timer has fired.
    pub(crate) fn on_timeout(&mut self) {
        self.timed_out = true;
    }
}

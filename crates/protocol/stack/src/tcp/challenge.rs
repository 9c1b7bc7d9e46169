//! Answers to segments that are not acceptable: challenge ACKs (RFC 5961, section 7).

use mptcplab_wire::Segment;

use super::Tcp;
use super::state::State;
use crate::Nanos;

/// Least time between answers to segments that are not acceptable (`tcp_invalid_ratelimit`).
const CHALLENGE_INTERVAL_NS: Nanos = 500_000_000;

/// Limit of the rate of challenge ACKs.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChallengeLimit {
    /// When a segment that was not acceptable was last answered.
    answered_at: Option<Nanos>,
}

impl ChallengeLimit {
    /// Whether an answer may leave now; then the next may not for a while.
    fn admits(&mut self, now: Nanos) -> bool {
        let admitted = self
            .answered_at
            .is_none_or(|at| now.saturating_sub(at) >= CHALLENGE_INTERVAL_NS);
        if admitted {
            self.answered_at = Some(now);
        }
        admitted
    }
}

impl Tcp {
    /// Answers with an ACK: data always, as the peer may wait for it; else now and then, or two
    /// confused peers would answer each other for ever.
    pub(super) fn challenge(&mut self, now: Nanos, segment: &Segment) {
        let data = !segment.payload.is_empty() && !segment.flags.syn;
        if self.state != State::SynReceived && (data || self.limit_challenge(now)) {
            self.due.ack = true;
        }
    }

    /// Whether an answer to a segment that is not acceptable may leave now.
    pub(super) fn limit_challenge(&mut self, now: Nanos) -> bool {
        self.challenges.admits(now)
    }
}

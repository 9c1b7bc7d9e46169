//! Subflows of which nothing is heard: others take their data, and they get no more until the peer
//! answers again.
//!
//! Source: `mptcp_pm_subflow_chk_stale` in Linux 6.18, net/mptcp/pm.c, and `mptcp_subflow_active`,
//! net/mptcp/protocol.c.

use super::connection::Connection;
use super::subflow::Subflow;
use crate::Nanos;

/// A subflow is stale after more timeouts of data without a sign of life
/// (`net.mptcp.stale_loss_cnt`).
const STALE_LOSS_COUNT: u32 = 4;

/// How long nothing was heard of a subflow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Staleness {
    /// Timeouts of data since the peer was last heard; the first one only begins the count.
    timeouts: u32,
    heard_at: Nanos,
    stale: bool,
}

impl Staleness {
    /// Whether the count has begun.
    pub(super) fn is_suspect(&self) -> bool {
        self.timeouts > 0
    }

    /// Whether nothing was heard between two timeouts.
    pub(super) fn is_silent(&self) -> bool {
        self.timeouts > 1
    }

    /// Whether it gets no data.
    pub(super) fn is_stale(&self) -> bool {
        self.stale
    }

    /// Takes a timeout of data. True where the subflow may be stale by it.
    fn on_timeout(&mut self, heard_at: Nanos) -> bool {
        if self.timeouts == 0 {
            self.heard_at = heard_at;
            self.timeouts = 1;
        } else if self.heard_at == heard_at {
            self.timeouts = self.timeouts.saturating_add(1);
        } else {
            self.timeouts = 0;
        }
        !self.stale && self.timeouts > STALE_LOSS_COUNT
    }

    /// Whether it is no longer stale, as the peer was heard; once.
    fn take_recovery(&mut self, heard_at: Nanos) -> bool {
        let recovered = self.stale && self.heard_at != heard_at;
        self.stale &= !recovered;
        recovered
    }
}

impl Connection {
    /// Counts a timeout of data for a subflow that has some. Where it is stale, and others are not
    /// near it, they send all that is not acknowledged.
    pub(super) fn check_stale(&mut self, index: usize) {
        let subflow = &mut self.subflows[index];
        let heard_at = subflow.tcp.heard_at();
        let overdue = subflow.staleness.on_timeout(heard_at);
        self.set_active(index);
        let active = |subflow: &Subflow| {
            let staleness = &subflow.staleness;
            subflow.may_send() && !staleness.stale && staleness.timeouts < STALE_LOSS_COUNT - 1
        };
        let mut others = self.subflows.iter().enumerate();
        if overdue && others.any(|(other, subflow)| other != index && active(subflow)) {
            self.subflows[index].staleness.stale = true;
            self.counters.stale += 1;
            self.reinject();
        }
    }

    /// Lets a stale subflow have data again, where the peer was heard on it since.
    pub(super) fn set_active(&mut self, index: usize) {
        let subflow = &mut self.subflows[index];
        if subflow.staleness.take_recovery(subflow.tcp.heard_at()) {
            self.counters.recovered += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_of_life_between_two_timeouts_ends_the_count() {
        let mut staleness = Staleness::default();
        assert!(!staleness.on_timeout(7) && staleness.is_suspect());
        assert!(!staleness.on_timeout(7) && staleness.is_silent());
        assert!(!staleness.on_timeout(9) && !staleness.is_suspect());
    }

    #[test]
    fn the_fifth_timeout_makes_a_subflow_stale_until_the_peer_is_heard() {
        let mut staleness = Staleness::default();
        for _ in 0..STALE_LOSS_COUNT {
            assert!(!staleness.on_timeout(7));
        }
        assert!(staleness.on_timeout(7));
        staleness.stale = true;
        assert!(!staleness.take_recovery(7));
        assert!(staleness.take_recovery(8));
        assert!(!staleness.take_recovery(9));
    }
}

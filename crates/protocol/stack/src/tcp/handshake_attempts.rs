//! Attempts to complete the handshake.

use crate::Nanos;

/// How often SYN or SYN/ACK was sent, and when.
#[derive(Clone, Debug)]
pub(crate) struct HandshakeAttempts {
    timeouts: u32,
    /// Times that it was sent again.
    repeats: u32,
    sent: Nanos,
}

impl HandshakeAttempts {
    pub(crate) fn new(now: Nanos) -> Self {
        Self {
            timeouts: 0,
            repeats: 0,
            sent: now,
        }
    }

    pub(crate) fn timeouts(&self) -> u32 {
        self.timeouts
    }

    /// Counts a timeout, after which it is sent again. Gives how many there were.
    pub(crate) fn count_timeout(&mut self) -> u32 {
        self.timeouts += 1;
        self.on_repeated();
        self.timeouts
    }

    /// Notes that it is sent again: an answer may be of either.
    pub(crate) fn on_repeated(&mut self) {
        self.repeats += 1;
    }

    /// When the only SYN or SYN/ACK was sent.
    pub(crate) fn sent(&self) -> Option<Nanos> {
        (self.repeats == 0).then_some(self.sent)
    }

    /// Whether it was sent again more than once, at least once for a timeout.
    pub(crate) fn is_congested(&self) -> bool {
        self.timeouts > 0 && self.repeats > 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_repeated_syn_brings_counts_beside_a_timeout_alone() {
        let mut attempts = HandshakeAttempts::new(5);
        assert_eq!(attempts.sent(), Some(5));
        attempts.on_repeated();
        attempts.on_repeated();
        assert_eq!((attempts.sent(), attempts.is_congested()), (None, false));
        let mut attempts = HandshakeAttempts::new(5);
        assert_eq!(attempts.count_timeout(), 1);
        assert!(!attempts.is_congested());
        attempts.on_repeated();
        assert!(attempts.is_congested());
    }
}

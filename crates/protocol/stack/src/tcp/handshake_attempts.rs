//! Attempts to complete the handshake.

use crate::Nanos;

/// How often SYN or SYN/ACK was sent, and when.
#[derive(Clone, Debug)]
pub(crate) struct HandshakeAttempts {
    timeouts: u32,
    /// When it was sent; none once it was sent again.
    sent: Option<Nanos>,
}

impl HandshakeAttempts {
    pub(crate) fn new(now: Nanos) -> Self {
        Self {
            timeouts: 0,
            sent: Some(now),
        }
    }

    pub(crate) fn timeouts(&self) -> u32 {
        self.timeouts
    }

    /// Counts a timeout. Gives how many there were.
    pub(crate) fn count_timeout(&mut self) -> u32 {
        self.timeouts += 1;
        self.timeouts
    }

    /// Notes that it is sent again: an answer may be of either.
    pub(crate) fn on_repeated(&mut self) {
        self.sent = None;
    }

    /// When the only SYN or SYN/ACK was sent.
    pub(crate) fn sent(&self) -> Option<Nanos> {
        self.sent
    }
}

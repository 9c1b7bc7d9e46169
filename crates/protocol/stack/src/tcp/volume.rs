//! Payload of a connection, counted.

/// Bytes of payload by their fate.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Volume {
    sent: u64,
    retransmitted: u64,
    acknowledged: u64,
    received: u64,
}

impl Volume {
    #[inline]
    pub(crate) fn count_sent(&mut self, bytes: u64) {
        self.sent += bytes;
    }

    /// Counts bytes that were sent again, which are sent bytes too.
    #[inline]
    pub(crate) fn count_retransmitted(&mut self, bytes: u64) {
        self.retransmitted += bytes;
        self.sent += bytes;
    }

    #[inline]
    pub(crate) fn count_acknowledged(&mut self, bytes: u64) {
        self.acknowledged += bytes;
    }

    #[inline]
    pub(crate) fn count_received(&mut self, bytes: u64) {
        self.received += bytes;
    }

    /// Bytes sent, retransmissions included.
    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }

    /// Bytes sent again.
    pub(crate) fn retransmitted(&self) -> u64 {
        self.retransmitted
    }

    /// Bytes that the peer acknowledged.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// Bytes received in order.
    pub(crate) fn received(&self) -> u64 {
        self.received
    }
}

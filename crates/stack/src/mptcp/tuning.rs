//! The size of the receive buffer of a connection, tuned by what the application reads.

use crate::Nanos;
use crate::tcp::{BufferLimits, PayloadShare, ReceiveBuffer};

/// The buffer follows what the application reads in a round trip, the longest of the subflows.
///
/// Source: `mptcp_rcv_space_adjust` in Linux 6.18, net/mptcp/protocol.c.
#[derive(Clone, Debug)]
pub(super) struct Tuning {
    buffer: ReceiveBuffer,
    /// Read since `since`.
    read_bytes: u64,
    since: Nanos,
}

impl Tuning {
    pub(super) fn new(limits: BufferLimits) -> Self {
        Self {
            buffer: ReceiveBuffer::new(limits, SEGMENT_BYTES),
            read_bytes: 0,
            since: 0,
        }
    }

    pub(super) fn window_bytes(&self) -> u64 {
        self.buffer.window_bytes()
    }

    /// The application read. `share` is the least of the subflows: one that has brought nothing yet
    /// has that of the beginning. Gives what was read in a round trip where the buffer grew.
    pub(super) fn on_read(
        &mut self,
        now: Nanos,
        bytes: u64,
        rtt_ns: Nanos,
        share: impl FnOnce() -> PayloadShare,
    ) -> Option<u64> {
        self.read_bytes += bytes;
        if now.saturating_sub(self.since) < rtt_ns || rtt_ns == 0 {
            return None;
        }
        self.buffer.set_share(share());
        let read = core::mem::take(&mut self.read_bytes);
        self.since = now;
        (read > self.buffer.space_bytes() && self.buffer.grow(read, 0)).then_some(read)
    }
}

/// Payload of the segments of the initial window, which is taken to have been read in the round
/// trip before the first.
const SEGMENT_BYTES: u64 = 1448;

#[cfg(test)]
mod tests {
    use super::*;

    fn tuning(max_bytes: u64) -> Tuning {
        Tuning::new(BufferLimits {
            initial_bytes: 131_072,
            max_bytes,
        })
    }

    #[test]
    fn the_buffer_follows_what_is_read_in_a_round_trip() {
        let mut tuning = tuning(10_000_000);
        let share = PayloadShare::UNKNOWN;
        assert_eq!(tuning.on_read(0, 0, 10, || share), None);
        assert_eq!(tuning.on_read(9, 14_480, 10, || share), None);
        assert_eq!(tuning.window_bytes(), 65_536);
        // w = 2 · 28 960, twice as much as before: w + 2w.
        assert_eq!(tuning.on_read(10, 14_480, 10, || share), Some(28_960));
        assert_eq!(tuning.window_bytes(), 173_760);
        assert_eq!(tuning.on_read(20, 28_960, 10, || share), None);
        assert_eq!(tuning.window_bytes(), 173_760);
    }

    #[test]
    fn the_window_is_that_of_the_least_share_once_a_round_trip() {
        let mut tuning = tuning(400_000);
        tuning.on_read(10, 1 << 40, 10, || PayloadShare::UNKNOWN);
        assert_eq!(tuning.window_bytes(), 200_000);
        let share = PayloadShare::of_segments(1424);
        tuning.on_read(19, 1, 10, || share);
        assert_eq!(tuning.window_bytes(), 200_000);
        tuning.on_read(20, 1, 10, || share);
        assert_eq!(tuning.window_bytes(), 246_875);
    }
}

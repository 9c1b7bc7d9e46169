//! The size of the receive buffer of a connection, tuned by what the application reads.

use crate::Nanos;

/// The window follows twice what the application reads in a round trip, as it grows; it never
/// shrinks.
///
/// Source: M. Fisk, W. Feng, "Dynamic Right-Sizing in TCP", LACSI 2001; the formula is Linux's
/// (`mptcp_rcv_space_adjust`), with the longest round trip of the subflows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tuning {
    window_bytes: u64,
    max_bytes: u64,
    /// Read in a round trip, at most so far.
    space_bytes: u64,
    /// Read since `since`.
    read_bytes: u64,
    since: Nanos,
}

impl Tuning {
    /// Windows at the start and at most.
    pub(super) fn new(initial_bytes: u64, max_bytes: u64) -> Self {
        Self {
            window_bytes: initial_bytes,
            max_bytes: max_bytes.max(initial_bytes),
            space_bytes: initial_bytes.min(INITIAL_SPACE_BYTES),
            read_bytes: 0,
            since: 0,
        }
    }

    pub(super) fn window_bytes(&self) -> u64 {
        self.window_bytes
    }

    pub(super) fn on_read(&mut self, now: Nanos, bytes: u64, rtt_ns: Nanos) {
        self.read_bytes += bytes;
        if now.saturating_sub(self.since) < rtt_ns || rtt_ns == 0 {
            return;
        }
        if self.read_bytes > self.space_bytes {
            let window = 2 * self.read_bytes + SLACK_BYTES;
            let growth = self.read_bytes - self.space_bytes;
            let ahead = u128::from(window) * u128::from(growth) / u128::from(self.space_bytes);
            let wanted = u128::from(window) + 2 * ahead;
            let wanted = u64::try_from(wanted).unwrap_or(u64::MAX);
            self.window_bytes = self.window_bytes.max(wanted.min(self.max_bytes));
            self.space_bytes = self.read_bytes;
        }
        self.read_bytes = 0;
        self.since = now;
    }
}

/// Sixteen segments, for what is on its way when the application reads.
const SLACK_BYTES: u64 = 16 * 1460;

/// What is taken to have been read in the round trip before the first: an initial window.
const INITIAL_SPACE_BYTES: u64 = 10 * 1460;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_twice_what_was_read_in_a_round_trip_and_more_where_that_grows() {
        let mut tuning = Tuning::new(65_535, 10_000_000);
        tuning.on_read(0, 0, 10);
        tuning.on_read(9, 14_600, 10);
        assert_eq!(tuning.window_bytes(), 65_535);
        tuning.on_read(10, 14_600, 10);
        // w = 2 · 29 200 + 23 360 = 81 760, twice as much as before: w + 2w.
        assert_eq!(tuning.window_bytes(), 245_280);
        tuning.on_read(20, 29_200, 10);
        assert_eq!(tuning.window_bytes(), 245_280);
    }

    #[test]
    fn the_limit_holds() {
        let mut tuning = Tuning::new(65_535, 100_000);
        tuning.on_read(10, 1 << 40, 10);
        assert_eq!(tuning.window_bytes(), 100_000);
    }
}

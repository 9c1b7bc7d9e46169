//! Receive window at the level of data.

use super::ranges::{BOUND, Number};
use crate::Nanos;

/// Segment size where no SYN of the receiver has the MSS: that of Ethernet.
const USUAL_SEGMENT_BYTES: u16 = 1460;

/// Stands for a window that was not granted.
const UNKNOWN: Number = -1;

/// The receive window of a connection (RFC 8684, section 3.3.1): one for all subflows, relative to
/// the DATA_ACK that stands beside it. Its right edge is the farthest that was granted on any of
/// them.
#[derive(Clone, Debug)]
pub(super) struct Window {
    /// The first number that may not be sent.
    edge: Number,
    /// From the highest acknowledgement to the edge.
    granted: Number,
    least: Number,
    most: Number,
    /// Maximum segment size of the receiver.
    segment_bytes: u16,
    limited_since: Option<Nanos>,
    limited_ns: Nanos,
}

impl Default for Window {
    fn default() -> Self {
        Self {
            edge: -BOUND,
            granted: UNKNOWN,
            least: Number::MAX,
            most: Number::MIN,
            segment_bytes: USUAL_SEGMENT_BYTES,
            limited_since: None,
            limited_ns: 0,
        }
    }
}

/// Effect of a grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Nothing,
    /// The window.
    Size,
    /// It is closed.
    Closed,
    /// It is open again.
    Opened,
}

impl Window {
    /// Sets the maximum segment size of the receiver.
    pub(super) fn set_segment(&mut self, bytes: u16) {
        self.segment_bytes = bytes;
    }

    /// Takes a grant of `bytes` from `acknowledgement` on; the highest so far is `acknowledged`.
    #[inline]
    pub(super) fn grant(
        &mut self,
        acknowledgement: Number,
        bytes: u64,
        acknowledged: Number,
    ) -> Change {
        let bytes = Number::try_from(bytes).map_or(BOUND, |bytes| bytes.min(BOUND));
        let edge = self.edge.max(acknowledgement + bytes);
        let granted = (edge - acknowledged).max(0);
        if edge == self.edge && granted == self.granted {
            return Change::Nothing;
        }
        let (was_closed, is_closed) = (self.granted == 0, granted == 0);
        self.edge = edge;
        self.granted = granted;
        self.least = self.least.min(granted);
        self.most = self.most.max(granted);
        match (was_closed, is_closed) {
            (false, true) => Change::Closed,
            (true, false) => Change::Opened,
            _ => Change::Size,
        }
    }

    /// Returns the least and the most that was granted.
    pub(super) fn range(&self) -> Option<(u64, u64)> {
        (self.least <= self.most).then_some((self.least as u64, self.most as u64))
    }

    /// Notes that data up to `sent_to` is sent at this time, which is all if it is `complete`.
    #[inline]
    pub(super) fn note(&mut self, at: Nanos, sent_to: Number, complete: bool) {
        let limited = self.granted != UNKNOWN
            && !complete
            && self.edge - sent_to < Number::from(self.segment_bytes);
        if limited != self.limited_since.is_some() {
            self.limited_ns = self.limited_ns_until(at);
            self.limited_since = limited.then_some(at);
        }
    }

    /// Returns for how long it left less than a segment.
    pub(super) fn limited_ns_until(&self, at: Nanos) -> Nanos {
        let last = self
            .limited_since
            .map_or(0, |since| at.saturating_sub(since).max(0));
        self.limited_ns.saturating_add(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edge_is_the_farthest_that_was_granted_on_any_subflow() {
        let mut window = Window::default();
        assert_eq!(window.grant(1, 3000, 1), Change::Size);
        assert_eq!(window.grant(1001, 1000, 1001), Change::Size);
        assert_eq!(window.grant(501, 2500, 1001), Change::Nothing);
        assert_eq!(window.grant(501, 2600, 1001), Change::Size);
        assert_eq!(window.range(), Some((2000, 3000)));
        window.note(0, 1600, false);
        assert_eq!(window.limited_since, None);
        window.note(5, 1642, false);
        assert_eq!(window.limited_since, Some(5));
    }

    #[test]
    fn time_counts_while_less_than_a_segment_is_left() {
        let mut window = Window::default();
        window.set_segment(1000);
        window.note(1, 1, false);
        window.grant(1, 3000, 1);
        window.note(10, 2001, false);
        window.note(20, 2002, false);
        window.note(30, 3001, false);
        assert_eq!(window.limited_ns_until(35), 15);
        window.grant(1001, 3000, 1001);
        window.note(40, 3001, false);
        assert_eq!(window.limited_ns_until(50), 20);
        window.note(60, 4001, true);
        assert_eq!(window.limited_ns_until(70), 20);
    }

    #[test]
    fn it_closes_and_opens() {
        let mut window = Window::default();
        window.grant(1, 100, 1);
        assert_eq!(window.grant(101, 0, 101), Change::Closed);
        assert_eq!(window.grant(101, 0, 101), Change::Nothing);
        assert_eq!(window.grant(101, 50, 101), Change::Opened);
        assert_eq!(window.range(), Some((0, 100)));
        assert_eq!(Window::default().grant(1, 0, 1), Change::Closed);
    }
}

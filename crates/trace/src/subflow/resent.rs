//! Retransmissions that are remembered.

use std::collections::VecDeque;

use crate::Nanos;

/// Most retransmissions that are remembered; beyond it the oldest are forgotten. They are asked
/// for within few round trips.
const MAX_RETRANSMISSIONS: usize = 1024;

/// A retransmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Retransmission {
    /// First sequence number.
    pub(super) start: i64,
    /// The one that follows the last.
    pub(super) end: i64,
    /// When it was captured.
    pub(super) at: Nanos,
    /// Its frame.
    pub(super) frame: u64,
    /// Its TSval.
    pub(super) timestamp: Option<u32>,
    /// A D-SACK reported it as not needed.
    pub(super) spurious: bool,
}

impl Retransmission {
    fn overlaps(&self, start: i64, end: i64) -> bool {
        self.start < end && start < self.end
    }
}

/// Retransmissions of one direction, in the order of their capture.
#[derive(Clone, Debug, Default)]
pub(super) struct Resent {
    list: VecDeque<Retransmission>,
    /// So many of them, the first, are acknowledged wholly.
    passed: usize,
}

impl Resent {
    /// Notes one.
    pub(super) fn push(&mut self, retransmission: Retransmission) {
        if self.list.len() == MAX_RETRANSMISSIONS {
            self.list.pop_front();
            self.passed = self.passed.saturating_sub(1);
        }
        self.list.push_back(retransmission);
    }

    /// Passes the numbers below `acknowledged`: only [`Self::mark_spurious`] needs them from here
    /// on.
    pub(super) fn pass(&mut self, acknowledged: i64) {
        let rest = self.list.range(self.passed..);
        self.passed += rest.take_while(|sent| sent.end <= acknowledged).count();
    }

    /// Iterates over those that had data of `[start, end)`.
    pub(super) fn of(&self, start: i64, end: i64) -> impl Iterator<Item = &Retransmission> {
        self.list
            .range(self.passed..)
            .filter(move |sent| sent.overlaps(start, end))
    }

    /// Returns when `number`, which is not passed, was last sent again.
    pub(super) fn last(&self, number: i64) -> Option<Nanos> {
        self.of(number, number + 1).map(|sent| sent.at).max()
    }

    /// Takes a D-SACK of `[start, end)`: marks the oldest unmarked retransmissions of that range,
    /// one for each byte of it. Returns how many, and the frame of the first.
    pub(super) fn mark_spurious(&mut self, mut start: i64, end: i64) -> (u64, Option<u64>) {
        let mut count = 0;
        let mut frame = None;
        for sent in &mut self.list {
            if start >= end {
                break;
            }
            if !sent.spurious && sent.overlaps(start, end) {
                sent.spurious = true;
                count += 1;
                frame = frame.or(Some(sent.frame));
                start = sent.end;
            }
        }
        (count, frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resent(ranges: &[(i64, i64)]) -> Resent {
        let mut resent = Resent::default();
        for (frame, &(start, end)) in (1..).zip(ranges) {
            resent.push(Retransmission {
                start,
                end,
                at: 0,
                frame,
                timestamp: None,
                spurious: false,
            });
        }
        resent
    }

    #[test]
    fn each_is_marked_once_the_oldest_first() {
        let mut resent = resent(&[(0, 10), (10, 20), (0, 10)]);
        assert_eq!(resent.mark_spurious(0, 10), (1, Some(1)));
        assert_eq!(resent.mark_spurious(0, 10), (1, Some(3)));
        assert_eq!(resent.mark_spurious(0, 10), (0, None));
        assert_eq!(resent.mark_spurious(10, 20), (1, Some(2)));
    }

    #[test]
    fn a_block_may_name_several_and_a_retransmission_take_several_blocks() {
        let mut two = resent(&[(0, 10), (10, 20), (20, 30)]);
        assert_eq!(two.mark_spurious(0, 20), (2, Some(1)));
        let mut one = resent(&[(0, 30)]);
        assert_eq!(one.mark_spurious(0, 10), (1, Some(1)));
        assert_eq!(one.mark_spurious(10, 20), (0, None));
    }

    #[test]
    fn what_is_passed_is_asked_for_by_d_sack_only() {
        let mut resent = resent(&[(0, 10), (10, 20), (0, 20), (20, 30)]);
        resent.pass(15);
        let frames: Vec<_> = resent.of(0, 30).map(|sent| sent.frame).collect();
        assert_eq!(frames, [2, 3, 4]);
        assert_eq!(resent.mark_spurious(0, 10), (1, Some(1)));
    }

    #[test]
    fn beyond_the_limit_the_oldest_are_forgotten() {
        let ranges: Vec<_> = (0..=MAX_RETRANSMISSIONS as i64)
            .map(|n| (n, n + 1))
            .collect();
        let mut resent = resent(&ranges);
        assert_eq!(resent.mark_spurious(0, 1), (0, None));
        assert_eq!(resent.mark_spurious(1, 2), (1, Some(2)));
    }
}

//! The pipe of RFC 6675: data in the network, as a sender with SACK estimates it.
//!
//! A number counts that is sent, not acknowledged and not selectively acknowledged: once unless it
//! is lost (`IsLost` of section 4), and once more if it is not above the highest retransmission
//! (`HighRxt`), lost or not. It is lost if [`THRESHOLD`] blocks were selectively acknowledged
//! above it, or more than two full segments. A retransmission of the last data alone that leaves
//! lower data out, a tail loss probe or the rescue of section 4, does not move `HighRxt`.

/// `DupThresh`.
const THRESHOLD: usize = 3;
/// Blocks that are kept; beyond it the lowest are forgotten, and count as not acknowledged.
const MOST_BLOCKS: usize = 256;
/// A full segment where no SYN has the MSS.
pub(super) const USUAL_SEGMENT: u16 = 1460;

/// The selectively acknowledged data of one end, and the highest that was sent again.
#[derive(Clone, Debug, Default)]
pub(super) struct Scoreboard {
    /// Blocks above the cumulative acknowledgement, ascending, with gaps between them.
    blocks: Vec<(i64, i64)>,
    /// The number after the highest retransmission.
    resent_to: i64,
}

impl Scoreboard {
    /// Returns whether nothing is selectively acknowledged: the pipe is all that is in flight.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Adds a block of SACK of `[left, right)`.
    pub(super) fn sack(&mut self, left: i64, right: i64) {
        if left >= right {
            return;
        }
        let first = self.blocks.partition_point(|&(_, end)| end < left);
        let last = self.blocks.partition_point(|&(start, _)| start <= right);
        let joined = self.blocks[first..last]
            .iter()
            .fold((left, right), |all, one| {
                (all.0.min(one.0), all.1.max(one.1))
            });
        self.blocks.splice(first..last, [joined]);
        if self.blocks.len() > MOST_BLOCKS {
            self.blocks.remove(0);
        }
    }

    /// Takes a cumulative acknowledgement up to `number`.
    pub(super) fn acknowledge(&mut self, number: i64) {
        let passed = self.blocks.partition_point(|&(_, end)| end <= number);
        self.blocks.drain(..passed);
        if let Some((start, _)) = self.blocks.first_mut() {
            *start = number.max(*start);
        }
    }

    /// Notes that `[start, end)` is sent again; `next` is the number after all that was sent.
    pub(super) fn resend(&mut self, start: i64, end: i64, acknowledged: i64, next: i64) {
        let goes_on = start <= acknowledged.max(self.resent_to);
        if goes_on || end < next {
            self.resent_to = self.resent_to.max(end.min(next));
        }
    }

    /// Returns the pipe of the data from `acknowledged` to before `next`.
    pub(super) fn pipe(&self, acknowledged: i64, next: i64, segment: u16) -> u64 {
        let lost_below = self.lost_below(i64::from(segment));
        let mut pipe = 0;
        let mut gap = |start: i64, end: i64| {
            pipe += (end - start.max(lost_below)).max(0);
            pipe += (end.min(self.resent_to) - start).max(0);
        };
        let mut start = acknowledged;
        for &(left, right) in &self.blocks {
            gap(start, left);
            start = right;
        }
        gap(start, next);
        pipe as u64
    }

    /// Returns the number below which data that is not selectively acknowledged is lost.
    fn lost_below(&self, segment: i64) -> i64 {
        let mut bytes = 0;
        for (count, &(left, right)) in (1..).zip(self.blocks.iter().rev()) {
            bytes += right - left;
            if count >= THRESHOLD || bytes > (THRESHOLD as i64 - 1) * segment {
                return left;
            }
        }
        i64::MIN
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn board(blocks: &[(i64, i64)]) -> Scoreboard {
        let mut board = Scoreboard::default();
        blocks
            .iter()
            .for_each(|&(left, right)| board.sack(left, right));
        board
    }

    #[test]
    fn what_is_selectively_acknowledged_has_left_the_network() {
        assert!(board(&[]).is_empty());
        assert_eq!(board(&[]).pipe(100, 900, 100), 800);
        assert_eq!(board(&[(300, 400)]).pipe(100, 900, 100), 700);
        assert_eq!(board(&[(300, 500)]).pipe(100, 900, 100), 600);
    }

    #[test]
    fn what_is_lost_has_left_it_too_until_it_is_sent_again() {
        // More than two segments above.
        let mut lost = board(&[(300, 501)]);
        assert_eq!(lost.pipe(100, 900, 100), 399);
        lost.resend(100, 200, 100, 900);
        assert_eq!(lost.pipe(100, 900, 100), 499);
        // Three blocks above what is below 300, two above the rest.
        let lost = board(&[(300, 310), (400, 410), (500, 510)]);
        assert_eq!(lost.pipe(100, 900, 100), 90 + 90 + 390);
    }

    #[test]
    fn a_probe_of_the_tail_alone_sends_nothing_below_again() {
        let mut probed = board(&[(300, 501)]);
        probed.resend(800, 900, 100, 900);
        assert_eq!(probed.pipe(100, 900, 100), 399);
        // Data that is sent again without being lost counts twice.
        let mut early = board(&[(300, 310)]);
        early.resend(100, 200, 100, 900);
        assert_eq!(early.pipe(100, 900, 100), 790 + 100);
    }

    #[test]
    fn the_acknowledgement_forgets_what_it_covers() {
        let mut passed = board(&[(300, 400), (500, 600)]);
        passed.acknowledge(350);
        assert_eq!(passed.blocks, [(350, 400), (500, 600)]);
        passed.acknowledge(600);
        assert!(passed.is_empty());
    }

    #[test]
    fn the_lowest_blocks_are_forgotten() {
        let many = MOST_BLOCKS as i64 + 1;
        let blocks: Vec<_> = (0..many).map(|n| (10 * n + 1, 10 * n + 2)).collect();
        let board = board(&blocks);
        assert_eq!(
            (board.blocks.len(), board.blocks[0]),
            (MOST_BLOCKS, (11, 12))
        );
    }

    proptest! {
        /// Compares it number by number with section 4.
        #[test]
        fn it_is_that_of_the_rfc(
            blocks in prop::collection::vec((0_i64..200, 1_i64..20), 0..12),
            resent_to in 0_i64..200,
            acknowledged in 0_i64..60,
        ) {
            let (next, segment) = (220, 10);
            let mut board = Scoreboard::default();
            let mut told = BTreeSet::new();
            for (left, bytes) in blocks {
                let left = left.max(acknowledged + 1);
                let right = (left + bytes).min(next);
                board.sack(left, right);
                told.extend(left..right);
            }
            board.resend(acknowledged, resent_to.max(acknowledged), acknowledged, next);
            let is_lost = |number: i64| {
                let above: Vec<_> = told.range(number..).collect();
                let ends = above.iter().filter(|end| !told.contains(&(**end + 1)));
                ends.count() >= THRESHOLD || above.len() > 2 * segment
            };
            let pipe: u64 = (acknowledged..next)
                .filter(|number| !told.contains(number))
                .map(|number| {
                    u64::from(!is_lost(number)) + u64::from(number < resent_to)
                })
                .sum();
            prop_assert_eq!(board.pipe(acknowledged, next, segment as u16), pipe);
        }
    }
}

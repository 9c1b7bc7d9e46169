//! Gaps in sequence numbers: data that were sent, as later data show, but not seen.

use std::collections::VecDeque;

use crate::Nanos;

/// Most gaps of one direction. Beyond it the lowest are forgotten: data that come for them count
/// as seen before.
const MAX_GAPS: usize = 1024;

/// The segment that showed a gap by starting beyond it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opening {
    /// When it was captured.
    pub(super) at: Nanos,
    /// Its TSval.
    pub(super) timestamp: Option<u32>,
    /// Its IPv4 identification.
    pub(super) identification: Option<u16>,
}

#[derive(Clone, Copy, Debug)]
struct Gap {
    start: i64,
    end: i64,
    opening: Opening,
}

/// Ranges of sequence numbers that were not seen, in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Gaps {
    gaps: VecDeque<Gap>,
}

/// The part of a range that was missing until now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Filled {
    /// Sequence numbers.
    pub(super) count: i64,
    /// Segment that showed the first gap.
    pub(super) opening: Option<Opening>,
}

impl Gaps {
    /// Notes that `[start, end)`, beyond all gaps, was not seen.
    pub(super) fn open(&mut self, start: i64, end: i64, opening: Opening) {
        if self.gaps.len() == MAX_GAPS {
            self.gaps.pop_front();
        }
        self.gaps.push_back(Gap {
            start,
            end,
            opening,
        });
    }

    /// Notes that `[start, end)` is seen now.
    pub(super) fn fill(&mut self, start: i64, end: i64) -> Filled {
        let mut filled = Filled::default();
        let mut at = self.gaps.partition_point(|gap| gap.end <= start);
        while let Some(gap) = self.gaps.get_mut(at).filter(|gap| gap.start < end) {
            let before = *gap;
            filled.opening = filled.opening.or(Some(before.opening));
            filled.count += before.end.min(end) - before.start.max(start);
            match (before.start < start, before.end > end) {
                (false, false) => {
                    self.gaps.remove(at);
                }
                (false, true) => gap.start = end,
                (true, false) => {
                    gap.end = start;
                    at += 1;
                }
                (true, true) => {
                    gap.end = start;
                    let rest = Gap {
                        start: end,
                        ..before
                    };
                    self.split(at + 1, rest);
                }
            }
        }
        filled
    }

    /// Inserts the upper part of a gap that was filled in its middle.
    fn split(&mut self, at: usize, rest: Gap) {
        self.gaps.insert(at, rest);
        if self.gaps.len() > MAX_GAPS {
            self.gaps.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn opening(at: Nanos) -> Opening {
        Opening {
            at,
            timestamp: None,
            identification: None,
        }
    }

    #[test]
    fn the_parts_of_a_hole_keep_what_opened_it() {
        let mut gaps = Gaps::default();
        gaps.open(10, 20, opening(1));
        gaps.open(30, 40, opening(2));
        let filled = |count, at| Filled {
            count,
            opening: Some(opening(at)),
        };
        assert_eq!(gaps.fill(12, 14), filled(2, 1));
        assert_eq!(gaps.fill(18, 31), filled(3, 1));
        assert_eq!(gaps.fill(0, 100), filled(2 + 4 + 9, 1));
        assert_eq!(gaps.fill(0, 100), Filled::default());
    }

    #[test]
    fn beyond_the_limit_the_lowest_are_forgotten() {
        let mut gaps = Gaps::default();
        let count = MAX_GAPS as i64;
        for n in 0..count {
            gaps.open(4 * n, 4 * n + 3, opening(n));
        }
        // In two parts: one too many.
        assert_eq!(gaps.fill(4 * count - 3, 4 * count - 2).count, 1);
        gaps.open(4 * count, 4 * count + 3, opening(count));
        assert_eq!(gaps.fill(0, 8).count, 0);
        assert_eq!(gaps.fill(8, 5 * count).count, 3 * (count - 2) + 2);
    }

    proptest! {
        #[test]
        fn it_is_the_set_of_what_was_not_seen(
            operations in proptest::collection::vec((0_i64..60, 1_i64..20, 0_i64..6), 0..60),
        ) {
            let mut gaps = Gaps::default();
            let mut missing = BTreeSet::new();
            let mut next = 0;
            for (start, length, skipped) in operations {
                if skipped > 0 {
                    gaps.open(next, next + skipped, opening(0));
                    missing.extend(next..next + skipped);
                    next += skipped + length;
                } else {
                    let range = start..start + length;
                    let expected = range.clone().filter(|byte| missing.remove(byte)).count();
                    prop_assert_eq!(gaps.fill(range.start, range.end).count, expected as i64);
                }
                let left: Vec<i64> =
                    gaps.gaps.iter().flat_map(|gap| gap.start..gap.end).collect();
                prop_assert_eq!(left, missing.iter().copied().collect::<Vec<_>>());
            }
        }
    }
}

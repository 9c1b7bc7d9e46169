//! Ranges of data that are to be sent again.

use alloc::collections::BTreeMap;

/// A set of offsets, kept as ranges that neither overlap nor touch.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    /// End by start.
    ranges: BTreeMap<u64, u64>,
}

impl Ranges {
    /// The first range.
    pub(super) fn first(&self) -> Option<(u64, u64)> {
        self.ranges
            .first_key_value()
            .map(|(&start, &end)| (start, end))
    }

    /// Adds `[start, end)`.
    pub(super) fn insert(&mut self, mut start: u64, mut end: u64) {
        if start >= end {
            return;
        }
        while let Some((&before, &before_end)) = self.ranges.range(..=end).next_back() {
            if before_end < start {
                break;
            }
            start = start.min(before);
            end = end.max(before_end);
            self.ranges.remove(&before);
        }
        self.ranges.insert(start, end);
    }

    /// Removes everything before `offset`.
    pub(super) fn remove_before(&mut self, offset: u64) {
        while let Some(entry) = self.ranges.first_entry() {
            if *entry.key() >= offset {
                break;
            }
            let end = entry.remove();
            if end > offset {
                self.ranges.insert(offset, end);
            }
        }
    }

    pub(super) fn clear(&mut self) {
        self.ranges.clear();
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;
    use alloc::vec::Vec;

    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_the_set_of_its_offsets(
            operations in proptest::collection::vec((0_u64..60, 0_u64..20, any::<bool>()), 0..40),
        ) {
            let mut ranges = Ranges::default();
            let mut set = BTreeSet::new();
            for (start, len, insert) in operations {
                if insert {
                    ranges.insert(start, start + len);
                    set.extend(start..start + len);
                } else {
                    ranges.remove_before(len);
                    set.retain(|offset| *offset >= len);
                }
                let all: Vec<u64> = ranges.ranges.iter().flat_map(|(&s, &e)| s..e).collect();
                prop_assert_eq!(all, set.iter().copied().collect::<Vec<_>>());
                let bounds: Vec<_> = ranges.ranges.iter().collect();
                prop_assert!(bounds.windows(2).all(|two| two[0].1 < two[1].0));
            }
        }
    }
}

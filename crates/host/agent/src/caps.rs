//! Which results a spool drops.

use std::time::Duration;

/// Limits of a spool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// Of all its results together.
    pub size_bytes: u64,
    /// Of a result.
    pub age: Duration,
}

/// The reason for which a result is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// There is no room for it.
    Size,
    /// It is too old.
    Age,
}

/// A result, as far as this is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// Of its file.
    pub bytes: u64,
    /// When it was written, in seconds since 1970; none where no clock was to be believed.
    pub written_s: Option<i64>,
    /// It is being sent, and stays.
    pub is_held: bool,
}

impl Caps {
    /// The places of those that are dropped, of the oldest first, where one more comes of so many
    /// bytes. The age is judged where the time is known.
    pub fn dropped(
        &self,
        items: &[Item],
        coming_bytes: u64,
        now_s: Option<i64>,
    ) -> Vec<(usize, Cause)> {
        let longest_s = i64::try_from(self.age.as_secs()).unwrap_or(i64::MAX);
        let is_old = |item: &Item| {
            let age = now_s.zip(item.written_s);
            age.is_some_and(|(now, written)| now.saturating_sub(written) > longest_s)
        };
        let old = (0..).zip(items);
        let mut dropped: Vec<_> = old
            .filter(|(_, item)| !item.is_held && is_old(item))
            .map(|(place, _)| (place, Cause::Age))
            .collect();
        let stays = |place: &usize| dropped.iter().all(|(other, _)| other != place);
        let left: Vec<_> = (0..items.len()).filter(stays).collect();
        let all = left.iter().map(|place| items[*place].bytes);
        let mut total = all.fold(coming_bytes, u64::saturating_add);
        for place in left {
            if total <= self.size_bytes {
                break;
            }
            if !items[place].is_held {
                total = total.saturating_sub(items[place].bytes);
                dropped.push((place, Cause::Size));
            }
        }
        dropped.sort_unstable_by_key(|(place, _)| *place);
        dropped
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    const CAPS: Caps = Caps {
        size_bytes: 100,
        age: Duration::from_secs(1_000),
    };

    fn item(bytes: u64, written_s: Option<i64>) -> Item {
        Item {
            bytes,
            written_s,
            is_held: false,
        }
    }

    #[test]
    fn the_oldest_go_first() {
        let items = [item(40, None), item(40, None), item(20, None)];
        assert_eq!(CAPS.dropped(&items, 0, None), []);
        assert_eq!(CAPS.dropped(&items, 1, None), [(0, Cause::Size)]);
        let two = [(0, Cause::Size), (1, Cause::Size)];
        assert_eq!(CAPS.dropped(&items, 41, None), two);
        assert_eq!(CAPS.dropped(&items, 1_000, None).len(), 3);
    }

    #[test]
    fn age_counts_where_both_times_are_known() {
        let items = [item(1, Some(0)), item(1, None), item(1, Some(500))];
        assert_eq!(CAPS.dropped(&items, 0, Some(1_001)), [(0, Cause::Age)]);
        assert_eq!(CAPS.dropped(&items, 0, None), []);
        assert_eq!(CAPS.dropped(&items, 0, Some(-5)), []);
    }

    #[test]
    fn one_that_is_being_sent_stays() {
        let mut items = [item(90, Some(0)), item(10, Some(5_000))];
        items[0].is_held = true;
        assert_eq!(CAPS.dropped(&items, 10, Some(5_000)), [(1, Cause::Size)]);
    }

    proptest! {
        #[test]
        fn what_stays_fits_and_no_more_goes_than_must(
            sizes in vec(0_u64..60, 0..20),
            coming in 0_u64..100,
        ) {
            let items: Vec<_> = sizes.iter().map(|bytes| item(*bytes, None)).collect();
            let dropped = CAPS.dropped(&items, coming, Some(0));
            let stays: u64 = sizes[dropped.len()..].iter().sum();
            prop_assert!(stays + coming <= CAPS.size_bytes);
            let places: Vec<_> = dropped.iter().map(|(place, _)| *place).collect();
            prop_assert_eq!(&places, &(0..dropped.len()).collect::<Vec<_>>());
            if let Some(last) = places.last() {
                prop_assert!(stays + coming + sizes[*last] > CAPS.size_bytes);
            }
        }
    }
}

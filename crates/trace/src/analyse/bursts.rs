//! The highest rate of packets: Wireshark's burst rate.

use crate::Nanos;

/// Width of a bucket. They begin at its multiples since the Unix epoch.
const BUCKET: Nanos = 5_000_000;

/// Buckets of a window, 100 ms together.
const BUCKETS: usize = 20;

/// The window of 100 ms with the most packets.
///
/// Fields that most segments need stand together: with many connections each cache line counts.
#[repr(C)]
#[derive(Clone, Debug, Default)]
pub(crate) struct Bursts {
    /// Number of the newest bucket, and where it stands in the ring.
    newest: i64,
    place: usize,
    /// Number of the first bucket of the window with the most.
    most_from: i64,
    /// Packets in the window that ends with the newest bucket.
    sum: u32,
    most: u32,
    /// Packets of the last buckets: a ring.
    counts: [u32; BUCKETS],
}

impl Bursts {
    /// Counts a packet. One older than the window counts as its oldest.
    pub(crate) fn take(&mut self, at: Nanos) {
        let bucket = at.div_euclid(BUCKET);
        let steps = bucket.saturating_sub(self.newest);
        if self.sum == 0 || steps >= BUCKETS as i64 {
            self.counts = [0; BUCKETS];
            self.sum = 0;
            self.newest = bucket;
        } else {
            for _ in 0..steps {
                self.place = if self.place + 1 == BUCKETS {
                    0
                } else {
                    self.place + 1
                };
                self.sum -= std::mem::take(&mut self.counts[self.place]);
            }
            self.newest = self.newest.max(bucket);
        }
        let oldest = self.newest - (BUCKETS as i64 - 1);
        let behind = (self.newest - bucket.max(oldest)) as usize;
        let place = match self.place.checked_sub(behind) {
            Some(place) => place,
            None => self.place + BUCKETS - behind,
        };
        self.counts[place] += 1;
        self.sum += 1;
        if self.sum > self.most {
            self.most = self.sum;
            self.most_from = oldest;
        }
    }

    /// Returns the most packets a millisecond in a window, and where that begins: not before
    /// `first`, the first packet of all.
    pub(crate) fn most(&self, first: Nanos) -> (f64, Nanos) {
        let window_ms = (BUCKETS as i64 * BUCKET / 1_000_000) as f64;
        let from = self.most_from * BUCKET;
        (f64::from(self.most) / window_ms, from.max(first))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: Nanos = 1_000_000;

    fn of(times_ms: &[i64]) -> (f64, Nanos) {
        let mut bursts = Bursts::default();
        for time in times_ms {
            bursts.take(time * MS);
        }
        bursts.most(times_ms[0] * MS)
    }

    #[test]
    fn packets_of_one_window_count_together() {
        assert_eq!(of(&[0, 50, 99]), (0.03, 0));
        assert_eq!(of(&[0, 100, 199]), (0.02, 100 * MS));
    }

    #[test]
    fn the_window_with_the_most_counts() {
        assert_eq!(
            of(&[0, 1, 1000, 1001, 1002, 5000]),
            (0.03, 1000 * MS - 95 * MS)
        );
    }

    #[test]
    fn late_packets_do_no_harm() {
        assert_eq!(of(&[1000, 0, 1000]), (0.03, 1000 * MS));
    }

    proptest! {
        #[test]
        fn the_ring_is_that_of_all_packets(
            steps in proptest::collection::vec((-30_i64..60, 1_usize..4), 1..80),
        ) {
            let (mut at, mut newest, mut most) = (0, i64::MIN, 0);
            let (mut bursts, mut window) = (Bursts::default(), Vec::new());
            for (buckets, packets) in steps {
                at += buckets;
                newest = newest.max(at);
                let oldest = newest - (BUCKETS as i64 - 1);
                window.retain(|bucket| *bucket >= oldest);
                for _ in 0..packets {
                    bursts.take(at * BUCKET);
                    window.push(at.max(oldest));
                }
                most = window.len().max(most);
            }
            prop_assert_eq!(bursts.most(0).0, most as f64 / 100.0);
        }
    }
}

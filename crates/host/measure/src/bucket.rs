//! A limit of rate, as a bucket of tokens.

use std::time::Duration;

/// Time for which a bucket that stood unused holds tokens.
const BURST: Duration = Duration::from_millis(20);

/// Data that may pass: so much a second, and a little at once.
#[derive(Debug)]
pub struct Bucket {
    bytes_per_second: u64,
    /// Time, since the beginning, up to which all that has passed is paid for.
    paid_until: Duration,
}

impl Bucket {
    /// One for so many bytes a second, which is at least 1.
    pub fn new(bytes_per_second: u64) -> Self {
        Self {
            bytes_per_second: bytes_per_second.max(1),
            paid_until: Duration::ZERO,
        }
    }

    /// Takes data that passes at `now`, since the beginning; gives how long to wait after it.
    pub fn take(&mut self, bytes: usize, now: Duration) -> Duration {
        let nanoseconds = bytes as u128 * 1_000_000_000 / u128::from(self.bytes_per_second);
        let cost = Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX));
        self.paid_until = self
            .paid_until
            .max(now.saturating_sub(BURST))
            .saturating_add(cost);
        self.paid_until.saturating_sub(now)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_second_passes_for_a_second_of_data() {
        let mut bucket = Bucket::new(1_000);
        assert_eq!(
            bucket.take(1_000, Duration::ZERO),
            Duration::from_millis(1_000)
        );
        let later = Duration::from_secs(10);
        assert_eq!(bucket.take(30, later), Duration::from_millis(10));
    }

    proptest! {
        #[test]
        fn whoever_waits_keeps_to_the_rate(
            rate in 1_000u64..1_000_000, pieces in proptest::collection::vec(1usize..10_000, 1..50),
        ) {
            let mut bucket = Bucket::new(rate);
            let mut now = Duration::ZERO;
            for piece in &pieces {
                now += bucket.take(*piece, now);
            }
            let total: usize = pieces.iter().sum();
            let allowed = rate as f64 * (now + BURST).as_secs_f64();
            prop_assert!(total as f64 <= allowed + 1.0);
        }
    }
}

//! The rate at which a subflow carries, from the counters of its rules.

/// The longest time between two readings of which a rate is told, in least times.
const MOST: u64 = 6;

/// The rate at which a subflow carries, as far as its counters were read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    /// When they were read, and what they were: bytes of frames of each direction.
    last: Option<(u64, [u64; 2])>,
    /// Bits a second between two readings, frames included, in the direction that had more, and when
    /// the second one was.
    rate: Option<(u64, u64)>,
}

impl Pace {
    /// Takes a reading, unless it comes sooner after the last one than the least time.
    pub(super) fn read(&mut self, now_ns: u64, least_ns: u64, bytes: [u64; 2]) {
        let Some((then_ns, then)) = self.last else {
            self.last = Some((now_ns, bytes));
            return;
        };
        let elapsed_ns = now_ns - then_ns;
        if elapsed_ns < least_ns {
            return;
        }
        self.last = Some((now_ns, bytes));
        // Rules of another path count from 0.
        let [one, other] = [0, 1].map(|end| bytes[end].checked_sub(then[end]));
        self.rate = match (one, other) {
            (Some(one), Some(other)) if elapsed_ns <= MOST * least_ns => {
                let bits = u128::from(one.max(other)) * 8 * 1_000_000_000;
                let bps = bits.checked_div(u128::from(elapsed_ns)).unwrap_or(0);
                Some((u64::try_from(bps).unwrap_or(u64::MAX), now_ns))
            }
            _ => None,
        };
    }

    /// Bits a second between the last two readings, if the second one was not before a time.
    pub(crate) fn bps_since(&self, since_ns: u64) -> Option<u64> {
        let (bps, at_ns) = self.rate?;
        (at_ns >= since_ns).then_some(bps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_is_that_of_the_last_two_readings_that_are_not_too_near_or_too_far_apart() {
        let mut pace = Pace::default();
        pace.read(0, 500, [0, 0]);
        assert_eq!(pace.bps_since(0), None);
        pace.read(499, 500, [9, 9]);
        assert_eq!(pace.bps_since(0), None);
        pace.read(1_000, 500, [10, 1_000]);
        assert_eq!(pace.bps_since(1_000), Some(8_000_000_000));
        assert_eq!(pace.bps_since(1_001), None);
        pace.read(2_000, 500, [0, 2_000]);
        assert_eq!(pace.bps_since(0), None);
        pace.read(9_000, 500, [0, 9_000]);
        assert_eq!(pace.bps_since(0), None);
        pace.read(10_000, 500, [0, 9_000]);
        assert_eq!(pace.bps_since(0), Some(0));
    }
}

//! Statistics of round trips.

use crate::Nanos;

/// Round trips between the place of the capture and one end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundTrips {
    count: u64,
    smallest: Nanos,
    largest: Nanos,
    smoothed: Nanos,
    sum: i128,
    sum_of_squares: u128,
}

impl RoundTrips {
    /// Takes a sample; not one below 0, which packets captured in another order than they
    /// travelled give.
    #[inline]
    pub(super) fn sample(&mut self, rtt: Nanos) {
        if self.count == 0 {
            self.smallest = rtt;
            self.largest = rtt;
            self.smoothed = rtt;
        } else {
            self.smallest = self.smallest.min(rtt);
            self.largest = self.largest.max(rtt);
            // RFC 6298, section 2.3, with alpha = 1/8.
            self.smoothed += (rtt - self.smoothed) / 8;
        }
        self.count += 1;
        self.sum += i128::from(rtt);
        let size = u128::from(rtt.unsigned_abs());
        self.sum_of_squares = self.sum_of_squares.saturating_add(size * size);
    }

    /// Returns the number of samples.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the smallest.
    pub(super) fn smallest(&self) -> Option<Nanos> {
        (self.count > 0).then_some(self.smallest)
    }

    /// Returns the largest.
    pub(super) fn largest(&self) -> Option<Nanos> {
        (self.count > 0).then_some(self.largest)
    }

    /// Returns the SRTT.
    pub(super) fn smoothed(&self) -> Option<Nanos> {
        (self.count > 0).then_some(self.smoothed)
    }

    /// Returns the mean, rounded down.
    pub(super) fn mean(&self) -> Option<Nanos> {
        let mean = self.sum.checked_div(i128::from(self.count))?;
        Some(mean as Nanos)
    }

    /// Returns the standard deviation of all samples, rounded down.
    pub(super) fn deviation(&self) -> Option<Nanos> {
        let count = u128::from(self.count);
        let squares = self.sum_of_squares.checked_mul(count);
        let square = self.sum.checked_mul(self.sum).map(i128::unsigned_abs);
        match (squares, square) {
            _ if count == 0 => None,
            (Some(squares), Some(square)) => {
                Some((squares.saturating_sub(square).isqrt() / count) as Nanos)
            }
            // Years of round trips together: to the precision of floating point.
            _ => {
                let mean = self.sum as f64 / count as f64;
                let variance = self.sum_of_squares as f64 / count as f64 - mean * mean;
                Some(variance.max(0.0).sqrt() as Nanos)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_at_first() {
        let none = RoundTrips::default();
        assert_eq!(
            (none.count(), none.mean(), none.deviation()),
            (0, None, None)
        );
        assert_eq!(
            (none.smallest(), none.largest(), none.smoothed()),
            (None, None, None)
        );
    }

    #[test]
    fn mean_and_deviation_are_those_of_all_samples() {
        let mut trips = RoundTrips::default();
        for rtt in [2, 4, 4, 4, 5, 5, 7, 9] {
            trips.sample(rtt * 1_000_000);
        }
        assert_eq!(trips.count(), 8);
        assert_eq!(trips.smallest(), Some(2_000_000));
        assert_eq!(trips.largest(), Some(9_000_000));
        assert_eq!(trips.mean(), Some(5_000_000));
        assert_eq!(trips.deviation(), Some(2_000_000));
    }

    #[test]
    fn samples_of_any_size_are_taken() {
        let mut trips = RoundTrips::default();
        for _ in 0..5 {
            trips.sample(Nanos::MAX);
            trips.sample(0);
        }
        assert_eq!(trips.mean(), Some(Nanos::MAX / 2));
        assert_eq!(trips.largest(), Some(Nanos::MAX));
        assert!(trips.deviation().is_some());
    }
}

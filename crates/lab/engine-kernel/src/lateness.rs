//! The emulator's lateness: a histogram of delivery time after due time.

use mptcplab_link::Nanos;

const BIN_NS: Nanos = 5_000;
const BINS: usize = 4_000;

/// A histogram with bins of 5 µs up to 20 ms.
#[derive(Clone, Debug)]
pub struct Lateness {
    bins: Vec<u64>,
    count: u64,
    max_ns: Nanos,
}

impl Default for Lateness {
    fn default() -> Self {
        Self {
            bins: vec![0; BINS],
            count: 0,
            max_ns: 0,
        }
    }
}

impl Lateness {
    /// Counts one packet that left `late_ns` after it was due.
    pub fn add(&mut self, late_ns: Nanos) {
        let bin = usize::try_from(late_ns / BIN_NS).map_or(BINS - 1, |bin| bin.min(BINS - 1));
        self.bins[bin] += 1;
        self.count += 1;
        self.max_ns = self.max_ns.max(late_ns);
    }

    /// Packets counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The largest value.
    pub fn max_ns(&self) -> Nanos {
        self.max_ns
    }

    /// The upper edge of the bin that holds the quantile `q` in 0..=1; `None` without packets.
    pub fn quantile_ns(&self, q: f64) -> Option<Nanos> {
        let rank = (self.count as f64 * q).ceil().max(1.0) as u64;
        let mut seen = 0;
        let bin = self.bins.iter().position(|count| {
            seen += count;
            seen >= rank
        })?;
        Some(((bin as Nanos + 1) * BIN_NS).min(self.max_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_upper_edges_of_bins_and_never_above_the_maximum() {
        let mut lateness = Lateness::default();
        assert_eq!(lateness.quantile_ns(0.5), None);
        for late_ns in [1_000, 2_000, 12_000, 90_000_000] {
            lateness.add(late_ns);
        }
        assert_eq!(lateness.quantile_ns(0.5), Some(5_000));
        assert_eq!(lateness.quantile_ns(0.75), Some(15_000));
        assert_eq!(lateness.quantile_ns(1.0), Some(20_000_000));
        assert_eq!((lateness.count(), lateness.max_ns()), (4, 90_000_000));
    }
}

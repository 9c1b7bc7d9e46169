//! Bytes that a receiver got, and their times.

use mptcplab_link::Nanos;

/// Width of a bin of the `deliveries` table.
const BIN_NS: Nanos = 10_000_000;

/// The receiver's account of one transfer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deliveries {
    /// Payload delivered.
    pub bytes: u64,
    /// Time of the first delivery.
    pub first_ns: Option<Nanos>,
    /// Time of the last delivery.
    pub last_ns: Option<Nanos>,
    /// Longest time between two deliveries, and when it began.
    pub silence: Option<Silence>,
    bin: Option<Bin>,
}

/// A time without deliveries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Silence {
    /// How long.
    pub length_ns: Nanos,
    /// When it began.
    pub at_ns: Nanos,
}

/// Bytes that came within one bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bin {
    /// Start of the bin.
    pub t_ns: Nanos,
    /// Payload.
    pub bytes: u64,
}

impl Deliveries {
    /// Accounts for `bytes` that came at `now`; returns the bin that is over, if any.
    pub fn record(&mut self, now: Nanos, bytes: u64) -> Option<Bin> {
        if let Some(last) = self.last_ns {
            let silence = Silence {
                length_ns: now.saturating_sub(last),
                at_ns: last,
            };
            if self
                .silence
                .is_none_or(|longest| silence.length_ns > longest.length_ns)
            {
                self.silence = Some(silence);
            }
        }
        self.bytes += bytes;
        self.first_ns.get_or_insert(now);
        self.last_ns = Some(now);
        let t_ns = now - now % BIN_NS;
        match &mut self.bin {
            Some(bin) if bin.t_ns == t_ns => {
                bin.bytes += bytes;
                None
            }
            bin => bin.replace(Bin { t_ns, bytes }),
        }
    }

    /// The bin that was still open.
    pub fn finish(&mut self) -> Option<Bin> {
        self.bin.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_begin_at_whole_tens_of_milliseconds_and_empty_ones_are_left_out() {
        let mut deliveries = Deliveries::default();
        assert_eq!(deliveries.record(12_000_000, 5), None);
        assert_eq!(deliveries.record(19_999_999, 6), None);
        assert_eq!(
            deliveries.record(40_000_000, 7),
            Some(Bin {
                t_ns: 10_000_000,
                bytes: 11
            })
        );
        assert_eq!(
            deliveries.finish(),
            Some(Bin {
                t_ns: 40_000_000,
                bytes: 7
            })
        );
        assert_eq!(deliveries.finish(), None);
        assert_eq!(deliveries.bytes, 18);
        assert_eq!(deliveries.first_ns, Some(12_000_000));
        assert_eq!(deliveries.last_ns, Some(40_000_000));
    }

    #[test]
    fn the_longest_silence_is_exact() {
        let mut deliveries = Deliveries::default();
        for now in [5, 17, 1_000_017, 1_000_020] {
            deliveries.record(now, 1);
        }
        let longest = Silence {
            length_ns: 1_000_000,
            at_ns: 17,
        };
        assert_eq!(deliveries.silence, Some(longest));
    }

    #[test]
    fn one_delivery_has_no_silence() {
        let mut deliveries = Deliveries::default();
        deliveries.record(5, 1);
        assert_eq!(deliveries.silence, None);
    }
}

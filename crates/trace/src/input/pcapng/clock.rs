//! Times of an interface.

use crate::Nanos;

/// How the ticks of an interface become time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clock {
    scale: Scale,
    /// Nanoseconds to be added.
    offset: Nanos,
}

/// Nanoseconds of a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scale {
    /// So many.
    Times(u64),
    /// One part of so many.
    Over(u64),
    /// 10⁹ / 2ⁿ.
    Binary(u8),
}

impl Clock {
    /// From the options `if_tsresol` (10⁻ⁿ seconds, or 2⁻ⁿ where the highest bit is set) and
    /// `if_tsoffset` (seconds).
    pub(super) fn new(resolution: u8, offset_seconds: i64) -> Self {
        let digits = u32::from(resolution & 0x7f);
        let scale = match resolution {
            0..=9 => Scale::Times(10_u64.pow(9 - digits)),
            // A tick that is too short for any time in 64 bits of them.
            10..=127 => Scale::Over(10_u64.checked_pow(digits - 9).unwrap_or(u64::MAX)),
            _ => Scale::Binary(resolution & 0x7f),
        };
        Self {
            scale,
            offset: offset_seconds.saturating_mul(1_000_000_000),
        }
    }

    /// Nanoseconds since the epoch; the nearest that there are, where there are none so far away.
    #[inline]
    pub(super) fn nanos(self, ticks: u64) -> Nanos {
        let nanos = match self.scale {
            Scale::Times(factor) => ticks.saturating_mul(factor),
            Scale::Over(divisor) => ticks / divisor,
            Scale::Binary(shift) => {
                let nanos = (u128::from(ticks) * 1_000_000_000) >> shift;
                nanos.try_into().unwrap_or(u64::MAX)
            }
        };
        Nanos::try_from(nanos)
            .unwrap_or(Nanos::MAX)
            .saturating_add(self.offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_of_any_length_become_nanoseconds() {
        let cases = [
            (0, 0, 1_700_000_000, 1_700_000_000_000_000_000),
            (3, 0, 1_700_000_000_001, 1_700_000_000_001_000_000),
            (6, 0, 1_700_000_000_000_001, 1_700_000_000_000_001_000),
            (9, 0, 1_700_000_000_000_000_001, 1_700_000_000_000_000_001),
            (12, 0, 1_999, 1),
            (127, 0, u64::MAX - 1, 0),
            (0x80, 0, 5, 5_000_000_000),
            (0x80 | 10, 0, 1_025, 1_000_976_562),
            (0x80 | 32, 0, 1 << 31, 500_000_000),
            (0xff, 0, u64::MAX, 0),
            (6, -2, 3_000_000, 1_000_000_000),
            (6, 7, 1, 7_000_001_000),
        ];
        for (resolution, offset, ticks, nanos) in cases {
            assert_eq!(
                Clock::new(resolution, offset).nanos(ticks),
                nanos,
                "{ticks} of {resolution:#x} and {offset}"
            );
        }
    }

    #[test]
    fn times_that_are_too_far_away_are_the_farthest() {
        assert_eq!(Clock::new(0, 0).nanos(u64::MAX), Nanos::MAX);
        assert_eq!(Clock::new(0, i64::MAX).nanos(u64::MAX), Nanos::MAX);
        assert_eq!(Clock::new(0, i64::MIN).nanos(0), Nanos::MIN);
        assert_eq!(Clock::new(0x80, 0).nanos(u64::MAX), Nanos::MAX);
    }
}

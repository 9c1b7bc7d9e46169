//! Data sequence numbers of 8 bytes or of 4, counted without wrapping.

use mptcplab_wire::option::DataNumber;

use super::ranges::{BOUND, Number};

/// The data sequence numbers of one end. Number 0 is the initial one; where that is not known, 1 is
/// the first number that was seen.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Numbers {
    /// Number 0 on the wire.
    base: u64,
    known: Known,
    /// The number that was read last: one of 4 bytes is near it.
    near: Number,
}

/// Known part of the base.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Known {
    #[default]
    Nothing,
    /// Only numbers of 4 bytes were seen.
    LowHalf,
    All,
}

impl Numbers {
    /// Sets the initial number. Once numbers were counted from another one it comes too late.
    pub(super) fn set_initial(&mut self, initial: u64) {
        if self.known == Known::Nothing {
            self.base = initial;
            self.known = Known::All;
        }
    }

    /// Returns the count of `number`: of 4 bytes the one closest to the number before. The first
    /// number of all counts as `first` where the initial one is unknown. `None` beyond ±[`BOUND`].
    #[inline]
    pub(super) fn read(&mut self, number: DataNumber, first: Number) -> Option<Number> {
        if self.known != Known::All {
            self.learn(number, first);
        }
        let count = match number {
            DataNumber::Long(number) => number.wrapping_sub(self.base) as Number,
            DataNumber::Short(number) => self.nearest(number),
        };
        if !(-BOUND..=BOUND).contains(&count) {
            return None;
        }
        self.near = count;
        Some(count)
    }

    fn nearest(&self, number: u32) -> Number {
        let near = self.base.wrapping_add(self.near as u64) as u32;
        self.near + Number::from(number.wrapping_sub(near) as i32)
    }

    #[cold]
    fn learn(&mut self, number: DataNumber, first: Number) {
        let (count, value) = match (self.known, number) {
            (Known::All, _) | (Known::LowHalf, DataNumber::Short(_)) => return,
            (Known::Nothing, DataNumber::Short(number)) => {
                self.known = Known::LowHalf;
                (first, u64::from(number))
            }
            (Known::Nothing, DataNumber::Long(number)) => {
                self.known = Known::All;
                (first, number)
            }
            (Known::LowHalf, DataNumber::Long(number)) => {
                self.known = Known::All;
                (self.nearest(number as u32), number)
            }
        };
        self.base = value.wrapping_sub(count as u64);
        self.near = count;
    }

    /// Returns the 8 bytes on the wire of a count, where they are known.
    pub(super) fn wire(&self, count: Number) -> Option<u64> {
        (self.known == Known::All).then(|| self.base.wrapping_add(count as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use DataNumber::{Long, Short};
    use proptest::prelude::*;

    #[test]
    fn the_first_number_stands_for_the_initial_one_where_that_is_unknown() {
        let mut numbers = Numbers::default();
        assert_eq!(numbers.read(Short(7), 1), Some(1));
        assert_eq!(numbers.wire(1), None);
        numbers.set_initial(1000);
        assert_eq!(numbers.read(Short(9), 1), Some(3));
        assert_eq!(numbers.read(Long(0xaaaa_0000_0005), 1), Some(-1));
        assert_eq!(numbers.wire(1), Some(0xaaaa_0000_0007));
        assert_eq!(numbers.read(Long(0xaaab_0000_0007), 1), Some(0x1_0000_0001));
    }

    #[test]
    fn numbers_that_are_nowhere_near_are_not_read() {
        let mut numbers = Numbers::default();
        numbers.set_initial(0);
        assert_eq!(numbers.read(Long(1 << 63), 1), None);
        assert_eq!(numbers.read(Long(1 << 60), 1), Some(BOUND));
        assert_eq!(numbers.read(Short(1), 1), None);
        assert_eq!(numbers.read(Long(1), 1), Some(1));
    }

    proptest! {
        #[test]
        fn both_lengths_mean_the_count_that_they_were_made_from(
            initial: u64,
            start in 0_i64..1 << 50,
            steps in proptest::collection::vec((-(1_i64 << 31)..1 << 31, any::<bool>()), 1..20),
        ) {
            let mut numbers = Numbers::default();
            numbers.set_initial(initial);
            let mut count = start;
            prop_assert_eq!(numbers.read(Long(initial.wrapping_add(start as u64)), 1), Some(start));
            for (step, short) in steps {
                count += step;
                let wire = initial.wrapping_add(count as u64);
                let number = if short { Short(wire as u32) } else { Long(wire) };
                prop_assert_eq!(numbers.read(number, 1), Some(count));
                prop_assert_eq!(numbers.wire(count), Some(wire));
            }
        }
    }
}

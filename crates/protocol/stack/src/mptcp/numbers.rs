//! Data sequence numbers on the wire, offsets inside.

use mptcplab_wire::option::DataNumber;

/// Data sequence numbers of one direction of a connection. Offset 0 is the first byte of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DataNumbers {
    first: u64,
}

impl DataNumbers {
    /// The initial number stands for the handshake; data begins with the one that follows.
    pub(super) fn new(initial: u64) -> Self {
        Self {
            first: initial.wrapping_add(1),
        }
    }

    /// The number on the wire.
    pub(super) fn wire(self, offset: u64) -> u64 {
        self.first.wrapping_add(offset)
    }

    /// The offset that a number means; of 4 bytes, the one closest to `near`. `None` where it lies
    /// before the first byte of data.
    pub(super) fn offset(self, number: DataNumber, near: u64) -> Option<u64> {
        let distance = match number {
            DataNumber::Long(number) => number.wrapping_sub(self.wire(near)) as i64,
            DataNumber::Short(number) => {
                i64::from(number.wrapping_sub(self.wire(near) as u32) as i32)
            }
        };
        near.checked_add_signed(distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_lies_before_the_data_has_no_offset() {
        let numbers = DataNumbers::new(u64::MAX);
        assert_eq!(numbers.wire(0), 0);
        assert_eq!(numbers.offset(DataNumber::Long(u64::MAX), 5), None);
        assert_eq!(numbers.offset(DataNumber::Short(u32::MAX), 5), None);
    }

    proptest! {
        #[test]
        fn numbers_of_both_lengths_mean_the_offset_they_were_made_from(
            initial: u64,
            near in 0_u64..1 << 60,
            distance in -(1_i64 << 31)..1 << 31,
        ) {
            let numbers = DataNumbers::new(initial);
            let offset = near.checked_add_signed(distance);
            prop_assume!(offset.is_some());
            let wire = numbers.wire(offset.expect("assumed"));
            prop_assert_eq!(numbers.offset(DataNumber::Long(wire), near), offset);
            prop_assert_eq!(numbers.offset(DataNumber::Short(wire as u32), near), offset);
        }
    }
}

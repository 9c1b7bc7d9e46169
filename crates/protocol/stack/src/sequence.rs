//! Sequence numbers of 32 bits on the wire, offsets of 64 bits inside.

/// Numbers of one direction of a connection. Offset 0 is the SYN, 1 the first byte of data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Numbering {
    initial: u32,
}

impl Numbering {
    pub(crate) fn new(initial: u32) -> Self {
        Self { initial }
    }

    /// The number on the wire.
    pub(crate) fn wire(self, offset: u64) -> u32 {
        self.initial.wrapping_add(offset as u32)
    }

    /// The offset closest to `near` that has this number; none where it lies before the SYN.
    pub(crate) fn offset(self, wire: u32, near: u64) -> Option<u64> {
        let distance = wire.wrapping_sub(self.wire(near)) as i32;
        near.checked_add_signed(i64::from(distance))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_lies_before_the_syn_has_no_offset() {
        let numbering = Numbering::new(7);
        assert_eq!(numbering.offset(7, 3), Some(0));
        assert_eq!(numbering.offset(6, 3), None);
    }

    proptest! {
        #[test]
        fn an_offset_within_two_gibibytes_is_found_again(
            initial: u32,
            near in 0_u64..1 << 40,
            distance in -(1_i64 << 31)..1 << 31,
        ) {
            let numbering = Numbering::new(initial);
            let offset = near.checked_add_signed(distance);
            prop_assume!(offset.is_some());
            let wire = numbering.wire(offset.expect("assumed"));
            prop_assert_eq!(numbering.offset(wire, near), offset);
        }
    }
}

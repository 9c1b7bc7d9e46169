//! Origin of a subflow's sequence numbers, from which mappings count.

use super::ranges::{BOUND, Number};

/// The sequence numbers of one end on one subflow, counted from its initial one without wrapping:
/// 1 is the first byte of data (RFC 8684, section 3.3.1).
///
/// Where the SYN was not captured the first number that was seen is taken for 1, until it follows
/// from the mappings which one it was: data lies within the mapping of its segment, so that each
/// mapping leaves fewer possibilities. One is enough where it is as long as its segment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Origin {
    /// Number 0 on the wire.
    zero: u32,
    known: Known,
    /// The number that was read last: others are near it.
    near: Number,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Known {
    /// No number was seen.
    #[default]
    Nothing,
    /// Numbers count from the first that was seen.
    First,
    /// The same, and from `low` to `high` must be added to them.
    Within {
        low: Number,
        high: Number,
    },
    All,
}

impl Origin {
    /// Sets the initial sequence number; once numbers were seen it comes too late.
    pub(super) fn set_initial(&mut self, initial: u32) {
        if matches!(self.known, Known::Nothing | Known::All) && self.near <= 1 {
            self.zero = initial;
            self.known = Known::All;
        }
    }

    /// Accepts the numbers that were counted, if any, as right.
    pub(super) fn accept(&mut self) {
        if self.known != Known::Nothing {
            self.known = Known::All;
        }
    }

    pub(super) fn is_known(&self) -> bool {
        self.known == Known::All
    }

    /// Returns the count of a sequence number.
    #[inline]
    pub(super) fn read(&mut self, sequence: u32) -> Number {
        if self.known == Known::Nothing {
            self.zero = sequence.wrapping_sub(1);
            self.known = Known::First;
        }
        let near = self.zero.wrapping_add(self.near as u32);
        self.near = closest(sequence.wrapping_sub(near), self.near);
        self.near
    }

    /// Returns the count of a subflow sequence number of a mapping.
    #[inline]
    pub(super) fn read_mapped(&self, subflow_sequence: u32) -> Number {
        match self.known {
            Known::All => closest(subflow_sequence.wrapping_sub(self.near as u32), self.near),
            Known::Within { low, .. } => {
                let near = self.near.wrapping_add(low);
                closest(subflow_sequence.wrapping_sub(near as u32), near)
            }
            Known::Nothing | Known::First => Number::from(subflow_sequence),
        }
    }

    /// Learns from data of `data`, as read, in a segment with the mapping of `mapped`. Where that
    /// leaves one possibility the origin becomes known. Returns the correction of earlier counts.
    pub(super) fn learn(
        &mut self,
        data: (Number, Number),
        mapped: (Number, Number),
    ) -> Option<Number> {
        let (mut low, mut high) = (mapped.0 - data.0, mapped.1 - data.1);
        if low > high {
            // More data than the mapping has: it shows nothing.
            return None;
        }
        match self.known {
            Known::All => return None,
            Known::Within { low: l, high: h } if l.max(low) <= h.min(high) => {
                (low, high) = (l.max(low), h.min(high));
            }
            _ => {}
        }
        self.known = Known::Within { low, high };
        if low < high {
            return None;
        }
        self.known = Known::All;
        self.zero = self.zero.wrapping_sub(low as u32);
        self.near = (self.near + low).clamp(-BOUND, BOUND);
        Some(low)
    }
}

/// Returns the number at `distance` on the wire from `near`, in the shorter direction.
#[inline]
fn closest(distance: u32, near: Number) -> Number {
    (near + Number::from(distance as i32)).clamp(-BOUND, BOUND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_as_long_as_its_segment_tells_the_origin() {
        let mut origin = Origin::default();
        let start = origin.read(5000);
        assert_eq!(start, 1);
        let mapped = origin.read_mapped(4001);
        assert_eq!(
            origin.learn((start, start + 100), (mapped, mapped + 100)),
            Some(4000)
        );
        assert!(origin.is_known());
        assert_eq!(origin.read(5100), 4101);
        assert_eq!(origin.read_mapped(4101), 4101);
    }

    #[test]
    fn segments_of_a_longer_mapping_tell_it_together() {
        let mut origin = Origin::default();
        // Initial number 999; of the mapping from 501 to 800 the last two thirds were captured.
        for (sequence, learned) in [(1600, None), (1700, None), (1800, Some(600))] {
            let start = origin.read(sequence);
            let (ssn, bytes) = if sequence < 1800 {
                (501, 300)
            } else {
                (801, 200)
            };
            let mapped = origin.read_mapped(ssn);
            assert_eq!(
                origin.learn((start, start + 100), (mapped, mapped + bytes)),
                learned
            );
        }
        assert_eq!(origin.read(1000), 1);
    }

    #[test]
    fn a_mapping_that_contradicts_those_before_counts_alone() {
        let mut origin = Origin::default();
        let start = origin.read(7);
        assert_eq!(origin.learn((start, start + 10), (1, 100)), None);
        assert_eq!(origin.learn((start, start + 10), (5, 9)), None);
        assert_eq!(origin.learn((start, start + 10), (2001, 2011)), Some(2000));
    }

    #[test]
    fn numbers_wrap() {
        let mut origin = Origin::default();
        origin.set_initial(u32::MAX);
        assert_eq!(origin.read(u32::MAX), 0);
        assert_eq!(origin.read(0x7fff_fff0), 0x7fff_fff1);
        assert_eq!(origin.read(0xffff_ffe0), 0xffff_ffe1);
        assert_eq!(origin.read(5), 0x1_0000_0006);
        assert_eq!(origin.read_mapped(6), 0x1_0000_0006);
    }
}

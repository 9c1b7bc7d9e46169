//! State of a flow that its usual packets need.

use mptcplab_wire::option::{DataNumber, Dss, MptcpOption};

use super::table::FlowKey;
use crate::{Ends, Place, Segment, Side};

/// Connection number of a pending flow.
pub(super) const PENDING: u32 = u32::MAX;

/// Step in which a flow passes its newest data sequence numbers to its connection: 1 MiB.
const STEP_BITS: u32 = 20;

/// A flow: packets with the same addresses and ports, from a SYN to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    pub(super) key: FlowKey,
    /// Newest data sequence number of each end that the flow has carried or acknowledged.
    pub(super) data: Ends<u64>,
    /// Sequence number that follows what each end sent.
    pub(super) next: Ends<u32>,
    /// Sequence number that each end expects: the highest acknowledgement that it sent.
    pub(super) expected: Ends<u32>,
    /// Number of its connection, or [`PENDING`].
    pub(super) connection: u32,
    /// Number of the subflow in its connection.
    pub(super) number: u32,
    pub(super) bits: Bits,
    /// Window that each end granted with that, not scaled.
    pub(super) window: Ends<u16>,
}

/// Flags of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bits(u16);

impl Bits {
    /// The client is the low end of the key.
    pub(super) const CLIENT_LOW: u16 = 1;
    /// The handshake is under way: every segment may show something of identity.
    pub(super) const HANDSHAKE: u16 = 1 << 1;
    // One bit for each side from here on.
    const FIRST_DATA: u16 = 1 << 2;
    const KNOWN: u16 = 1 << 4;
    const SHORT: u16 = 1 << 6;
    const FIN: u16 = 1 << 8;
    const RESET: u16 = 1 << 10;
    const SENT: u16 = 1 << 12;
    const SYNCHRONISED: u16 = 1 << 14;

    /// Returns the flag that the first data of this end is awaited, which must have a mapping.
    #[inline]
    pub(super) fn first_data(side: Side) -> u16 {
        Self::FIRST_DATA << side as u16
    }

    /// Returns the flag that a data sequence number of this end is known.
    #[inline]
    pub(super) fn known(side: Side) -> u16 {
        Self::KNOWN << side as u16
    }

    /// Returns the flag that only the low half of that number is known.
    #[inline]
    pub(super) fn short(side: Side) -> u16 {
        Self::SHORT << side as u16
    }

    /// Returns the flag that this end sent a FIN.
    #[inline]
    pub(super) fn fin(side: Side) -> u16 {
        Self::FIN << side as u16
    }

    /// Returns the flag that this end sent a RST.
    #[inline]
    pub(super) fn reset(side: Side) -> u16 {
        Self::RESET << side as u16
    }

    /// Returns the flag that this end sent something.
    #[inline]
    pub(super) fn sent(side: Side) -> u16 {
        Self::SENT << side as u16
    }

    /// Returns the flag that this end acknowledged something: its state is SYN-RECEIVED or later.
    #[inline]
    pub(super) fn synchronised(side: Side) -> u16 {
        Self::SYNCHRONISED << side as u16
    }

    /// Returns whether one of `bits` is set.
    #[inline]
    pub(super) fn any(self, bits: u16) -> bool {
        self.0 & bits != 0
    }

    #[inline]
    pub(super) fn set(&mut self, bits: u16, on: bool) {
        if on {
            self.0 |= bits;
        } else {
            self.0 &= !bits;
        }
    }

    /// Returns whether only a new connection can follow.
    pub(super) fn is_over(self) -> bool {
        self.any(Self::reset(Side::Client) | Self::reset(Side::Server))
            || (self.any(Self::fin(Side::Client)) && self.any(Self::fin(Side::Server)))
    }
}

impl Flow {
    /// Creates a pending flow.
    pub(super) fn new(key: FlowKey) -> Self {
        let mut bits = Bits::default();
        bits.set(Bits::HANDSHAKE, true);
        Self {
            key,
            data: Ends::default(),
            next: Ends::default(),
            expected: Ends::default(),
            connection: PENDING,
            number: 0,
            bits,
            window: Ends::default(),
        }
    }

    /// Returns the end that is the low one of the key, or the high one.
    #[inline]
    pub(super) fn side(&self, low: bool) -> Side {
        if self.bits.any(Bits::CLIENT_LOW) == low {
            Side::Client
        } else {
            Side::Server
        }
    }

    /// Returns the place of a packet of this end.
    #[inline]
    pub(super) fn place(&self, from: Side) -> Place {
        Place {
            connection: self.connection,
            subflow: self.number,
            from,
        }
    }

    /// Takes a segment that shows nothing of identity. Returns `false` where it may show something;
    /// then nothing was taken of it that may not be taken twice.
    #[inline]
    pub(super) fn take_usual(&mut self, from: Side, segment: &Segment) -> bool {
        let watched = if segment.payload_bytes == 0 {
            Bits::HANDSHAKE
        } else {
            Bits::HANDSHAKE | Bits::first_data(from)
        };
        if segment.flags.syn || segment.flags.rst || self.bits.any(watched) {
            return false;
        }
        let taken = match segment.options.mptcp.as_slice() {
            [] => true,
            [MptcpOption::Dss(dss)] => self.take_dss(from, dss),
            _ => false,
        };
        if taken {
            self.sent(from, segment);
        }
        taken
    }

    #[inline]
    fn take_dss(&mut self, from: Side, dss: &Dss) -> bool {
        if let Some(mapping) = dss.mapping
            && (mapping.bytes == 0 || !self.take_number(from, mapping.data_sequence))
        {
            return false;
        }
        dss.acknowledgement
            .is_none_or(|number| self.take_number(from.other(), number))
    }

    /// Takes a data sequence number of an end. Returns `false` where the connection needs it.
    #[inline]
    fn take_number(&mut self, of: Side, number: DataNumber) -> bool {
        let old = self.data[of];
        let (new, unknown) = match number {
            DataNumber::Long(new) => (new, Bits::short(of)),
            DataNumber::Short(low) => (extend(old, low), 0),
        };
        if !self.bits.any(Bits::known(of)) || self.bits.any(unknown) {
            return false;
        }
        if is_before(old, new) {
            if (old ^ new) >> STEP_BITS != 0 {
                return false;
            }
            self.data[of] = new;
        }
        true
    }

    /// Takes a segment that was sent.
    #[inline]
    pub(super) fn sent(&mut self, from: Side, segment: &Segment) {
        let end = end_of(segment);
        if end.wrapping_sub(self.next[from]) as i32 > 0 || !self.bits.any(Bits::sent(from)) {
            self.next[from] = end;
            self.bits.set(Bits::sent(from), true);
        }
        if segment.flags.fin {
            self.bits.set(Bits::fin(from), true);
        }
        if segment.flags.ack && !segment.flags.rst {
            self.acknowledges(from, segment);
        }
    }

    /// Takes the acknowledgement and the window of an end.
    #[inline]
    fn acknowledges(&mut self, from: Side, segment: &Segment) {
        let ahead = segment.acknowledgement.wrapping_sub(self.expected[from]) as i32;
        if ahead >= 0 || !self.bits.any(Bits::synchronised(from)) {
            self.expected[from] = segment.acknowledgement;
            self.bits.set(Bits::synchronised(from), true);
            if !segment.flags.syn {
                self.window[from] = segment.window;
            }
        }
    }
}

/// Returns the sequence number that follows a segment.
pub(super) fn end_of(segment: &Segment) -> u32 {
    segment
        .sequence
        .wrapping_add(segment.payload_bytes)
        .wrapping_add(u32::from(segment.flags.syn))
        .wrapping_add(u32::from(segment.flags.fin))
}

/// Returns the number nearest to `near` that has `low` as its low half.
#[inline]
pub(super) fn extend(near: u64, low: u32) -> u64 {
    let ahead = low.wrapping_sub(near as u32) as i32;
    near.wrapping_add_signed(i64::from(ahead))
}

/// Returns whether `one` stands before `other` in the circle of 64-bit numbers.
#[inline]
pub(super) fn is_before(one: u64, other: u64) -> bool {
    other.wrapping_sub(one) as i64 > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_number_is_extended_to_the_nearest() {
        assert_eq!(extend(0x5_0000_0010, 0x20), 0x5_0000_0020);
        assert_eq!(extend(0x5_ffff_fff0, 0x10), 0x6_0000_0010);
        assert_eq!(extend(0x6_0000_0010, 0xffff_fff0), 0x5_ffff_fff0);
        assert_eq!(extend(u64::MAX, 0), 0);
    }

    #[test]
    fn order_is_that_of_a_circle() {
        assert!(is_before(u64::MAX, 3));
        assert!(!is_before(3, u64::MAX));
        assert!(!is_before(3, 3));
    }

    #[test]
    fn a_flow_is_small() {
        assert!(size_of::<Flow>() <= 96);
    }
}

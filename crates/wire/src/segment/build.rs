//! Segments as packets.

use super::{Flags, Segment};
use crate::layout::protocol;
use crate::packet::{Packet, ip_header, put};

/// Bytes of a TCP header without options.
pub(super) const TCP_BYTES: usize = 20;

impl Segment {
    /// The packet of this segment.
    ///
    /// # Panics
    /// Where the options exceed 40 bytes ([`Options::encoded_bytes`](super::Options)), the packet
    /// would be longer than 65,535 bytes, or the addresses are of two families. A segment that was
    /// parsed has none of these faults, whatever bytes it was parsed from.
    pub fn into_packet(self, hop_limit: u8) -> Packet {
        let (padding, option_bytes) = self.options.layout();
        let header_bytes = TCP_BYTES + option_bytes;
        let mut packet = Packet {
            header: ip_header(
                self.source.ip(),
                self.destination.ip(),
                protocol::TCP,
                hop_limit,
                self.ecn,
                header_bytes + self.payload.len(),
            ),
            payload: self.payload,
        };
        let pair = |high: u16, low: u16| u32::from(high) << 16 | u32::from(low);
        let offset_and_flags = (header_bytes as u16 / 4) << 12 | u16::from(self.flags.bits());
        let words = [
            pair(self.source.port(), self.destination.port()),
            self.sequence,
            self.acknowledgement,
            pair(offset_and_flags, self.window),
            u32::from(self.urgent),
        ];
        put(
            &mut packet.header,
            words.map(u32::to_be_bytes).as_flattened(),
        );
        self.options.write(padding, &mut packet.header);
        packet
    }
}

impl Flags {
    /// The byte of the header.
    fn bits(self) -> u8 {
        u8::from(self.cwr) << 7
            | u8::from(self.ece) << 6
            | u8::from(self.urg) << 5
            | u8::from(self.ack) << 4
            | u8::from(self.psh) << 3
            | u8::from(self.rst) << 2
            | u8::from(self.syn) << 1
            | u8::from(self.fin)
    }

    /// From the byte of the header.
    pub(super) fn from_bits(bits: u8) -> Self {
        let has = |bit: u8| bits & bit != 0;
        Self {
            cwr: has(0x80),
            ece: has(0x40),
            urg: has(0x20),
            ack: has(0x10),
            psh: has(0x08),
            rst: has(0x04),
            syn: has(0x02),
            fin: has(0x01),
        }
    }
}

//! Segments as packets.

use alloc::boxed::Box;

use bytes::Bytes;

use super::usual::Usual;
use super::{Flags, Segment};
use crate::buffer::{Header, put};
use crate::layout::protocol;
use crate::packet::{Packet, put_ip_header};

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
        let mut header = Header::new();
        self.write_header(hop_limit, &mut header);
        let payload = self.payload;
        Packet { header, payload }
    }

    /// The same in a box, in which its headers are written: packets are moved much. A reused
    /// one saves an allocation.
    ///
    /// # Panics
    /// As [`into_packet`](Self::into_packet).
    pub fn into_boxed_packet(self, hop_limit: u8, reused: Option<Box<Packet>>) -> Box<Packet> {
        let mut packet = reused.unwrap_or_else(|| {
            Box::new(Packet {
                header: Header::new(),
                payload: Bytes::new(),
            })
        });
        packet.header.clear();
        self.write_header(hop_limit, &mut packet.header);
        packet.payload = self.payload;
        packet
    }

    #[inline]
    fn write_header(&self, hop_limit: u8, header: &mut Header) {
        match Usual::new(&self.options) {
            Some(usual) => {
                self.write_fields(hop_limit, usual.as_slice().len(), header);
                put(header, usual.as_slice());
            }
            None => {
                let (padding, option_bytes) = self.options.layout();
                self.write_fields(hop_limit, option_bytes, header);
                self.options.write(padding, header);
            }
        }
    }

    /// Writes the IP header and what comes before the options, of which there are so many bytes.
    fn write_fields(&self, hop_limit: u8, option_bytes: usize, header: &mut Header) {
        let header_bytes = TCP_BYTES + option_bytes;
        put_ip_header(
            header,
            self.source.ip(),
            self.destination.ip(),
            protocol::TCP,
            hop_limit,
            self.ecn,
            header_bytes + self.payload.len(),
        );
        let pair = |high: u16, low: u16| u32::from(high) << 16 | u32::from(low);
        let offset_and_flags = (header_bytes as u16 / 4) << 12 | u16::from(self.flags.bits());
        let words = [
            pair(self.source.port(), self.destination.port()),
            self.sequence,
            self.acknowledgement,
            pair(offset_and_flags, self.window),
            u32::from(self.urgent),
        ];
        put(header, words.map(u32::to_be_bytes).as_flattened());
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

    /// These flags with others set and cleared, by their bits in the byte of the header.
    pub fn with(self, set: u8, clear: u8) -> Self {
        Self::from_bits(self.bits() & !clear | set)
    }

    /// From their byte in the header of TCP.
    #[inline]
    pub fn from_bits(bits: u8) -> Self {
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

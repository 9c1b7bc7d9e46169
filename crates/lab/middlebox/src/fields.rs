//! Fields of a TCP segment in the header bytes of its packet, for boxes that change a few of them
//! and leave the others, unknown options included, as they are.
//!
//! Checksums are not kept: packets carry none before they are written as bytes
//! ([`Packet`](mptcplab_wire::Packet)).

use std::ops::Range;

use mptcplab_plan::SegmentKind;
use mptcplab_wire::Packet;

pub(crate) const PROTOCOL_TCP: u8 = 6;

const IPV4_HEADER_BYTES: usize = 20;
const IPV6_HEADER_BYTES: usize = 40;
const TCP_HEADER_BYTES: usize = 20;

const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const RST: u8 = 0x04;
const PSH: u8 = 0x08;
const ACK: u8 = 0x10;
const URG: u8 = 0x20;
const CWR: u8 = 0x80;

/// TCP option kinds.
pub(crate) const OPTION_END: u8 = 0;
pub(crate) const OPTION_PADDING: u8 = 1;
pub(crate) const OPTION_WINDOW_SCALE: u8 = 3;
pub(crate) const OPTION_SACK: u8 = 5;
pub(crate) const OPTION_TIMESTAMPS: u8 = 8;
const TIMESTAMPS_BYTES: usize = 10;
pub(crate) const OPTION_MPTCP: u8 = 30;

/// The offset of the transport header, and its protocol; `None` without a whole IP header, and in a
/// fragment other than the first.
pub(crate) fn transport(header: &[u8]) -> Option<(usize, u8)> {
    let (offset, protocol) = match header.first()? >> 4 {
        4 => {
            let is_later = *header.get(6)? & 0x1f != 0 || *header.get(7)? != 0;
            let offset = usize::from(header[0] & 0x0f) * 4;
            (offset, (!is_later).then_some(*header.get(9)?)?)
        }
        6 => (IPV6_HEADER_BYTES, *header.get(6)?),
        _ => return None,
    };
    let is_whole = offset >= IPV4_HEADER_BYTES && header.len() >= offset;
    is_whole.then_some((offset, protocol))
}

/// The offset of the TCP header; `None` in packets of other protocols.
pub(crate) fn tcp_offset(packet: &Packet) -> Option<usize> {
    let (offset, protocol) = transport(&packet.header)?;
    let is_whole = packet.header.len() >= offset + TCP_HEADER_BYTES;
    (protocol == PROTOCOL_TCP && is_whole).then_some(offset)
}

/// The TCP header of a packet, to read and to change.
pub(crate) struct Tcp<'a> {
    packet: &'a mut Packet,
    offset: usize,
}

impl<'a> Tcp<'a> {
    /// The TCP header of a packet, if it has one.
    pub(crate) fn of(packet: &'a mut Packet) -> Option<Self> {
        let offset = tcp_offset(packet)?;
        Some(Self { packet, offset })
    }

    fn u16(&self, place: usize) -> u16 {
        let at = self.offset + place;
        u16::from_be_bytes([self.packet.header[at], self.packet.header[at + 1]])
    }

    fn u32(&self, place: usize) -> u32 {
        u32::from(self.u16(place)) << 16 | u32::from(self.u16(place + 2))
    }

    fn put(&mut self, place: usize, bytes: &[u8]) {
        let at = self.offset + place;
        self.packet.header[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn flags(&self) -> u8 {
        self.packet.header[self.offset + 13]
    }

    pub(crate) fn sequence(&self) -> u32 {
        self.u32(4)
    }

    pub(crate) fn set_sequence(&mut self, sequence: u32) {
        self.put(4, &sequence.to_be_bytes());
    }

    /// The number after the last that the segment takes.
    pub(crate) fn end(&self) -> u32 {
        let taken = self.payload_bytes() + u32::from(self.syn()) + u32::from(self.fin());
        self.sequence().wrapping_add(taken)
    }

    pub(crate) fn acknowledgement(&self) -> u32 {
        self.u32(8)
    }

    pub(crate) fn set_acknowledgement(&mut self, acknowledgement: u32) {
        self.put(8, &acknowledgement.to_be_bytes());
    }

    /// The window as it stands in the header: not scaled.
    pub(crate) fn window(&self) -> u16 {
        self.u16(14)
    }

    pub(crate) fn set_window(&mut self, window: u16) {
        self.put(14, &window.to_be_bytes());
    }

    pub(crate) fn syn(&self) -> bool {
        self.flags() & SYN != 0
    }

    pub(crate) fn fin(&self) -> bool {
        self.flags() & FIN != 0
    }

    pub(crate) fn rst(&self) -> bool {
        self.flags() & RST != 0
    }

    pub(crate) fn ack(&self) -> bool {
        self.flags() & ACK != 0
    }

    /// Data and nothing that begins, ends or breaks the connection.
    pub(crate) fn is_plain_data(&self) -> bool {
        !self.packet.payload.is_empty() && self.flags() & (SYN | RST | URG | ACK) == ACK
    }

    /// FIN and PSH away: not the last of several.
    pub(crate) fn clear_end(&mut self) {
        let flags = self.flags() & !(FIN | PSH);
        self.put(13, &[flags]);
    }

    /// CWR away: not the first of several.
    pub(crate) fn clear_begin(&mut self) {
        let flags = self.flags() & !CWR;
        self.put(13, &[flags]);
    }

    /// FIN and PSH of another segment that was joined to this one.
    pub(crate) fn take_end(&mut self, other: &Tcp<'_>) {
        let flags = self.flags() | (other.flags() & (FIN | PSH));
        self.put(13, &[flags]);
    }

    /// Bytes of the packet before its payload: the headers of IP and of TCP.
    pub(crate) fn header_bytes(&self) -> u32 {
        self.packet.header.len() as u32
    }

    pub(crate) fn payload_bytes(&self) -> u32 {
        self.packet.payload.len() as u32
    }

    pub(crate) fn is_of(&self, kind: SegmentKind) -> bool {
        match kind {
            SegmentKind::Syn => self.syn() && !self.ack(),
            SegmentKind::SynAck => self.syn() && self.ack(),
            SegmentKind::Ack => !self.syn() && self.payload_bytes() == 0,
            SegmentKind::Data => self.payload_bytes() > 0,
            SegmentKind::All => true,
        }
    }

    /// Kind and place of each option but end and padding; stops at a malformed one.
    pub(crate) fn options(&self) -> Vec<(u8, Range<usize>)> {
        let header = &self.packet.header;
        let length = usize::from(header[self.offset + 12] >> 4) * 4;
        let end = (self.offset + length).min(header.len());
        let mut at = self.offset + TCP_HEADER_BYTES;
        let mut found = Vec::new();
        while at < end {
            match header[at] {
                OPTION_END => break,
                OPTION_PADDING => at += 1,
                kind => {
                    let length = header[..end].get(at + 1).map_or(0, |&byte| byte.into());
                    if length < 2 || at + length > end {
                        break;
                    }
                    found.push((kind, at..at + length));
                    at += length;
                }
            }
        }
        found
    }

    /// The bytes of an option, its kind and length included.
    pub(crate) fn option(&self, wanted: u8) -> Option<&[u8]> {
        let options = self.options();
        let (_, range) = options.into_iter().find(|&(kind, _)| kind == wanted)?;
        Some(&self.packet.header[range])
    }

    /// The timestamps option, if there is one of its length (RFC 7323, section 3.2).
    pub(crate) fn timestamps(&self) -> Option<&[u8]> {
        let option = self.option(OPTION_TIMESTAMPS)?;
        (option.len() == TIMESTAMPS_BYTES).then_some(option)
    }

    /// The bytes at a place that [`options`](Self::options) gave.
    pub(crate) fn bytes(&self, range: Range<usize>) -> &[u8] {
        &self.packet.header[range]
    }

    /// Leaves nothing of the segment but an acknowledgement with a timestamps option of its length,
    /// if any.
    pub(crate) fn make_acknowledgement(&mut self, timestamps: Option<&[u8]>) {
        let options = self.offset + TCP_HEADER_BYTES;
        self.packet.header.truncate(options);
        let mut words = TCP_HEADER_BYTES / 4;
        if let Some(option) = timestamps {
            // 2 bytes of padding make whole words of its 10.
            words += (option.len() + 2) / 4;
            let padded = [OPTION_PADDING; 2].iter().chain(option);
            self.packet.header.extend(padded.copied());
        }
        self.put(12, &[(words as u8) << 4, ACK]);
        // Urgent pointer.
        self.put(18, &[0, 0]);
    }

    /// Replaces what stands there by padding.
    pub(crate) fn pad(&mut self, range: Range<usize>) {
        self.packet.header[range].fill(OPTION_PADDING);
    }
}

/// Writes the lengths of headers and payload into the IP header.
pub(crate) fn set_ip_length(packet: &mut Packet) {
    let bytes = packet.ip_bytes();
    let (place, bytes) = match packet.header[0] >> 4 {
        4 => (2, bytes),
        _ => (4, bytes - IPV6_HEADER_BYTES),
    };
    packet.header[place..place + 2].copy_from_slice(&(bytes as u16).to_be_bytes());
}

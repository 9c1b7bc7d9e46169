//! Segments from packets.

use core::borrow::BorrowMut;
use core::fmt;
use core::mem;
use core::net::SocketAddr;

use bytes::Bytes;

use super::build::TCP_BYTES;
use super::{Flags, Options, Segment};
use crate::layout::{self, Family, protocol};
use crate::packet::Packet;

/// Why a packet is not taken as a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseError {
    /// The protocol is not TCP, or the header is none of IP.
    NotTcp,
    /// The TCP header has another length than it says.
    Length,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotTcp => "not TCP",
            Self::Length => "a TCP header of another length than it says",
        })
    }
}

impl core::error::Error for ParseError {}

impl Segment {
    /// The fields of a packet of TCP, out of which its payload is taken; its checksum is not looked
    /// at (see [`Packet`]).
    ///
    /// # Errors
    /// See [`ParseError`].
    pub fn parse(mut packet: impl BorrowMut<Packet>) -> Result<Self, ParseError> {
        let packet = packet.borrow_mut();
        let parts = Parts::new(&packet.header)?;
        Ok(parts.read(mem::take(&mut packet.payload)))
    }
}

/// A header of TCP over IP, taken apart.
struct Parts<'a> {
    ip: &'a [u8],
    family: Family,
    tcp: &'a [u8; TCP_BYTES],
    options: &'a [u8],
}

impl<'a> Parts<'a> {
    #[inline]
    fn new(header: &'a [u8]) -> Result<Self, ParseError> {
        let family = layout::family(header).ok_or(ParseError::NotTcp)?;
        if header[family.protocol()] != protocol::TCP {
            return Err(ParseError::NotTcp);
        }
        let at = layout::ip_header_bytes(header).ok_or(ParseError::NotTcp)?;
        let (tcp, options) = header[at..]
            .split_first_chunk::<TCP_BYTES>()
            .ok_or(ParseError::Length)?;
        if usize::from(tcp[12] >> 4) * 4 != TCP_BYTES + options.len() {
            return Err(ParseError::Length);
        }
        Ok(Self {
            ip: header,
            family,
            tcp,
            options,
        })
    }

    #[inline]
    fn read(&self, payload: Bytes) -> Segment {
        let tcp = self.tcp;
        let u16_at = |at: usize| u16::from_be_bytes([tcp[at], tcp[at + 1]]);
        let u32_at =
            |at: usize| u32::from_be_bytes([tcp[at], tcp[at + 1], tcp[at + 2], tcp[at + 3]]);
        let (source, destination) = layout::addresses(self.ip);
        let mut segment = Segment {
            source: SocketAddr::new(source, u16_at(0)),
            destination: SocketAddr::new(destination, u16_at(2)),
            sequence: u32_at(4),
            acknowledgement: u32_at(8),
            flags: Flags::from_bits(tcp[13]),
            window: u16_at(14),
            urgent: u16_at(18),
            options: Options::default(),
            ecn: layout::ecn(self.ip, self.family),
            payload,
        };
        segment.options.parse_more(self.options);
        segment
    }
}

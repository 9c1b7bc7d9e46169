//! Packets from bytes.

use core::fmt;

use bytes::Bytes;

use super::Packet;
use super::build::SHORT_HEADER_BYTES;
use super::write::{CHECKSUM_BYTES, checksum_place, transport_checksum};
use crate::buffer::{Header, MAX_HEADER_BYTES};
use crate::checksum;
use crate::layout::{self, Family, IPV4_CHECKSUM, protocol};

/// Why bytes are not taken as a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// Neither IPv4 nor IPv6.
    Version,
    /// Shorter than a header says, or a header shorter than allowed.
    Length,
    /// A fragment: these are not put together.
    Fragment,
    /// IPv4 options and TCP options that together exceed [`MAX_HEADER_BYTES`].
    HeaderTooLong,
    /// The checksum of the IPv4 header is wrong.
    HeaderChecksum,
    /// The checksum of TCP, UDP, ICMP or ICMPv6 is wrong.
    TransportChecksum,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Version => "neither IPv4 nor IPv6",
            Self::Length => "shorter than its header says",
            Self::Fragment => "a fragment",
            Self::HeaderTooLong => "headers longer than 100 bytes",
            Self::HeaderChecksum => "wrong checksum of the IPv4 header",
            Self::TransportChecksum => "wrong checksum of the transport",
        })
    }
}

impl core::error::Error for ReadError {}

impl Packet {
    /// A packet from its bytes. Bytes after the end that the IP header gives are left out; the
    /// payload is a part of `bytes`, not a copy. Checksums are verified, but for a UDP checksum of
    /// zero over IPv4, which means none.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn read(bytes: Bytes) -> Result<Self, ReadError> {
        let version = bytes.first().ok_or(ReadError::Length)? >> 4;
        if version != 4 && version != 6 {
            return Err(ReadError::Version);
        }
        let family = layout::family(&bytes).ok_or(ReadError::Length)?;
        let ip_header_bytes = layout::ip_header_bytes(&bytes).ok_or(ReadError::Length)?;
        let field = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        let ip_bytes = match family {
            Family::V4 => usize::from(field(2)),
            Family::V6 => layout::IPV6_BYTES + usize::from(field(4)),
        };
        if !(ip_header_bytes..=bytes.len()).contains(&ip_bytes) {
            return Err(ReadError::Length);
        }
        if family == Family::V4 {
            if checksum::internet(&bytes[..ip_header_bytes]) != 0 {
                return Err(ReadError::HeaderChecksum);
            }
            // More fragments, or an offset.
            if field(6) & 0x3fff != 0 {
                return Err(ReadError::Fragment);
            }
        }
        let protocol = bytes[family.protocol()];
        let transport = &bytes[ip_header_bytes..ip_bytes];
        let header_bytes = ip_header_bytes + transport_header_bytes(family, protocol, transport)?;
        if header_bytes > MAX_HEADER_BYTES {
            return Err(ReadError::HeaderTooLong);
        }
        let mut packet = Self {
            header: Header::try_from(&bytes[..header_bytes]).expect("the length was compared"),
            payload: bytes.slice(header_bytes..ip_bytes),
        };
        packet.verify_transport(family, ip_header_bytes)?;
        Ok(packet)
    }

    /// Verifies the checksum of the transport and sets both checksums to zero.
    fn verify_transport(&mut self, family: Family, at: usize) -> Result<(), ReadError> {
        if let Some(place) = checksum_place(family, self.protocol()) {
            let field = at + place..at + place + CHECKSUM_BYTES;
            let none = self.protocol() == protocol::UDP
                && family == Family::V4
                && self.header[field.clone()] == [0, 0];
            if !none && transport_checksum(self, at) != 0 {
                return Err(ReadError::TransportChecksum);
            }
            self.header[field].fill(0);
        }
        if family == Family::V4 {
            self.header[IPV4_CHECKSUM..IPV4_CHECKSUM + CHECKSUM_BYTES].fill(0);
        }
        Ok(())
    }
}

/// Bytes of the header at the start of `transport`: none for a protocol that is not known here.
fn transport_header_bytes(
    family: Family,
    protocol: u8,
    transport: &[u8],
) -> Result<usize, ReadError> {
    let bytes = match (family, protocol) {
        (_, protocol::TCP) => {
            let offset = transport.get(12).ok_or(ReadError::Length)? >> 4;
            usize::from(offset).max(5) * 4
        }
        (_, protocol::UDP) | (Family::V4, protocol::ICMP) | (Family::V6, protocol::ICMPV6) => {
            SHORT_HEADER_BYTES
        }
        _ => 0,
    };
    if transport.len() < bytes {
        return Err(ReadError::Length);
    }
    Ok(bytes)
}

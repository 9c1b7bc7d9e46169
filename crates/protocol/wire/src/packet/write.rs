//! Packets as bytes.

use alloc::vec::Vec;

use super::Packet;
use crate::checksum::{self, Sum};
use crate::layout::{self, Family, IPV4_CHECKSUM, protocol};

/// Bytes of a checksum.
pub(super) const CHECKSUM_BYTES: usize = 2;

impl Packet {
    /// Appends the bytes of the packet, its checksums filled in.
    pub fn write_to(&self, bytes: &mut Vec<u8>) {
        let start = bytes.len();
        bytes.extend_from_slice(&self.header);
        bytes.extend_from_slice(&self.payload);
        let written = &mut bytes[start..];
        let (Some(family), Some(at)) = (
            layout::family(&self.header),
            layout::ip_header_bytes(&self.header),
        ) else {
            return;
        };
        if let Some(place) = checksum_place(family, self.protocol())
            && at + place + CHECKSUM_BYTES <= self.header.len()
        {
            let mut checksum = transport_checksum(self, at);
            // Zero would mean "none" (RFC 768); both are zero in one's complement.
            if self.protocol() == protocol::UDP && checksum == 0 {
                checksum = 0xffff;
            }
            written[at + place..][..CHECKSUM_BYTES].copy_from_slice(&checksum.to_be_bytes());
        }
        if family == Family::V4 {
            let checksum = checksum::internet(&written[..at]);
            written[IPV4_CHECKSUM..][..CHECKSUM_BYTES].copy_from_slice(&checksum.to_be_bytes());
        }
    }
}

/// Place of the checksum in the header of a transport.
pub(super) fn checksum_place(family: Family, protocol: u8) -> Option<usize> {
    match (family, protocol) {
        (_, protocol::TCP) => Some(16),
        (_, protocol::UDP) => Some(6),
        (Family::V4, protocol::ICMP) | (Family::V6, protocol::ICMPV6) => Some(2),
        _ => None,
    }
}

/// The checksum over the transport header, which begins at `at`, the payload, and the
/// pseudo-header where there is one: zero where the header has the right checksum in it.
pub(super) fn transport_checksum(packet: &Packet, at: usize) -> u16 {
    let mut sum = Sum::default();
    let protocol = packet.protocol();
    if protocol != protocol::ICMP
        && let Some(family) = layout::family(&packet.header)
    {
        let length = (packet.ip_bytes() - at) as u32;
        sum.add(&packet.header[family.addresses()]);
        sum.add(&length.to_be_bytes());
        sum.add(&[0, protocol]);
    }
    sum.add(&packet.header[at..]);
    sum.add(&packet.payload);
    sum.finish()
}

//! Packets from fields, other than TCP's.

use core::net::{IpAddr, SocketAddr};

use bytes::Bytes;

use super::Packet;
use crate::buffer::{Header, put};
use crate::ecn::Ecn;
use crate::layout::{Family, ip_header_bytes, protocol};

/// Hop limit of packets that are not a segment's; that of Linux.
pub(super) const HOP_LIMIT: u8 = 64;
/// Bytes of the headers of UDP and of an echo.
pub(super) const SHORT_HEADER_BYTES: usize = 8;

/// Question or answer of a ping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EchoKind {
    /// Echo request.
    Request,
    /// Echo reply.
    Reply,
}

/// The fields of an ICMP or ICMPv6 echo (RFC 792, RFC 4443).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    /// Question or answer.
    pub kind: EchoKind,
    /// Identifier: which ping.
    pub id: u16,
    /// Sequence number.
    pub sequence: u16,
}

impl EchoKind {
    /// Type of the message in a family.
    fn message_type(self, family: Family) -> u8 {
        match (family, self) {
            (Family::V4, Self::Request) => 8,
            (Family::V4, Self::Reply) => 0,
            (Family::V6, Self::Request) => 128,
            (Family::V6, Self::Reply) => 129,
        }
    }
}

impl Packet {
    /// A UDP datagram.
    ///
    /// # Panics
    /// Where the addresses are of two families, or the packet would be longer than 65,535 bytes.
    pub fn udp(source: SocketAddr, destination: SocketAddr, payload: Bytes) -> Self {
        let mut header = Header::new();
        put_ip_header(
            &mut header,
            source.ip(),
            destination.ip(),
            protocol::UDP,
            HOP_LIMIT,
            Ecn::NotCapable,
            SHORT_HEADER_BYTES + payload.len(),
        );
        put(&mut header, &source.port().to_be_bytes());
        put(&mut header, &destination.port().to_be_bytes());
        let bytes = (SHORT_HEADER_BYTES + payload.len()) as u16;
        put(&mut header, &bytes.to_be_bytes());
        put(&mut header, &[0, 0]);
        Self { header, payload }
    }

    /// An ICMP echo, or an ICMPv6 one between addresses of IPv6.
    ///
    /// # Panics
    /// Where the addresses are of two families, or the packet would be longer than 65,535 bytes.
    pub fn echo(
        source: IpAddr,
        destination: IpAddr,
        kind: EchoKind,
        id: u16,
        sequence: u16,
        payload: Bytes,
    ) -> Self {
        let family = Family::of(source, destination);
        let protocol = match family {
            Family::V4 => protocol::ICMP,
            Family::V6 => protocol::ICMPV6,
        };
        let mut header = Header::new();
        put_ip_header(
            &mut header,
            source,
            destination,
            protocol,
            HOP_LIMIT,
            Ecn::NotCapable,
            SHORT_HEADER_BYTES + payload.len(),
        );
        put(&mut header, &[kind.message_type(family), 0, 0, 0]);
        put(&mut header, &id.to_be_bytes());
        put(&mut header, &sequence.to_be_bytes());
        Self { header, payload }
    }

    /// The fields of an echo, where the packet is one.
    pub fn as_echo(&self) -> Option<Echo> {
        let family = match self.protocol() {
            protocol::ICMP => Family::V4,
            protocol::ICMPV6 => Family::V6,
            _ => return None,
        };
        let at = ip_header_bytes(&self.header)?;
        let &[message_type, 0, _, _, id_high, id_low, high, low] = self.header.get(at..)? else {
            return None;
        };
        let kind = [EchoKind::Request, EchoKind::Reply]
            .into_iter()
            .find(|kind| kind.message_type(family) == message_type)?;
        Some(Echo {
            kind,
            id: u16::from_be_bytes([id_high, id_low]),
            sequence: u16::from_be_bytes([high, low]),
        })
    }
}

/// Appends the IP header of a packet with `bytes` bytes after it.
///
/// # Panics
/// As the callers say.
pub(crate) fn put_ip_header(
    header: &mut Header,
    source: IpAddr,
    destination: IpAddr,
    protocol: u8,
    hop_limit: u8,
    ecn: Ecn,
    bytes: usize,
) {
    let family = Family::of(source, destination);
    assert!(
        family.header_bytes() + bytes <= usize::from(u16::MAX),
        "{bytes} bytes are too many for an IP packet"
    );
    let [ecn, protocol, hop_limit] = [ecn.bits(), protocol, hop_limit].map(u32::from);
    match family {
        Family::V4 => {
            let words = [
                0x4500_0000 | ecn << 16 | (family.header_bytes() + bytes) as u32,
                // Identification is 0 where the packet must not be fragmented (RFC 6864).
                0x4000,
                hop_limit << 24 | protocol << 16,
            ];
            put(header, words.map(u32::to_be_bytes).as_flattened());
        }
        Family::V6 => {
            let words = [
                0x6000_0000 | ecn << 20,
                (bytes as u32) << 16 | protocol << 8 | hop_limit,
            ];
            put(header, words.map(u32::to_be_bytes).as_flattened());
        }
    }
    for address in [source, destination] {
        match address {
            IpAddr::V4(address) => put(header, &address.octets()),
            IpAddr::V6(address) => put(header, &address.octets()),
        }
    }
}

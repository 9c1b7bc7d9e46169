//! The two ends of a packet of TCP, UDP or ICMP, to read and to change.

use std::net::IpAddr;

use mptcplab_wire::Packet;

use crate::fields::{PROTOCOL_TCP, transport};

const PROTOCOL_ICMP: u8 = 1;
const PROTOCOL_UDP: u8 = 17;
const PROTOCOL_ICMPV6: u8 = 58;

/// Types of ICMP (RFC 792) and of ICMPv6 (RFC 4443).
const ECHOES: [u8; 2] = [0, 8];
const ECHOES_V6: [u8; 2] = [128, 129];
const ERRORS: [u8; 4] = [3, 4, 11, 12];
const ERRORS_V6: std::ops::RangeInclusive<u8> = 1..=127;
/// Bytes of the header of an ICMP error, the packet that caused it follows.
const ICMP_HEADER_BYTES: usize = 8;

/// Identity of a connection, a datagram flow or a ping of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Endpoint {
    pub(crate) address: IpAddr,
    /// Port of TCP and UDP, identifier of an echo.
    pub(crate) port: u16,
}

/// Protocol and both ends of a packet of TCP, UDP or ICMP echo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Flow {
    pub(crate) protocol: u8,
    pub(crate) source: Endpoint,
    pub(crate) destination: Endpoint,
}

impl Flow {
    /// The flow of a packet; `None` of other protocols.
    pub(crate) fn of(packet: &Packet) -> Option<Self> {
        let (protocol, [source, destination]) = ports(packet)?;
        let port =
            |place: usize| u16::from_be_bytes([packet.header[place], packet.header[place + 1]]);
        Some(Self {
            protocol,
            source: Endpoint {
                address: packet.source(),
                port: port(source),
            },
            destination: Endpoint {
                address: packet.destination(),
                port: port(destination),
            },
        })
    }

    /// The flow of the answers.
    pub(crate) fn reversed(self) -> Self {
        Self {
            source: self.destination,
            destination: self.source,
            ..self
        }
    }
}

/// Protocol and the places of both ports; those of an echo are both that of its identifier.
fn ports(packet: &Packet) -> Option<(u8, [usize; 2])> {
    let (offset, protocol) = transport(&packet.header)?;
    let kind = packet.header.get(offset)?;
    let places = match protocol {
        PROTOCOL_TCP | PROTOCOL_UDP => [offset, offset + 2],
        PROTOCOL_ICMP if ECHOES.contains(kind) => [offset + 4, offset + 4],
        PROTOCOL_ICMPV6 if ECHOES_V6.contains(kind) => [offset + 4, offset + 4],
        _ => return None,
    };
    (packet.header.len() >= offset + 8).then_some((protocol, places))
}

/// Whether a packet is an error of ICMP, about the packet that is its payload.
pub(crate) fn is_icmp_error(packet: &Packet) -> bool {
    let Some((offset, protocol)) = transport(&packet.header) else {
        return false;
    };
    let kind = packet.header.get(offset);
    packet.header.len() == offset + ICMP_HEADER_BYTES
        && kind.is_some_and(|kind| match protocol {
            PROTOCOL_ICMP => ERRORS.contains(kind),
            PROTOCOL_ICMPV6 => ERRORS_V6.contains(kind),
            _ => false,
        })
}

/// The place of the transport's checksum, and whether that is over the addresses too.
pub(crate) fn checksum_place(protocol: u8) -> Option<(usize, bool)> {
    match protocol {
        PROTOCOL_TCP => Some((16, true)),
        PROTOCOL_UDP => Some((6, true)),
        PROTOCOL_ICMP => Some((2, false)),
        PROTOCOL_ICMPV6 => Some((2, true)),
        _ => None,
    }
}

/// Which end of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Source,
    Destination,
}

impl Side {
    fn index(self) -> usize {
        usize::from(self == Self::Destination)
    }
}

/// Writes another address, of the same family, and another port into a packet of a [`Flow`].
pub(crate) fn set_endpoint(packet: &mut Packet, side: Side, endpoint: Endpoint) {
    let Some((_, ports)) = ports(packet) else {
        return;
    };
    set_address(packet, side, endpoint.address);
    let place = ports[side.index()];
    packet.header[place..place + 2].copy_from_slice(&endpoint.port.to_be_bytes());
}

/// Writes another address, of the same family, into a packet.
pub(crate) fn set_address(packet: &mut Packet, side: Side, address: IpAddr) {
    let mut put = |place: usize, bytes: &[u8]| {
        packet.header[place..place + bytes.len()].copy_from_slice(bytes);
    };
    match address {
        IpAddr::V4(address) => put(12 + 4 * side.index(), &address.octets()),
        IpAddr::V6(address) => put(8 + 16 * side.index(), &address.octets()),
    }
}

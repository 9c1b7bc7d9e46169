//! IP headers (RFC 791, RFC 8200).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use mptcplab_wire::Ecn;

use super::{Extent, Skip};

/// IP protocol numbers.
pub(super) mod protocol {
    pub(super) const HOP_BY_HOP: u8 = 0;
    pub(in crate::dissect) const IPV4: u8 = 4;
    pub(super) const TCP: u8 = 6;
    pub(in crate::dissect) const UDP: u8 = 17;
    pub(in crate::dissect) const IPV6: u8 = 41;
    pub(super) const ROUTING: u8 = 43;
    pub(super) const FRAGMENT: u8 = 44;
    pub(in crate::dissect) const GRE: u8 = 47;
    pub(super) const AUTHENTICATION: u8 = 51;
    pub(super) const DESTINATION_OPTIONS: u8 = 60;
    pub(super) const MOBILITY: u8 = 135;
    pub(in crate::dissect) const MPLS: u8 = 137;
    pub(super) const HOST_IDENTITY: u8 = 139;
    pub(super) const SHIM6: u8 = 140;
}

/// Most extension headers of a packet.
const MAX_EXTENSIONS: usize = 16;
/// Bytes of an IPv6 header.
const IPV6_BYTES: u32 = 40;

/// The fields of an IP header that the analysis needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub(super) source: IpAddr,
    pub(super) destination: IpAddr,
    pub(super) identification: Option<u16>,
    pub(super) hop_limit: u8,
    pub(super) ecn: Ecn,
    /// Bytes of the header, with those of extension headers.
    pub(super) bytes: u32,
}

/// An IP packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Datagram<'a> {
    pub(super) header: Header,
    /// Protocol of `content`.
    pub(super) protocol: u8,
    /// Bytes behind the headers: TCP, where it is no fragment.
    pub(super) content: Extent<'a>,
    pub(super) fragment: Option<Fragment>,
}

/// Which part of a packet a fragment is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fragment {
    pub(super) identification: u32,
    /// Where it begins in the content of the packet.
    pub(super) offset: u32,
    /// It is not the last.
    pub(super) more: bool,
}

impl Datagram<'_> {
    /// Returns whether TCP follows at once.
    #[inline(always)]
    pub(super) fn has_tcp(&self) -> bool {
        self.protocol == protocol::TCP && self.fragment.is_none()
    }

    /// Returns whether there may be TCP in what is there, perhaps within a tunnel.
    pub(super) fn may_have_tcp(&self) -> bool {
        let carriers = [
            protocol::TCP,
            protocol::IPV4,
            protocol::IPV6,
            protocol::GRE,
            protocol::MPLS,
            protocol::UDP,
        ];
        carriers.contains(&self.protocol) || Kind::of(self).is_some()
    }
}

/// Reads the header of a packet, without extension headers.
#[inline(always)]
pub(super) fn read(packet: Extent<'_>) -> Result<Datagram<'_>, Skip> {
    let [first] = *packet.front()?;
    match first >> 4 {
        4 => read_v4(packet),
        6 => read_v6(packet),
        _ => Err(Skip::Malformed),
    }
}

#[inline(always)]
fn read_v4(packet: Extent<'_>) -> Result<Datagram<'_>, Skip> {
    let fixed = packet.front::<20>()?;
    let u16_at = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
    let address = |at: usize| Ipv4Addr::new(fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]);
    let header_bytes = u32::from(fixed[0] & 0x0f) * 4;
    let bytes = match u16_at(2) {
        // More than the field holds: a packet that the network card is to cut into segments.
        0 => packet.bytes,
        bytes => u32::from(bytes),
    };
    if header_bytes < 20 || bytes < header_bytes {
        return Err(Skip::Malformed);
    }
    let place = u16_at(6);
    // More fragments, or an offset.
    let fragment = (place & 0x3fff != 0).then(|| Fragment {
        identification: u16_at(4).into(),
        offset: u32::from(place & 0x1fff) * 8,
        more: place & 0x2000 != 0,
    });
    Ok(Datagram {
        header: Header {
            source: address(12).into(),
            destination: address(16).into(),
            identification: Some(u16_at(4)),
            hop_limit: fixed[8],
            ecn: Ecn::from_bits(fixed[1]),
            bytes: header_bytes,
        },
        protocol: fixed[9],
        content: packet.with_bytes(bytes).after(header_bytes as usize)?,
        fragment,
    })
}

#[inline(always)]
fn read_v6(packet: Extent<'_>) -> Result<Datagram<'_>, Skip> {
    let fixed = packet.front::<{ IPV6_BYTES as usize }>()?;
    let (head, addresses) = fixed.split_at(8);
    let (addresses, _) = addresses.as_chunks::<16>();
    let content = packet.after(IPV6_BYTES as usize)?;
    let bytes = match u16::from_be_bytes([head[4], head[5]]) {
        // More than the field holds: see `jumbo_bytes`.
        0 => content.bytes,
        bytes => bytes.into(),
    };
    Ok(Datagram {
        header: Header {
            source: Ipv6Addr::from(addresses[0]).into(),
            destination: Ipv6Addr::from(addresses[1]).into(),
            identification: None,
            hop_limit: head[7],
            // The traffic class begins in the first byte.
            ecn: Ecn::from_bits(head[1] >> 4),
            bytes: IPV6_BYTES,
        },
        protocol: head[6],
        content: content.with_bytes(bytes),
        fragment: None,
    })
}

/// Passes over extension headers (RFC 8200, section 4) up to the first that is none, or to what a
/// fragment has.
pub(super) fn extensions(datagram: &mut Datagram<'_>) -> Result<(), Skip> {
    for _ in 0..MAX_EXTENSIONS {
        let kind = match Kind::of(datagram) {
            Some(kind) if datagram.fragment.is_none() => kind,
            _ => return Ok(()),
        };
        let content = datagram.content;
        let bytes = match kind {
            Kind::Options => {
                let [_, units] = *content.front()?;
                8 + 8 * usize::from(units)
            }
            Kind::Authentication => {
                let [_, words] = *content.front()?;
                8 + 4 * usize::from(words)
            }
            Kind::Fragment => {
                let [_, _, b2, b3, identification @ ..] = *content.front::<8>()?;
                let place = u16::from_be_bytes([b2, b3]);
                let fragment = Fragment {
                    identification: u32::from_be_bytes(identification),
                    offset: u32::from(place & !7),
                    more: place & 1 != 0,
                };
                // One that is the whole packet is put together already (RFC 6946).
                if fragment.offset != 0 || fragment.more {
                    datagram.fragment = Some(fragment);
                }
                8
            }
        };
        let [next] = *content.front()?;
        let jumbo = jumbo_bytes(datagram).unwrap_or(content.bytes);
        datagram.content = content.with_bytes(jumbo).after(bytes)?;
        datagram.protocol = next;
        if datagram.fragment.is_none() {
            datagram.header.bytes += bytes as u32;
        }
    }
    Err(Skip::Malformed)
}

/// Length of what follows an IPv6 header, in a jumbo payload option (RFC 2675, section 2) where
/// that is the first of a hop-by-hop header: so Linux writes it for packets that the network card
/// is to cut into segments. Such a packet has no other length.
fn jumbo_bytes(datagram: &Datagram<'_>) -> Option<u32> {
    match *datagram.content.captured.first_chunk()? {
        [_, _, 0xc2, 4, a, b, c, d] if datagram.protocol == protocol::HOP_BY_HOP => {
            Some(u32::from_be_bytes([a, b, c, d])).filter(|&bytes| bytes > u16::MAX.into())
        }
        _ => None,
    }
}

/// An extension header that may have TCP behind it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Its second byte tells its length in units of 8 bytes, the first not counted.
    Options,
    Authentication,
    Fragment,
}

impl Kind {
    fn of(datagram: &Datagram<'_>) -> Option<Self> {
        match datagram.protocol {
            protocol::AUTHENTICATION => Some(Self::Authentication),
            _ if datagram.header.source.is_ipv4() => None,
            protocol::FRAGMENT => Some(Self::Fragment),
            protocol::HOP_BY_HOP
            | protocol::ROUTING
            | protocol::DESTINATION_OPTIONS
            | protocol::MOBILITY
            | protocol::HOST_IDENTITY
            | protocol::SHIM6 => Some(Self::Options),
            _ => None,
        }
    }
}

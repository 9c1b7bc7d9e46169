//! IP headers (RFC 791, RFC 8200).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use mptcplab_wire::Ecn;

use super::{Extent, Skip};

/// IP protocol numbers.
mod protocol {
    pub(super) const HOP_BY_HOP: u8 = 0;
    pub(super) const TCP: u8 = 6;
    pub(super) const ROUTING: u8 = 43;
    pub(super) const FRAGMENT: u8 = 44;
    pub(super) const AUTHENTICATION: u8 = 51;
    pub(super) const DESTINATION_OPTIONS: u8 = 60;
    pub(super) const MOBILITY: u8 = 135;
    pub(super) const HOST_IDENTITY: u8 = 139;
    pub(super) const SHIM6: u8 = 140;
}

/// Most extension headers of a packet.
const MAX_EXTENSIONS: usize = 16;
/// Bytes of an IPv6 header.
const IPV6_BYTES: u32 = 40;

/// What an analysis needs of an IP header.
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
    /// What `content` begins with.
    pub(super) protocol: u8,
    /// What follows the headers: TCP, where it is no fragment.
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

/// Reads the headers of a packet up to that of TCP.
#[inline]
pub(super) fn read(packet: Extent<'_>) -> Result<Datagram<'_>, Skip> {
    let [first] = *packet.front()?;
    match first >> 4 {
        4 => read_v4(packet),
        6 => read_v6(packet),
        _ => Err(Skip::Malformed),
    }
}

#[inline]
fn read_v4(packet: Extent<'_>) -> Result<Datagram<'_>, Skip> {
    let &[
        version,
        service,
        b2,
        b3,
        b4,
        b5,
        b6,
        b7,
        hop_limit,
        protocol,
        _,
        _,
        ref addresses @ ..,
    ] = packet.front::<20>()?;
    let [s0, s1, s2, s3, d0, d1, d2, d3] = *addresses;
    let header_bytes = u32::from(version & 0x0f) * 4;
    let bytes = match u16::from_be_bytes([b2, b3]) {
        // More than the field holds: a packet that the network card is to cut into segments.
        0 => packet.bytes,
        bytes => u32::from(bytes),
    };
    if header_bytes < 20 || bytes < header_bytes {
        return Err(Skip::Malformed);
    }
    let identification = u16::from_be_bytes([b4, b5]);
    let mut datagram = Datagram {
        header: Header {
            source: Ipv4Addr::new(s0, s1, s2, s3).into(),
            destination: Ipv4Addr::new(d0, d1, d2, d3).into(),
            identification: Some(identification),
            hop_limit,
            ecn: Ecn::from_bits(service),
            bytes: header_bytes,
        },
        protocol,
        content: packet.with_bytes(bytes).after(header_bytes as usize)?,
        fragment: None,
    };
    // More fragments, or an offset.
    let fragment = u16::from_be_bytes([b6, b7]) & 0x3fff;
    if fragment == 0 && protocol == protocol::TCP {
        return Ok(datagram);
    }
    if fragment == 0 {
        datagram.content = transport(protocol, datagram.content, &mut datagram.header)?;
        return Ok(datagram);
    }
    if protocol != protocol::TCP && protocol != protocol::AUTHENTICATION {
        return Err(Skip::NotTcp);
    }
    datagram.fragment = Some(Fragment {
        identification: identification.into(),
        offset: u32::from(fragment & 0x1fff) * 8,
        more: fragment & 0x2000 != 0,
    });
    Ok(datagram)
}

#[inline]
fn read_v6(packet: Extent<'_>) -> Result<Datagram<'_>, Skip> {
    let &[_, b1, _, _, b4, b5, protocol, hop_limit, ref addresses @ ..] =
        packet.front::<{ IPV6_BYTES as usize }>()?;
    let (source, destination) = addresses.split_at(16);
    let address = |bytes: &[u8]| {
        let mut octets = [0; 16];
        octets.copy_from_slice(bytes);
        IpAddr::from(Ipv6Addr::from(octets))
    };
    let content = packet.after(IPV6_BYTES as usize)?;
    let content = match u16::from_be_bytes([b4, b5]) {
        0 => content.with_bytes(jumbo_bytes(protocol, &content).unwrap_or(content.bytes)),
        bytes => content.with_bytes(bytes.into()),
    };
    let mut datagram = Datagram {
        header: Header {
            source: address(source),
            destination: address(destination),
            identification: None,
            hop_limit,
            // The traffic class begins in the first byte.
            ecn: Ecn::from_bits(b1 >> 4),
            bytes: IPV6_BYTES,
        },
        protocol,
        content,
        fragment: None,
    };
    if protocol != protocol::TCP {
        extensions(&mut datagram)?;
    }
    Ok(datagram)
}

/// Length in a jumbo payload option (RFC 2675, section 2), where it is the first of a hop-by-hop
/// header, as Linux writes it for packets that the network card is to cut into segments.
#[cold]
fn jumbo_bytes(protocol: u8, content: &Extent<'_>) -> Option<u32> {
    match *content.captured.first_chunk()? {
        [_, _, 0xc2, 4, a, b, c, d] if protocol == protocol::HOP_BY_HOP => {
            Some(u32::from_be_bytes([a, b, c, d]))
        }
        _ => None,
    }
}

/// Passes over extension headers up to TCP, which follows; a fragment is none here.
pub(super) fn transport<'a>(
    protocol: u8,
    content: Extent<'a>,
    header: &mut Header,
) -> Result<Extent<'a>, Skip> {
    let mut datagram = Datagram {
        header: *header,
        protocol,
        content,
        fragment: None,
    };
    extensions(&mut datagram)?;
    *header = datagram.header;
    match datagram.fragment {
        None => Ok(datagram.content),
        Some(_) => Err(Skip::Malformed),
    }
}

/// Passes over extension headers (RFC 8200, section 4) up to TCP, or to what a fragment has.
#[cold]
fn extensions(datagram: &mut Datagram<'_>) -> Result<(), Skip> {
    for _ in 0..MAX_EXTENSIONS {
        let content = datagram.content;
        let bytes = match datagram.protocol {
            protocol::TCP => return Ok(()),
            protocol::HOP_BY_HOP
            | protocol::ROUTING
            | protocol::DESTINATION_OPTIONS
            | protocol::MOBILITY
            | protocol::HOST_IDENTITY
            | protocol::SHIM6 => {
                let [_, units] = *content.front()?;
                8 + 8 * usize::from(units)
            }
            protocol::AUTHENTICATION => {
                let [_, words] = *content.front()?;
                8 + 4 * usize::from(words)
            }
            protocol::FRAGMENT => {
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
            _ => return Err(Skip::NotTcp),
        };
        let [next] = *content.front()?;
        datagram.protocol = next;
        datagram.content = content.after(bytes)?;
        if datagram.fragment.is_some() {
            return Ok(());
        }
        datagram.header.bytes += bytes as u32;
    }
    Err(Skip::Malformed)
}

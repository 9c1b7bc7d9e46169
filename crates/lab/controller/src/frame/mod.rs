//! Frames of hosts, read defensively: the bytes may be anything. Checksums are not looked at, for a
//! host may leave them to its interface.

mod arp;
mod ip;
mod neighbour;

pub(crate) use arp::{Arp, Operation};
pub(crate) use ip::{Ip, TcpHeader, protocol};
pub(crate) use neighbour::{Neighbour, NeighbourKind};

/// A hardware address.
pub(crate) type Mac = [u8; 6];

/// EtherTypes.
pub(crate) mod ether_type {
    pub(crate) const IPV4: u16 = 0x0800;
    pub(crate) const ARP: u16 = 0x0806;
    pub(crate) const IPV6: u16 = 0x86dd;
    pub(crate) const LLDP: u16 = 0x88cc;
}

/// Bytes of the Ethernet header.
const ETHERNET_BYTES: usize = 14;

/// A frame.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) destination: Mac,
    pub(crate) source: Mac,
    pub(crate) content: Content,
}

/// The content of a frame, as far as the controller looks into it.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Lldp,
    Arp(Arp),
    Neighbour(Neighbour),
    Ip(Ip),
}

impl Frame {
    /// The frame of these bytes; `None`: nothing that the controller forwards or answers.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let (header, rest) = bytes.split_first_chunk::<ETHERNET_BYTES>()?;
        let (destination, after) = header.split_first_chunk::<6>()?;
        let (source, kind) = after.split_first_chunk::<6>()?;
        let content = match u16::from_be_bytes([kind[0], kind[1]]) {
            ether_type::LLDP => Content::Lldp,
            ether_type::ARP => Content::Arp(Arp::read(rest)?),
            ether_type::IPV4 => Content::Ip(Ip::read_v4(rest)?),
            ether_type::IPV6 => match Neighbour::read(rest) {
                Some(neighbour) => Content::Neighbour(neighbour),
                None => Content::Ip(Ip::read_v6(rest)?),
            },
            _ => return None,
        };
        Some(Self {
            destination: *destination,
            source: *source,
            content,
        })
    }
}

/// The header of a frame.
pub(crate) fn ethernet(destination: Mac, source: Mac, ether_type: u16) -> Vec<u8> {
    [&destination[..], &source, &ether_type.to_be_bytes()].concat()
}

/// Whether an address is one of a single interface.
pub(crate) fn is_unicast(mac: Mac) -> bool {
    mac[0] & 1 == 0 && mac != [0; 6]
}

//! Frames of hosts, read defensively: the bytes may be anything. Checksums are not looked at, for a
//! host may leave them to its interface.

mod fallback;
mod ip;

use mptcplab_wire::ethernet::{Arp, Header, MacAddress, Neighbour, ether_type, is_group};

pub(crate) use fallback::without_capable;
pub(crate) use ip::{Ip, TCP, TcpHeader};

/// A frame.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) destination: MacAddress,
    pub(crate) source: MacAddress,
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
        let (header, rest) = Header::read(bytes)?;
        let content = match header.ether_type {
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
            destination: header.destination,
            source: header.source,
            content,
        })
    }
}

/// Whether an address is one of a single interface.
pub(crate) fn is_unicast(mac: MacAddress) -> bool {
    !is_group(mac) && mac != [0; 6]
}

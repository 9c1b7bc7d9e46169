//! An IP packet on its way.

mod build;
mod read;
#[cfg(test)]
mod tests;
mod unreachable;
mod write;

use core::net::{IpAddr, SocketAddr};

use arrayvec::ArrayVec;
use bytes::Bytes;
use xxhash_rust::xxh3::xxh3_64_with_seed;

pub use build::{Echo, EchoKind};
pub use read::ReadError;
pub use unreachable::Unreachable;

pub(crate) use build::put_ip_header;

use crate::buffer::MAX_HEADER_BYTES;
use crate::ecn::Ecn;
use crate::layout::{self, Family, protocol};

/// An IP packet: its IP and transport headers as on the wire, and its payload.
///
/// The checksums of IPv4 and of the transport are left zero in a packet that was built here, as a
/// host leaves them to its network interface. They are filled in when the packet is written as
/// bytes, and verified when one is read from bytes; a packet in between has nothing to verify.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// IP header and transport header. IPv4 options stand between them, and no IPv6 extension
    /// headers: a packet that has these is an IPv6 header with payload.
    pub header: ArrayVec<u8, MAX_HEADER_BYTES>,
    /// The bytes that follow the headers.
    pub payload: Bytes,
}

impl Packet {
    /// Length of the IP packet in bytes.
    #[inline]
    pub fn ip_bytes(&self) -> usize {
        self.header.len() + self.payload.len()
    }

    /// Address of the sender; unspecified where the header is none of IP.
    #[inline]
    pub fn source(&self) -> IpAddr {
        self.addresses().0
    }

    /// The addresses of the sender and the receiver as they stand in the header, of 8 or 32 bytes
    /// together; none where it is none of IP.
    #[inline]
    pub fn address_bytes(&self) -> &[u8] {
        layout::family(&self.header).map_or(&[], |family| &self.header[family.addresses()])
    }

    /// Address of the receiver; unspecified where the header is none of IP.
    #[inline]
    pub fn destination(&self) -> IpAddr {
        self.addresses().1
    }

    /// Protocol of what follows the IP header (IANA's protocol numbers: TCP is 6); 255, which is
    /// reserved, where the header is none of IP.
    #[inline]
    pub fn protocol(&self) -> u8 {
        layout::family(&self.header).map_or(255, |family| self.header[family.protocol()])
    }

    /// TTL or hop limit; 0 where the header is none of IP.
    #[inline]
    pub fn hop_limit(&self) -> u8 {
        layout::family(&self.header).map_or(0, |family| self.header[family.hop_limit()])
    }

    /// Counts one hop, as a router does that forwards the packet. False where the packet ends
    /// here instead, because it has no hop left.
    #[inline]
    pub fn decrement_hop_limit(&mut self) -> bool {
        let Some(family) = layout::family(&self.header) else {
            return false;
        };
        let hops = &mut self.header[family.hop_limit()];
        *hops = hops.saturating_sub(1);
        *hops > 0
    }

    /// ECN field of the IP header.
    #[inline]
    pub fn ecn(&self) -> Ecn {
        layout::family(&self.header)
            .map_or(Ecn::NotCapable, |family| layout::ecn(&self.header, family))
    }

    /// Sets the ECN field of the IP header.
    pub fn set_ecn(&mut self, ecn: Ecn) {
        if let Some(family) = layout::family(&self.header) {
            layout::set_ecn(&mut self.header, family, ecn);
        }
    }

    /// Addresses with ports, where the packet is of TCP or UDP.
    pub fn socket_addresses(&self) -> Option<(SocketAddr, SocketAddr)> {
        let ports = self.ports()?;
        let (source, destination) = self.addresses();
        let port = |at: usize| u16::from_be_bytes([ports[at], ports[at + 1]]);
        Some((
            SocketAddr::new(source, port(0)),
            SocketAddr::new(destination, port(2)),
        ))
    }

    /// A hash of addresses, protocol and ports (zero where the packet is neither TCP nor UDP), for
    /// the choice among paths of equal cost: the same for all packets of one direction of a flow,
    /// and on every machine. XXH3 with `seed`.
    pub fn flow_hash(&self, seed: u64) -> u64 {
        let addresses = self.address_bytes();
        if addresses.is_empty() {
            return 0;
        }
        let mut flow = [0; 37];
        flow[..addresses.len()].copy_from_slice(addresses);
        flow[32..36].copy_from_slice(&self.ports().unwrap_or_default());
        flow[36] = self.protocol();
        xxh3_64_with_seed(&flow, seed)
    }

    #[inline]
    fn addresses(&self) -> (IpAddr, IpAddr) {
        layout::addresses(&self.header)
    }

    /// The two ports as bytes.
    fn ports(&self) -> Option<[u8; 4]> {
        if !matches!(self.protocol(), protocol::TCP | protocol::UDP) {
            return None;
        }
        let at = layout::ip_header_bytes(&self.header)?;
        self.header.get(at..)?.first_chunk().copied()
    }
}

impl Family {
    /// The family of both addresses.
    ///
    /// # Panics
    /// Where they are not of the same.
    pub(crate) fn of(source: IpAddr, destination: IpAddr) -> Self {
        match (source, destination) {
            (IpAddr::V4(_), IpAddr::V4(_)) => Self::V4,
            (IpAddr::V6(_), IpAddr::V6(_)) => Self::V6,
            _ => panic!("a packet from {source} to {destination}: addresses of two families"),
        }
    }
}

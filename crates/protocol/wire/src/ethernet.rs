//! Frames of Ethernet: their header, and the two protocols that find hardware addresses.

mod arp;
mod neighbour;

use alloc::vec::Vec;

pub use arp::{Arp, Operation};
pub use neighbour::{Neighbour, NeighbourKind};

/// A hardware address.
pub type MacAddress = [u8; 6];

/// The address of all interfaces.
pub const BROADCAST: MacAddress = [0xff; 6];

/// Bytes of the header: destination, source, EtherType.
pub const HEADER_BYTES: usize = 14;

/// EtherTypes.
pub mod ether_type {
    /// IPv4.
    pub const IPV4: u16 = 0x0800;
    /// ARP.
    pub const ARP: u16 = 0x0806;
    /// IPv6.
    pub const IPV6: u16 = 0x86dd;
    /// LLDP.
    pub const LLDP: u16 = 0x88cc;
}

/// The header of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The address of the receiver, or of a group.
    pub destination: MacAddress,
    /// The address of the sender.
    pub source: MacAddress,
    /// The protocol of the payload.
    pub ether_type: u16,
}

impl Header {
    /// The header of a frame, and its payload; `None` where the frame is too short for one.
    pub fn read(frame: &[u8]) -> Option<(Self, &[u8])> {
        let (destination, rest) = frame.split_first_chunk()?;
        let (source, rest) = rest.split_first_chunk()?;
        let (ether_type, payload) = rest.split_first_chunk()?;
        let header = Self {
            destination: *destination,
            source: *source,
            ether_type: u16::from_be_bytes(*ether_type),
        };
        Some((header, payload))
    }

    /// A frame that has the header alone.
    pub fn frame(&self) -> Vec<u8> {
        let ether_type = self.ether_type.to_be_bytes();
        [&self.destination[..], &self.source, &ether_type].concat()
    }
}

/// Whether an address is one of a group: the lowest bit of its first byte marks one (IEEE 802.3,
/// clause 3.2.3).
pub fn is_group(address: MacAddress) -> bool {
    address[0] & 1 == 1
}

//! An IP packet on its way.

use arrayvec::ArrayVec;
use bytes::Bytes;

/// Most bytes of headers: IPv6 (40) and TCP with all its options (60).
pub const MAX_HEADER_BYTES: usize = 100;

/// An IP packet: its IP and transport headers as on the wire, and its payload.
///
/// The checksums of IPv4 and of the transport are left zero in a packet that was built here, as a
/// host leaves them to its network interface. They are filled in when the packet is written as
/// bytes, and verified when one is read from bytes; a packet in between has nothing to verify.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// IP header and transport header.
    pub header: ArrayVec<u8, MAX_HEADER_BYTES>,
    /// What follows the headers.
    pub payload: Bytes,
}

impl Packet {
    /// Length of the IP packet in bytes.
    pub fn ip_bytes(&self) -> usize {
        self.header.len() + self.payload.len()
    }
}

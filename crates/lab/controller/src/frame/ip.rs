//! IP packets, and the header of TCP.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use mptcplab_wire::{Flags, Options};

/// The protocol number of TCP.
pub(crate) const TCP: u8 = 6;

pub(super) const IPV4_BYTES: usize = 20;
pub(super) const IPV6_BYTES: usize = 40;
pub(super) const TCP_BYTES: usize = 20;

/// An IP packet.
#[derive(Clone, Debug)]
pub(crate) struct Ip {
    pub(crate) source: IpAddr,
    pub(crate) destination: IpAddr,
    /// The protocol; behind an IPv6 extension header it is that header's.
    pub(crate) protocol: u8,
    /// The header of TCP, if the packet has it.
    pub(crate) tcp: Option<TcpHeader>,
}

/// The header of a TCP segment.
#[derive(Clone, Debug)]
pub(crate) struct TcpHeader {
    pub(crate) source: u16,
    pub(crate) destination: u16,
    pub(crate) sequence: u32,
    pub(crate) flags: Flags,
    pub(crate) options: Options,
}

impl Ip {
    pub(super) fn read_v4(bytes: &[u8]) -> Option<Self> {
        let header = bytes.first_chunk::<IPV4_BYTES>()?;
        let header_bytes = usize::from(header[0] & 0x0f) * 4;
        let total = usize::from(u16::from_be_bytes([header[2], header[3]]));
        if header[0] >> 4 != 4 || header_bytes < IPV4_BYTES {
            return None;
        }
        let content = bytes.get(header_bytes..total)?;
        let is_later_fragment = u16::from_be_bytes([header[6], header[7]]) & 0x1fff != 0;
        let address = |at: usize| Ipv4Addr::from([0, 1, 2, 3].map(|byte| header[at + byte]));
        Self::new(
            address(12).into(),
            address(16).into(),
            header[9],
            content,
            is_later_fragment,
        )
    }

    pub(super) fn read_v6(bytes: &[u8]) -> Option<Self> {
        let (header, rest) = bytes.split_first_chunk::<IPV6_BYTES>()?;
        if header[0] >> 4 != 6 {
            return None;
        }
        let length = usize::from(u16::from_be_bytes([header[4], header[5]]));
        let content = rest.get(..length)?;
        let address = |at: usize| {
            let bytes: [u8; 16] = std::array::from_fn(|byte| header[at + byte]);
            Ipv6Addr::from(bytes)
        };
        Self::new(
            address(8).into(),
            address(24).into(),
            header[6],
            content,
            false,
        )
    }

    /// A packet; `None`: one of TCP without a whole header, which a rule could not match either.
    fn new(
        source: IpAddr,
        destination: IpAddr,
        protocol: u8,
        content: &[u8],
        is_later_fragment: bool,
    ) -> Option<Self> {
        let tcp = match protocol {
            TCP if is_later_fragment => return None,
            TCP => Some(TcpHeader::read(content)?),
            _ => None,
        };
        Some(Self {
            source,
            destination,
            protocol,
            tcp,
        })
    }
}

impl TcpHeader {
    fn read(bytes: &[u8]) -> Option<Self> {
        let header = bytes.first_chunk::<TCP_BYTES>()?;
        let options = bytes.get(TCP_BYTES..usize::from(header[12] >> 4) * 4)?;
        Some(Self {
            source: u16::from_be_bytes([header[0], header[1]]),
            destination: u16::from_be_bytes([header[2], header[3]]),
            sequence: u32::from_be_bytes([header[4], header[5], header[6], header[7]]),
            flags: Flags::from_bits(header[13]),
            options: Options::parse(options),
        })
    }

    /// Whether the segment opens a subflow.
    pub(crate) fn is_opening(&self) -> bool {
        self.flags.syn && !self.flags.ack && !self.flags.rst
    }
}

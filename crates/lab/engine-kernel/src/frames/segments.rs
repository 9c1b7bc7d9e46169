//! Large offloaded segments (TSO, GSO) seen as the packets that a wire would carry.
//!
//! A host with segmentation offload hands over one frame of up to 64 KiB that stands for many
//! packets with the same headers. [`Frame::packets`] says how many and how large each is, so that
//! a link accounts, delays and loses them one by one; [`Frame::carve`] makes a frame of any run of
//! them again, so that those that leave together travel together.

use std::borrow::Cow;
use std::ops::Range;

use mptcplab_wire::checksum::{Sum, internet};

/// Length of an Ethernet header without VLAN tag.
pub const ETHERNET_BYTES: usize = 14;

const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;
const IPPROTO_TCP: u8 = 6;
const IPPROTO_UDP: u8 = 17;
/// The most that a length field of IP can say.
const MOST_BYTES: usize = 65535;
const IPV6_HEADER_BYTES: usize = 40;
const TCP_FLAGS: usize = 13;
const TCP_CHECKSUM: usize = 16;
const UDP_CHECKSUM: usize = 6;
const TCP_FIN_PSH: u8 = 0x09;
const TCP_CWR: u8 = 0x80;

/// `struct virtio_net_hdr`: what offloads a frame needs. Native byte order, as AF_PACKET has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OffloadHeader {
    /// `VIRTIO_NET_HDR_F_*`.
    pub flags: u8,
    /// `VIRTIO_NET_HDR_GSO_*`.
    pub gso_type: u8,
    /// Length of all headers.
    pub header_bytes: u16,
    /// Payload of each packet but the last.
    pub gso_bytes: u16,
    /// Start of the checksummed bytes.
    pub checksum_start: u16,
    /// Offset of the checksum, from there.
    pub checksum_offset: u16,
}

impl OffloadHeader {
    /// Length in bytes.
    pub const BYTES: usize = 10;
    const NEEDS_CHECKSUM: u8 = 1;
    const GSO_TCPV4: u8 = 1;
    const GSO_TCPV6: u8 = 4;
    const GSO_UDP_L4: u8 = 5;
    const GSO_ECN: u8 = 0x80;

    /// Reads the header as the kernel writes it.
    pub fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        let number = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        Self {
            flags: bytes[0],
            gso_type: bytes[1],
            header_bytes: number(2),
            gso_bytes: number(4),
            checksum_start: number(6),
            checksum_offset: number(8),
        }
    }

    /// The header as the kernel reads it.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [self.flags, self.gso_type, 0, 0, 0, 0, 0, 0, 0, 0];
        let numbers = [
            self.header_bytes,
            self.gso_bytes,
            self.checksum_start,
            self.checksum_offset,
        ];
        for (chunk, number) in bytes[2..].chunks_exact_mut(2).zip(numbers) {
            chunk.copy_from_slice(&number.to_ne_bytes());
        }
        bytes
    }
}

/// A frame as taken off an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    offload: OffloadHeader,
    bytes: Vec<u8>,
    /// Layout of a large frame; `None` for a frame that is one packet.
    layout: Option<Layout>,
}

/// Offsets of the headers of a large frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    ip: usize,
    ipv4: bool,
    transport: usize,
    payload: usize,
    tcp: bool,
    gso_bytes: usize,
}

impl Frame {
    /// A frame from its bytes, Ethernet header first.
    pub fn new(offload: OffloadHeader, bytes: Vec<u8>) -> Self {
        let layout = layout(&offload, &bytes);
        Self {
            offload,
            bytes,
            layout,
        }
    }

    /// A frame that is one packet with whole checksums. A TCP segment beyond the MTU gets the
    /// offload header of segments that a network card has joined on their way in: its receiver
    /// takes it as the one segment that it is, and a sender that forwards it would cut it again.
    pub fn one_packet(mut bytes: Vec<u8>, mtu: u32) -> Self {
        let mut offload = OffloadHeader::default();
        if bytes.len() - ETHERNET_BYTES > mtu as usize
            && let Some((joined, layout)) = joined(&bytes, mtu as usize)
        {
            let pseudo = layout.pseudo_header_sum(&bytes, bytes.len() - layout.transport);
            put(&mut bytes, layout.transport + TCP_CHECKSUM, pseudo);
            offload = joined;
        }
        Self {
            offload,
            bytes,
            layout: None,
        }
    }

    /// Number of packets in the frame.
    pub fn packets(&self) -> usize {
        self.layout.map_or(1, |layout| {
            (self.bytes.len() - layout.payload)
                .div_ceil(layout.gso_bytes)
                .max(1)
        })
    }

    /// Length of the IP packet number `index` (of the Ethernet payload, for other protocols).
    pub fn ip_bytes(&self, index: usize) -> u32 {
        let length = match self.layout {
            None => self.bytes.len().saturating_sub(ETHERNET_BYTES),
            Some(layout) => {
                layout.payload - layout.ip + self.payload(layout, index..index + 1).len()
            }
        };
        length as u32
    }

    /// The packets of `range` as one frame: the offloads that it needs, and its bytes, which are
    /// copied only where they differ from those that came.
    ///
    /// # Panics
    /// When the range is empty or beyond [`Frame::packets`].
    pub fn carve(&self, range: Range<usize>) -> (OffloadHeader, Cow<'_, [u8]>) {
        let packets = self.packets();
        assert!(
            range.start < range.end && range.end <= packets,
            "{range:?} of {packets} packets"
        );
        let Some(layout) = self.layout.filter(|_| range.len() < packets) else {
            return (self.offload, Cow::Borrowed(&self.bytes));
        };
        let mut bytes = self.bytes[..layout.payload].to_vec();
        bytes.extend_from_slice(&self.bytes[self.payload(layout, range.clone())]);
        layout.fix_headers(&mut bytes, &range, packets);
        let mut offload = self.offload;
        if range.len() == 1 {
            offload.gso_type = 0;
            offload.gso_bytes = 0;
            offload.header_bytes = 0;
        } else {
            // The frame as it came may have had payload among its first bytes, more than it has now.
            offload.header_bytes = layout.payload as u16;
            if range.start > 0 {
                offload.gso_type &= !OffloadHeader::GSO_ECN;
            }
        }
        (offload, Cow::Owned(bytes))
    }

    /// The whole frame, as it came.
    pub fn whole(&self) -> (&OffloadHeader, &[u8]) {
        (&self.offload, &self.bytes)
    }

    /// Range of the payload of the packets of `range`.
    fn payload(&self, layout: Layout, range: Range<usize>) -> Range<usize> {
        let at = |index: usize| (layout.payload + index * layout.gso_bytes).min(self.bytes.len());
        at(range.start)..at(range.end)
    }
}

/// The bytes of a frame that is one packet, with the checksum that a network card would have put
/// in: what a capture on the wire sees.
pub fn with_checksum(offload: &OffloadHeader, bytes: impl Into<Vec<u8>>) -> Vec<u8> {
    let mut bytes = bytes.into();
    let start = usize::from(offload.checksum_start);
    let at = start + usize::from(offload.checksum_offset);
    if offload.flags & OffloadHeader::NEEDS_CHECKSUM != 0 && at + 2 <= bytes.len() {
        let sum = internet(&bytes[start..]);
        // RFC 768: a UDP checksum that computes to zero is sent as all ones.
        let is_udp = usize::from(offload.checksum_offset) == UDP_CHECKSUM;
        let sum = if sum == 0 && is_udp { 0xffff } else { sum };
        bytes[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    }
    bytes
}

impl Layout {
    /// Makes the headers of a whole frame those of the packets of `range`.
    fn fix_headers(self, bytes: &mut [u8], range: &Range<usize>, packets: usize) {
        let transport_bytes = bytes.len() - self.transport;
        let ip_bytes = bytes.len() - self.ip;
        if self.ipv4 {
            put(bytes, self.ip + 2, ip_bytes as u16);
            let id = get(bytes, self.ip + 4).wrapping_add(range.start as u16);
            put(bytes, self.ip + 4, id);
            put(bytes, self.ip + 10, 0);
            let checksum = internet(&bytes[self.ip..self.transport]);
            put(bytes, self.ip + 10, checksum);
        } else {
            let length = ip_bytes - IPV6_HEADER_BYTES;
            put(bytes, self.ip + 4, length as u16);
        }
        let checksum_at = if self.tcp {
            let skipped = (range.start * self.gso_bytes) as u32;
            let at = self.transport + 4;
            let sequence =
                u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
            bytes[at..at + 4].copy_from_slice(&sequence.wrapping_add(skipped).to_be_bytes());
            if range.end < packets {
                bytes[self.transport + TCP_FLAGS] &= !TCP_FIN_PSH;
            }
            if range.start > 0 {
                bytes[self.transport + TCP_FLAGS] &= !TCP_CWR;
            }
            self.transport + TCP_CHECKSUM
        } else {
            put(bytes, self.transport + 4, transport_bytes as u16);
            self.transport + UDP_CHECKSUM
        };
        let pseudo = self.pseudo_header_sum(bytes, transport_bytes);
        put(bytes, checksum_at, pseudo);
    }

    /// The sum over the pseudo-header that a partial checksum starts from (RFC 9293 section 3.1).
    fn pseudo_header_sum(self, bytes: &[u8], transport_bytes: usize) -> u16 {
        let addresses = if self.ipv4 {
            self.ip + 12..self.ip + 20
        } else {
            self.ip + 8..self.ip + 40
        };
        let protocol = if self.tcp { IPPROTO_TCP } else { IPPROTO_UDP };
        let mut sum = Sum::default();
        sum.add(&bytes[addresses]);
        sum.add(&[0, protocol]);
        sum.add(&(transport_bytes as u32).to_be_bytes());
        !sum.finish()
    }
}

/// The layout of a frame that stands for several packets; `None` for any other, and for one whose
/// headers are not what its offload header says.
fn layout(offload: &OffloadHeader, bytes: &[u8]) -> Option<Layout> {
    let gso_bytes = usize::from(offload.gso_bytes);
    if gso_bytes == 0 || offload.flags & OffloadHeader::NEEDS_CHECKSUM == 0 {
        return None;
    }
    let ip = ETHERNET_BYTES;
    let transport = usize::from(offload.checksum_start);
    let ipv4 = match get(bytes.get(..ETHERNET_BYTES)?, 12) {
        ETHERTYPE_IPV4 if transport == ip + usize::from(bytes.get(ip)? & 0x0f) * 4 => true,
        ETHERTYPE_IPV6 => false,
        _ => return None,
    };
    let (ip_header_bytes, largest_ip_bytes) = if ipv4 {
        (20, MOST_BYTES)
    } else {
        (IPV6_HEADER_BYTES, IPV6_HEADER_BYTES + MOST_BYTES)
    };
    let tcp = match (offload.gso_type & !OffloadHeader::GSO_ECN, ipv4) {
        (OffloadHeader::GSO_TCPV4, true) | (OffloadHeader::GSO_TCPV6, false) => true,
        (OffloadHeader::GSO_UDP_L4, _) => false,
        _ => return None,
    };
    let (minimum, checksum_offset, header_bytes) = if tcp {
        let data_offset = usize::from(bytes.get(transport + 12)? >> 4);
        (20, TCP_CHECKSUM, data_offset * 4)
    } else {
        (8, UDP_CHECKSUM, 8)
    };
    let payload = transport + header_bytes;
    let is_sound = transport >= ip + ip_header_bytes
        && header_bytes >= minimum
        && usize::from(offload.checksum_offset) == checksum_offset
        && payload < bytes.len().min(MOST_BYTES)
        && bytes.len() - ip <= largest_ip_bytes;
    is_sound.then_some(Layout {
        ip,
        ipv4,
        transport,
        payload,
        tcp,
        gso_bytes,
    })
}

/// The offload header of a TCP segment that is larger than the MTU, and its layout.
fn joined(bytes: &[u8], mtu: usize) -> Option<(OffloadHeader, Layout)> {
    let ip = bytes.get(ETHERNET_BYTES..)?;
    let (gso_type, ip_header_bytes, protocol) = match ip.first()? >> 4 {
        4 => (
            OffloadHeader::GSO_TCPV4,
            usize::from(ip[0] & 0x0f) * 4,
            *ip.get(9)?,
        ),
        _ => (OffloadHeader::GSO_TCPV6, IPV6_HEADER_BYTES, *ip.get(6)?),
    };
    let data_offset = usize::from(ip.get(ip_header_bytes + 12)? >> 4) * 4;
    let header_bytes = ip_header_bytes + data_offset;
    let offload = OffloadHeader {
        flags: OffloadHeader::NEEDS_CHECKSUM,
        gso_type,
        header_bytes: (ETHERNET_BYTES + header_bytes) as u16,
        gso_bytes: mtu.checked_sub(header_bytes)? as u16,
        checksum_start: (ETHERNET_BYTES + ip_header_bytes) as u16,
        checksum_offset: TCP_CHECKSUM as u16,
    };
    let layout = layout(&offload, bytes).filter(|_| protocol == IPPROTO_TCP)?;
    Some((offload, layout))
}

fn get(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn put(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

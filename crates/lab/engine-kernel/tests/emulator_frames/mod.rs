//! Large frames as a host with segmentation offload hands them over, and the packets that they
//! stand for, both made by a library's headers.

// Each file of tests uses a part of it.
#![allow(dead_code)]

use etherparse::checksum::Sum16BitWords;
use etherparse::{
    EtherType, Ethernet2Header, IpFragOffset, IpNumber, Ipv4Header, Ipv6FlowLabel, Ipv6Header,
    TcpHeader, UdpHeader,
};
use mptcplab_engine_kernel::frames::segments::OffloadHeader;

const NEEDS_CHECKSUM: u8 = 1;
const GSO_TCPV4: u8 = 1;
const GSO_TCPV6: u8 = 4;
const GSO_UDP_L4: u8 = 5;
const GSO_ECN: u8 = 0x80;

/// A large frame in the making.
#[derive(Clone, Debug)]
pub(crate) struct Large {
    pub(crate) ip: Ip,
    pub(crate) transport: Transport,
    pub(crate) payload: Vec<u8>,
    pub(crate) gso_bytes: u16,
}

#[derive(Clone, Debug)]
pub(crate) enum Ip {
    V4(Ipv4Header),
    V6(Ipv6Header),
}

#[derive(Clone, Debug)]
pub(crate) enum Transport {
    Tcp(TcpHeader),
    Udp,
}

pub(crate) fn ipv4(identification: u16) -> Ip {
    Ip::V4(Ipv4Header {
        identification,
        dont_fragment: true,
        fragment_offset: IpFragOffset::ZERO,
        time_to_live: 64,
        source: [10, 0, 1, 2],
        destination: [10, 0, 1, 1],
        ..Ipv4Header::default()
    })
}

pub(crate) fn ipv6() -> Ip {
    Ip::V6(Ipv6Header {
        flow_label: Ipv6FlowLabel::try_new(0x4_2a17).unwrap(),
        hop_limit: 64,
        source: "fd01::2".parse::<std::net::Ipv6Addr>().unwrap().octets(),
        destination: "fd01::1".parse::<std::net::Ipv6Addr>().unwrap().octets(),
        ..Ipv6Header::default()
    })
}

/// A data segment that carries timestamps (RFC 7323) and a data sequence mapping with 64-bit
/// acknowledgement and sequence number (RFC 8684 section 3.3): 40 bytes of options.
pub(crate) fn tcp(sequence: u32) -> TcpHeader {
    let mut header = TcpHeader::new(40_000, 5001, sequence, 512);
    header.acknowledgment_number = 77;
    header.ack = true;
    let timestamps = [1, 1, 8, 10, 0, 0, 1, 0, 0, 0, 2, 0];
    let mapping = [30, 26, 0x20, 0x0f];
    let options: Vec<u8> = timestamps
        .into_iter()
        .chain(mapping)
        .chain(1..=22)
        .chain([1, 1])
        .collect();
    header.set_options_raw(&options).unwrap();
    header
}

impl Large {
    /// The frame as the network stack gives it to an interface that segments: one header for all,
    /// and a checksum that covers the pseudo-header only.
    pub(crate) fn frame(&self) -> (OffloadHeader, Vec<u8>) {
        let (mut bytes, transport) = self.headers(0..self.packets());
        let (gso_type, checksum_offset) = match (&self.transport, &self.ip) {
            (Transport::Tcp(header), Ip::V4(_)) => (GSO_TCPV4 | ecn(header), 16),
            (Transport::Tcp(header), Ip::V6(_)) => (GSO_TCPV6 | ecn(header), 16),
            (Transport::Udp, _) => (GSO_UDP_L4, 6),
        };
        let at = transport + checksum_offset;
        let partial = self.pseudo_header(bytes.len() - transport + self.payload.len());
        bytes[at..at + 2].copy_from_slice(&partial);
        let offload = OffloadHeader {
            flags: NEEDS_CHECKSUM,
            gso_type,
            header_bytes: bytes.len() as u16,
            gso_bytes: self.gso_bytes,
            checksum_start: transport as u16,
            checksum_offset: checksum_offset as u16,
        };
        bytes.extend_from_slice(&self.payload);
        (offload, bytes)
    }

    pub(crate) fn packets(&self) -> usize {
        self.payload.len().div_ceil(usize::from(self.gso_bytes))
    }

    /// Packet number `index` as it must appear on the wire, every checksum whole.
    pub(crate) fn packet(&self, index: usize) -> Vec<u8> {
        let mut bytes = self.headers(index..index + 1).0;
        bytes.extend_from_slice(self.part(index..index + 1));
        bytes
    }

    pub(crate) fn part(&self, range: std::ops::Range<usize>) -> &[u8] {
        let at = |index: usize| (index * usize::from(self.gso_bytes)).min(self.payload.len());
        &self.payload[at(range.start)..at(range.end)]
    }

    /// The headers of the packets of `range` as if they were one, and where the transport's starts.
    fn headers(&self, range: std::ops::Range<usize>) -> (Vec<u8>, usize) {
        let payload = self.part(range.clone());
        let ether_type = match self.ip {
            Ip::V4(_) => EtherType::IPV4,
            Ip::V6(_) => EtherType::IPV6,
        };
        let ethernet = Ethernet2Header {
            source: [2, 0, 0, 0, 0, 1],
            destination: [2, 1, 0, 0, 0, 1],
            ether_type,
        };
        let mut bytes = ethernet.to_bytes().to_vec();
        let transport = match &self.transport {
            Transport::Tcp(header) => {
                let mut header = header.clone();
                let skipped = range.start as u32 * u32::from(self.gso_bytes);
                header.sequence_number = header.sequence_number.wrapping_add(skipped);
                let (first, last) = (range.start == 0, range.end == self.packets());
                header.fin &= last;
                header.psh &= last;
                header.cwr &= first;
                header.checksum = match &self.ip {
                    Ip::V4(ip) => header.calc_checksum_ipv4(ip, payload),
                    Ip::V6(ip) => header.calc_checksum_ipv6(ip, payload),
                }
                .unwrap();
                header.to_bytes().to_vec()
            }
            Transport::Udp => match &self.ip {
                Ip::V4(ip) => UdpHeader::with_ipv4_checksum(40_000, 5001, ip, payload),
                Ip::V6(ip) => UdpHeader::with_ipv6_checksum(40_000, 5001, ip, payload),
            }
            .unwrap()
            .to_bytes()
            .to_vec(),
        };
        let length = transport.len() + payload.len();
        match self.ip.clone() {
            Ip::V4(mut ip) => {
                ip.protocol = self.protocol();
                ip.identification = ip.identification.wrapping_add(range.start as u16);
                ip.set_payload_len(length).unwrap();
                ip.header_checksum = ip.calc_header_checksum();
                bytes.extend_from_slice(&ip.to_bytes());
            }
            Ip::V6(mut ip) => {
                ip.next_header = self.protocol();
                ip.set_payload_length(length).unwrap();
                bytes.extend_from_slice(&ip.to_bytes());
            }
        }
        let at = bytes.len();
        bytes.extend_from_slice(&transport);
        (bytes, at)
    }

    fn protocol(&self) -> IpNumber {
        match self.transport {
            Transport::Tcp(_) => IpNumber::TCP,
            Transport::Udp => IpNumber::UDP,
        }
    }

    /// The folded sum over the pseudo-header (RFC 9293 section 3.1, RFC 8200 section 8.1).
    fn pseudo_header(&self, transport_bytes: usize) -> [u8; 2] {
        let sum = Sum16BitWords::new()
            .add_slice(&u32::try_from(transport_bytes).unwrap().to_be_bytes())
            .add_slice(&[0, self.protocol().0]);
        let sum = match &self.ip {
            Ip::V4(ip) => sum.add_slice(&ip.source).add_slice(&ip.destination),
            Ip::V6(ip) => sum.add_slice(&ip.source).add_slice(&ip.destination),
        };
        // In memory order, as the library keeps its sums.
        (!sum.ones_complement()).to_ne_bytes()
    }
}

fn ecn(header: &TcpHeader) -> u8 {
    if header.cwr { GSO_ECN } else { 0 }
}

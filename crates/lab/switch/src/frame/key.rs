//! The fields of a packet as matches see them.

use mptcplab_openflow::Field;
use mptcplab_openflow::matching::VLAN_PRESENT;

use super::headers::{ETHER_TYPE_AT, Headers, ICMP, ICMPV6, Network, SCTP, TCP, UDP, u16_at};

/// Bytes of an ICMPv6 neighbour message before its options.
const NEIGHBOUR_BYTES: usize = 24;
const SOLICITATION: u8 = 135;
const ADVERTISEMENT: u8 = 136;
/// Types of options of neighbour discovery (RFC 4861, section 4.6.1).
const SOURCE_ADDRESS: u8 = 1;
const TARGET_ADDRESS: u8 = 2;

/// Values of the fields that a packet has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// Fields that the packet has, by bits of their numbers.
    present: u64,
    values: [u128; Field::COUNT],
}

/// The bit of a field among those that are present.
pub(crate) fn bit(field: Field) -> u64 {
    1 << field.number()
}

/// Bytes as a number.
fn number(bytes: &[u8]) -> u128 {
    bytes
        .iter()
        .fold(0, |value, byte| value << 8 | u128::from(*byte))
}

impl Key {
    /// The fields of a frame that came in by a port; metadata and tunnel are 0.
    pub(crate) fn new(frame: &[u8], headers: Option<&Headers>, in_port: u32) -> Self {
        let mut key = Self {
            present: 0,
            values: [0; Field::COUNT],
        };
        key.set(Field::InPort, in_port);
        key.set(Field::InPhyPort, in_port);
        key.set(Field::Metadata, 0_u8);
        key.set(Field::TunnelId, 0_u8);
        if let Some(headers) = headers {
            key.read_ethernet(frame, headers);
            match headers.network {
                Network::Other => {}
                Network::Arp => key.read_arp(&frame[headers.network_at..]),
                Network::Ipv4 => key.read_ipv4(&frame[headers.network_at..]),
                Network::Ipv6(extensions) => {
                    key.read_ipv6(&frame[headers.network_at..]);
                    key.set(Field::Ipv6Exthdr, extensions.bits());
                }
            }
            if let Some(protocol) = headers.protocol {
                key.set(Field::IpProto, protocol);
            }
            key.read_transport(frame, headers);
        }
        key
    }

    /// Fields that the packet has, by bits of their numbers.
    pub(crate) fn present(&self) -> u64 {
        self.present
    }

    /// The value of a field; 0 where the packet does not have it.
    pub(crate) fn value(&self, field: Field) -> u128 {
        self.values[usize::from(field.number())]
    }

    pub(crate) fn set(&mut self, field: Field, value: impl Into<u128>) {
        self.present |= bit(field);
        self.values[usize::from(field.number())] = value.into();
    }

    fn read_ethernet(&mut self, frame: &[u8], headers: &Headers) {
        self.set(Field::EthDst, number(&frame[..6]));
        self.set(Field::EthSrc, number(&frame[6..12]));
        if let Some(ether_type) = headers.ether_type {
            self.set(Field::EthType, ether_type);
        }
        let tag = u16_at(frame, ETHER_TYPE_AT + 2).filter(|_| headers.is_tagged);
        match tag {
            Some(tag) => {
                self.set(Field::VlanVid, VLAN_PRESENT | tag & 0x0fff);
                self.set(Field::VlanPcp, tag >> 13);
            }
            None => self.set(Field::VlanVid, 0_u8),
        }
    }

    fn read_arp(&mut self, arp: &[u8]) {
        self.set(Field::ArpOp, number(&arp[6..8]));
        self.set(Field::ArpSha, number(&arp[8..14]));
        self.set(Field::ArpSpa, number(&arp[14..18]));
        self.set(Field::ArpTha, number(&arp[18..24]));
        self.set(Field::ArpTpa, number(&arp[24..28]));
    }

    fn read_ipv4(&mut self, ip: &[u8]) {
        self.set(Field::IpDscp, ip[1] >> 2);
        self.set(Field::IpEcn, ip[1] & 3);
        self.set(Field::Ipv4Src, number(&ip[12..16]));
        self.set(Field::Ipv4Dst, number(&ip[16..20]));
    }

    fn read_ipv6(&mut self, ip: &[u8]) {
        let begin = number(&ip[..4]);
        let class = (begin >> 20) as u8;
        self.set(Field::IpDscp, class >> 2);
        self.set(Field::IpEcn, class & 3);
        self.set(Field::Ipv6Flabel, begin & 0xf_ffff);
        self.set(Field::Ipv6Src, number(&ip[8..24]));
        self.set(Field::Ipv6Dst, number(&ip[24..40]));
    }

    fn read_transport(&mut self, frame: &[u8], headers: &Headers) {
        let ports = [
            (TCP, Field::TcpSrc, Field::TcpDst),
            (UDP, Field::UdpSrc, Field::UdpDst),
            (SCTP, Field::SctpSrc, Field::SctpDst),
        ];
        for (protocol, source, destination) in ports {
            if let Some(at) = headers.transport_of(protocol) {
                self.set(source, number(&frame[at..at + 2]));
                self.set(destination, number(&frame[at + 2..at + 4]));
            }
        }
        if let Some(at) = headers.transport_of(ICMP) {
            self.set(Field::Icmpv4Type, frame[at]);
            self.set(Field::Icmpv4Code, frame[at + 1]);
        }
        if let Some(at) = headers.transport_of(ICMPV6) {
            self.set(Field::Icmpv6Type, frame[at]);
            self.set(Field::Icmpv6Code, frame[at + 1]);
            for field in [Field::Ipv6NdTarget, Field::Ipv6NdSll, Field::Ipv6NdTll] {
                if let Some(at) = neighbour_field_at(frame, headers, field) {
                    self.set(field, number(&frame[at..at + field.bytes()]));
                }
            }
        }
    }
}

/// The place of a field of neighbour discovery, if the packet has it.
pub(crate) fn neighbour_field_at(frame: &[u8], headers: &Headers, field: Field) -> Option<usize> {
    let at = headers.transport_of(ICMPV6)?;
    let message = frame.get(at..headers.end)?;
    if message.len() < NEIGHBOUR_BYTES {
        return None;
    }
    let option = match (field, message[0]) {
        (Field::Ipv6NdTarget, SOLICITATION | ADVERTISEMENT) => return Some(at + 8),
        (Field::Ipv6NdSll, SOLICITATION) => SOURCE_ADDRESS,
        (Field::Ipv6NdTll, ADVERTISEMENT) => TARGET_ADDRESS,
        _ => return None,
    };
    let mut place = NEIGHBOUR_BYTES;
    while let Some(&[kind, words]) = message.get(place..).and_then(<[u8]>::first_chunk) {
        let bytes = usize::from(words) * 8;
        if bytes == 0 || place + bytes > message.len() {
            return None;
        }
        if kind == option {
            return Some(at + place + 2);
        }
        place += bytes;
    }
    None
}

//! Places of the headers in an Ethernet frame. The bytes may be anything: a header that is not
//! whole is none.

use mptcplab_openflow::matching::ExtensionHeaders;

use super::extension::{Chain, IPV6_BYTES};

pub(crate) const IPV4: u16 = 0x0800;
pub(crate) const ARP: u16 = 0x0806;
pub(crate) const IPV6: u16 = 0x86dd;
pub(crate) const VLAN: u16 = 0x8100;
pub(crate) const SERVICE_VLAN: u16 = 0x88a8;

pub(crate) const ICMP: u8 = 1;
pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;
pub(crate) const ICMPV6: u8 = 58;
pub(crate) const SCTP: u8 = 132;

/// The place of the EtherType, or of the first tag.
pub(crate) const ETHER_TYPE_AT: usize = 12;
const TAG_BYTES: usize = 4;
const IPV4_BYTES: usize = 20;
const ARP_BYTES: usize = 28;

/// The least EtherType; less is the length of an IEEE 802.3 frame.
const LEAST_ETHER_TYPE: u16 = 0x0600;
/// The LLC and SNAP headers before an EtherType (RFC 1042).
const SNAP: [u8; 6] = [0xaa, 0xaa, 3, 0, 0, 0];

/// The network header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Network {
    /// None that is known.
    Other,
    /// ARP for Ethernet and IPv4.
    Arp,
    Ipv4,
    Ipv6(ExtensionHeaders),
}

/// The transport header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transport {
    pub(crate) at: usize,
    pub(crate) protocol: u8,
}

/// The headers of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Headers {
    /// Whether the frame begins with a tag.
    pub(crate) is_tagged: bool,
    /// The EtherType behind all tags, if there is one.
    pub(crate) ether_type: Option<u16>,
    /// Its place.
    pub(crate) ether_type_at: usize,
    pub(crate) network: Network,
    /// The place of the network header.
    pub(crate) network_at: usize,
    /// The end of the network packet, without padding of Ethernet.
    pub(crate) end: usize,
    /// The protocol above IP.
    pub(crate) protocol: Option<u8>,
    /// The place of its number.
    pub(crate) protocol_at: Option<usize>,
    /// A header that is whole, and not in a later fragment.
    pub(crate) transport: Option<Transport>,
    /// Whether the packet is a fragment.
    pub(crate) is_fragment: bool,
}

pub(crate) fn u16_at(frame: &[u8], at: usize) -> Option<u16> {
    let bytes = frame.get(at..)?.first_chunk()?;
    Some(u16::from_be_bytes(*bytes))
}

impl Headers {
    /// The headers of a frame; `None`: it is shorter than an Ethernet header.
    pub(crate) fn parse(frame: &[u8]) -> Option<Self> {
        let mut ether_type_at = ETHER_TYPE_AT;
        let mut ether_type = u16_at(frame, ether_type_at)?;
        let mut is_tagged = false;
        while matches!(ether_type, VLAN | SERVICE_VLAN) {
            let Some(next) = u16_at(frame, ether_type_at + TAG_BYTES) else {
                break;
            };
            is_tagged = true;
            ether_type_at += TAG_BYTES;
            ether_type = next;
        }
        let mut headers = Self {
            is_tagged,
            ether_type: Some(ether_type),
            ether_type_at,
            network: Network::Other,
            network_at: ether_type_at + 2,
            end: frame.len(),
            protocol: None,
            protocol_at: None,
            transport: None,
            is_fragment: false,
        };
        if ether_type < LEAST_ETHER_TYPE {
            headers.read_snap(frame);
        }
        match headers.ether_type {
            Some(IPV4) => headers.read_ipv4(frame),
            Some(IPV6) => headers.read_ipv6(frame),
            Some(ARP) => headers.read_arp(frame),
            _ => {}
        }
        Some(headers)
    }

    fn read_snap(&mut self, frame: &[u8]) {
        let at = self.network_at;
        self.ether_type = match frame.get(at..at + SNAP.len()) {
            Some(bytes) if bytes == SNAP => u16_at(frame, at + SNAP.len()),
            _ => None,
        };
        if self.ether_type.is_some() {
            self.ether_type_at = at + SNAP.len();
            self.network_at = self.ether_type_at + 2;
        }
    }

    fn read_arp(&mut self, frame: &[u8]) {
        // Ethernet and IPv4, addresses of 6 and 4 bytes (RFC 826).
        const BEGIN: [u8; 6] = [0, 1, 8, 0, 6, 4];
        let at = self.network_at;
        let packet = frame.get(at..at + ARP_BYTES);
        if packet.is_some_and(|packet| packet.starts_with(&BEGIN)) {
            self.network = Network::Arp;
        }
    }

    fn read_ipv4(&mut self, frame: &[u8]) {
        let at = self.network_at;
        let Some(header) = frame.get(at..).and_then(<[u8]>::first_chunk::<IPV4_BYTES>) else {
            return;
        };
        let header_bytes = usize::from(header[0] & 0x0f) * 4;
        let total = usize::from(u16::from_be_bytes([header[2], header[3]]));
        let is_whole = header[0] >> 4 == 4
            && header_bytes >= IPV4_BYTES
            && total >= header_bytes
            && frame.len() >= at + header_bytes;
        if !is_whole {
            return;
        }
        self.network = Network::Ipv4;
        self.end = frame.len().min(at + total);
        self.protocol = Some(header[9]);
        self.protocol_at = Some(at + 9);
        let fragment = u16::from_be_bytes([header[6], header[7]]) & 0x3fff;
        self.is_fragment = fragment != 0;
        if fragment & 0x1fff == 0 {
            self.read_transport(at + header_bytes, header[9]);
        }
    }

    fn read_ipv6(&mut self, frame: &[u8]) {
        let at = self.network_at;
        let Some(header) = frame.get(at..).and_then(<[u8]>::first_chunk::<IPV6_BYTES>) else {
            return;
        };
        if header[0] >> 4 != 6 {
            return;
        }
        let payload = usize::from(u16::from_be_bytes([header[4], header[5]]));
        self.end = frame.len().min(at + IPV6_BYTES + payload);
        let mut chain = Chain::new(header[6], at);
        chain.walk(&frame[..self.end]);
        self.network = Network::Ipv6(chain.headers);
        self.protocol = Some(chain.next);
        self.protocol_at = Some(chain.next_at);
        self.is_fragment = chain.headers.contains(ExtensionHeaders::FRAG);
        if !chain.is_later_fragment && !chain.is_broken {
            self.read_transport(chain.at, chain.next);
        }
    }

    fn read_transport(&mut self, at: usize, protocol: u8) {
        let least = match protocol {
            TCP => 20,
            UDP => 8,
            SCTP => 12,
            ICMP | ICMPV6 => 4,
            _ => return,
        };
        if at + least <= self.end {
            self.transport = Some(Transport { at, protocol });
        }
    }

    /// The place of the transport header, if it is of this protocol.
    pub(crate) fn transport_of(&self, protocol: u8) -> Option<usize> {
        let found = self.transport.filter(|found| found.protocol == protocol)?;
        // ICMP goes with IPv4 and ICMPv6 with IPv6 alone.
        let is_right = match protocol {
            ICMP => self.network == Network::Ipv4,
            ICMPV6 => matches!(self.network, Network::Ipv6(_)),
            _ => true,
        };
        is_right.then_some(found.at)
    }
}

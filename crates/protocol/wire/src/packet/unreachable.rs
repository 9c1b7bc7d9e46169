//! The error with which a router answers to a packet without a route (RFC 792, RFC 4443).

use alloc::vec::Vec;
use core::net::{IpAddr, SocketAddr};

use super::Packet;
use super::build::{HOP_LIMIT, SHORT_HEADER_BYTES, put_ip_header};
use crate::buffer::{Header, put};
use crate::ecn::Ecn;
use crate::layout::{self, Family, protocol};

/// The precedence of errors of IPv4 (RFC 1812, section 4.3.2.5), beside which Linux leaves them the type
/// of service of the packet that they are about (`__icmp_send` in net/ipv4/icmp.c). Those of IPv6 have
/// a traffic class of 0.
const INTERNETWORK_CONTROL: u8 = 0xc0;
/// The bits of that type (RFC 1349).
const TYPE_OF_SERVICE: u8 = 0x1e;

/// A segment that had no route, as much of it as the error tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreachable {
    /// Address and port of the sender.
    pub source: SocketAddr,
    /// Address and port of the receiver.
    pub destination: SocketAddr,
    /// Sequence number.
    pub sequence: u32,
}

impl Family {
    /// Type and code of "network unreachable", and of "no route to destination".
    fn unreachable(self) -> [u8; 2] {
        match self {
            Self::V4 => [3, 0],
            Self::V6 => [1, 0],
        }
    }

    /// Most bytes of a packet with an error: the least MTU that every host must take (RFC 1812,
    /// section 4.3.2.3; RFC 4443, section 2.4).
    fn most_error_bytes(self) -> usize {
        match self {
            Self::V4 => 576,
            Self::V6 => 1280,
        }
    }
}

impl Packet {
    /// Whether a router may send an error about the packet: not where it is one of ICMP, but for echoes
    /// (RFC 1122, section 3.2.2), or none of IP.
    pub fn may_have_error(&self) -> bool {
        let is_icmp = matches!(self.protocol(), protocol::ICMP | protocol::ICMPV6);
        (!is_icmp || self.as_echo().is_some()) && layout::family(&self.header).is_some()
    }

    /// The ICMP or ICMPv6 error of a router that has no route to the destination of `lost`, with as
    /// much of it as there is room for. `None` where it [may not be sent](Self::may_have_error).
    ///
    /// # Panics
    /// Where the address of the router is of another family.
    pub fn unreachable(router: IpAddr, lost: &Self) -> Option<Self> {
        if !lost.may_have_error() {
            return None;
        }
        let family = Family::of(router, lost.source());
        let protocol = match family {
            Family::V4 => protocol::ICMP,
            Family::V6 => protocol::ICMPV6,
        };
        let mut payload = Vec::new();
        lost.write_to(&mut payload);
        let room = family.most_error_bytes() - family.header_bytes() - SHORT_HEADER_BYTES;
        payload.truncate(room);
        let mut header = Header::new();
        put_ip_header(
            &mut header,
            router,
            lost.source(),
            protocol,
            HOP_LIMIT,
            Ecn::NotCapable,
            SHORT_HEADER_BYTES + payload.len(),
        );
        if family == Family::V4 {
            header[1] = lost.header[1] & TYPE_OF_SERVICE | INTERNETWORK_CONTROL;
        }
        put(&mut header, &family.unreachable());
        put(&mut header, &[0; SHORT_HEADER_BYTES - 2]);
        Some(Self {
            header,
            payload: payload.into(),
        })
    }

    /// The segment that such an error is about; `None` where the packet is another, or about
    /// another protocol than TCP.
    pub fn as_unreachable(&self) -> Option<Unreachable> {
        let family = match self.protocol() {
            protocol::ICMP => Family::V4,
            protocol::ICMPV6 => Family::V6,
            _ => return None,
        };
        let at = layout::ip_header_bytes(&self.header)?;
        if *self.header.get(at..at + 2)? != family.unreachable() {
            return None;
        }
        let lost = &self.payload[..];
        if layout::family(lost)? != family || lost[family.protocol()] != protocol::TCP {
            return None;
        }
        let (source, destination) = layout::addresses(lost);
        let segment = lost.get(layout::ip_header_bytes(lost)?..)?;
        let &[a, b, c, d, sequence @ ..] = segment.first_chunk::<8>()?;
        Some(Unreachable {
            source: SocketAddr::new(source, u16::from_be_bytes([a, b])),
            destination: SocketAddr::new(destination, u16::from_be_bytes([c, d])),
            sequence: u32::from_be_bytes(sequence),
        })
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::{EchoKind, Flags, Segment};

    const FAMILIES: [[&str; 2]; 2] = [
        ["10.0.0.1:1000", "10.0.9.1:80"],
        ["[2001:db8::1]:1000", "[2001:db8:9::1]:80"],
    ];

    fn syn(from: SocketAddr, to: SocketAddr) -> Packet {
        let syn = Segment {
            source: from,
            destination: to,
            sequence: 0xdead_beef,
            acknowledgement: 0,
            flags: Flags {
                syn: true,
                ..Flags::default()
            },
            window: 1,
            urgent: 0,
            options: Default::default(),
            ecn: Default::default(),
            payload: Bytes::new(),
        };
        syn.into_packet(64)
    }

    fn router(of: SocketAddr) -> IpAddr {
        let text = if of.is_ipv4() {
            "10.0.0.2"
        } else {
            "2001:db8::2"
        };
        text.parse().unwrap()
    }

    #[test]
    fn an_error_names_the_segment_that_it_is_about() {
        for addresses in FAMILIES {
            let [source, destination] = addresses.map(|address| address.parse().unwrap());
            let error = Packet::unreachable(router(source), &syn(source, destination)).unwrap();
            assert_eq!(error.destination(), source.ip());
            let second = if source.is_ipv4() { 0xc0 } else { 0 };
            assert_eq!(error.header[1], second);
            let mut bytes = Vec::new();
            error.write_to(&mut bytes);
            let read = Packet::read(bytes.into()).unwrap();
            assert_eq!(read, error);
            let told = Unreachable {
                source,
                destination,
                sequence: 0xdead_beef,
            };
            assert_eq!(read.as_unreachable(), Some(told));
            for length in 0..error.payload.len() {
                let mut short = error.clone();
                short.payload.truncate(length);
                let header = if source.is_ipv4() { 20 } else { 40 };
                assert_eq!(short.as_unreachable().is_some(), length >= header + 8);
            }
        }
    }

    #[test]
    fn an_error_of_ipv4_has_the_precedence_of_control_and_the_type_of_service_of_the_packet() {
        let [source, destination] = FAMILIES[0].map(|address| address.parse().unwrap());
        for (of_packet, of_error) in [(0x00, 0xc0), (0x02, 0xc2), (0xb8, 0xd8), (0xff, 0xde)] {
            let mut lost = syn(source, destination);
            lost.header[1] = of_packet;
            let error = Packet::unreachable(router(source), &lost).unwrap();
            assert_eq!(error.header[1], of_error, "{of_packet:#x}");
        }
    }

    #[test]
    fn an_error_is_short_and_not_about_an_error() {
        for addresses in FAMILIES {
            let [source, destination]: [SocketAddr; 2] =
                addresses.map(|address| address.parse().unwrap());
            let router = router(source);
            let (from, to) = (source.ip(), destination.ip());
            let payload = Bytes::from_static(&[0; 1400]);
            let echo = Packet::echo(from, to, EchoKind::Request, 1, 1, payload);
            let error = Packet::unreachable(router, &echo).unwrap();
            let most = if source.is_ipv4() { 576 } else { 1280 };
            assert_eq!(error.ip_bytes(), most);
            assert_eq!(error.as_unreachable(), None);
            assert_eq!(Packet::unreachable(router, &error), None);
        }
    }
}

//! Addresses and ports of a subflow.

use std::net::{IpAddr, SocketAddr};

use mptcplab_openflow::{Field, Match, Oxm};
use mptcplab_wire::ethernet::ether_type;

use crate::frame::{Ip, TCP};

/// Addresses and ports of packets in one direction: what rules match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Flow {
    /// The sender's address.
    pub source: IpAddr,
    /// The receiver's address, of the same family.
    pub destination: IpAddr,
    /// The protocol above IP.
    pub protocol: u8,
    /// The sender's port; 0 of a protocol other than TCP, whose ports are not looked at.
    pub source_port: u16,
    /// The receiver's port; 0 of a protocol other than TCP.
    pub destination_port: u16,
}

impl Flow {
    /// The flow of a packet.
    pub(crate) fn of(ip: &Ip) -> Self {
        let ports = ip.tcp.as_ref().map(|tcp| (tcp.source, tcp.destination));
        let (source_port, destination_port) = ports.unwrap_or_default();
        Self {
            source: ip.source,
            destination: ip.destination,
            protocol: ip.protocol,
            source_port,
            destination_port,
        }
    }

    /// The flow in the other direction.
    pub fn reversed(&self) -> Self {
        Self {
            source: self.destination,
            destination: self.source,
            source_port: self.destination_port,
            destination_port: self.source_port,
            ..*self
        }
    }

    /// Whether rules match ports, too, and both directions take the same path.
    pub(crate) fn is_tcp(&self) -> bool {
        self.protocol == TCP
    }

    /// Address and port of the receiver.
    pub fn server(&self) -> SocketAddr {
        SocketAddr::new(self.destination, self.destination_port)
    }

    /// The match of packets of this flow that come by a port.
    pub(crate) fn fields(&self, in_port: u32) -> Match {
        let (ether_type, addresses) = match (self.source, self.destination) {
            (IpAddr::V4(from), IpAddr::V4(to)) => (
                ether_type::IPV4,
                [
                    Oxm::exact(Field::Ipv4Src, u32::from(from)),
                    Oxm::exact(Field::Ipv4Dst, u32::from(to)),
                ],
            ),
            (from, to) => (
                ether_type::IPV6,
                [
                    Oxm::exact(Field::Ipv6Src, number(from)),
                    Oxm::exact(Field::Ipv6Dst, number(to)),
                ],
            ),
        };
        let mut fields = Vec::with_capacity(7);
        fields.push(Oxm::exact(Field::InPort, in_port));
        fields.push(Oxm::exact(Field::EthType, ether_type));
        fields.push(Oxm::exact(Field::IpProto, self.protocol));
        fields.extend(addresses);
        if self.is_tcp() {
            fields.push(Oxm::exact(Field::TcpSrc, self.source_port));
            fields.push(Oxm::exact(Field::TcpDst, self.destination_port));
        }
        Match::new(fields)
    }
}

/// The address as a number of IPv6.
fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().into(),
        IpAddr::V6(v6) => v6.into(),
    }
}

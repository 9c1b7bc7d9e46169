//! Packets within others.

use super::link;
use mptcplab_wire::checksum::internet;

/// IP protocol numbers.
pub mod protocol {
    pub const IPV4: u8 = 4;
    pub const UDP: u8 = 17;
    pub const IPV6: u8 = 41;
    pub const GRE: u8 = 47;
    pub const MPLS: u8 = 137;
}

/// A packet of IPv4 around `content`.
pub fn v4(protocol: u8, content: &[u8]) -> Vec<u8> {
    let [high, low] = (20 + content.len() as u16).to_be_bytes();
    let mut packet = vec![0x45, 0, high, low, 0, 9, 0, 0, 64, protocol, 0, 0];
    packet.extend([192, 0, 2, 1, 192, 0, 2, 2]);
    let sum = internet(&packet);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    packet.extend_from_slice(content);
    packet
}

/// A packet of IPv6 around `content`.
pub fn v6(protocol: u8, content: &[u8]) -> Vec<u8> {
    let [high, low] = (content.len() as u16).to_be_bytes();
    let mut packet = vec![0x60, 0, 0, 0, high, low, protocol, 64];
    packet.extend(std::net::Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).octets());
    packet.extend(std::net::Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2).octets());
    packet.extend_from_slice(content);
    packet
}

/// A datagram of UDP, without a checksum.
pub fn udp(to: u16, content: &[u8]) -> Vec<u8> {
    let mut datagram = 50_000_u16.to_be_bytes().to_vec();
    datagram.extend(to.to_be_bytes());
    datagram.extend((8 + content.len() as u16).to_be_bytes());
    datagram.extend([0, 0]);
    datagram.extend_from_slice(content);
    datagram
}

/// The number of Ethernet for the IP version of a packet.
pub fn ethertype(packet: &[u8]) -> u16 {
    if packet[0] >> 4 == 6 { 0x86dd } else { 0x0800 }
}

/// GRE with these flags, whose fields are zero.
pub fn gre(flags: u16, protocol: u16, content: &[u8]) -> Vec<u8> {
    let mut bytes = flags.to_be_bytes().to_vec();
    bytes.extend(protocol.to_be_bytes());
    let fields = (flags & 0xb080).count_ones() as usize;
    bytes.resize(bytes.len() + 4 * fields, 0);
    bytes.extend_from_slice(content);
    bytes
}

/// GTP-U over UDP; `extensions` are the optional fields and what follows them.
pub fn gtp_u(flags: u8, optional: &[u8], packet: &[u8]) -> Vec<u8> {
    let [high, low] = ((optional.len() + packet.len()) as u16).to_be_bytes();
    let header = [0x30 | flags, 0xff, high, low, 0, 0, 0, 5];
    udp(2152, &[&header[..], optional, packet].concat())
}

/// VXLAN over UDP, around a packet in a frame.
pub fn vxlan(packet: &[u8]) -> Vec<u8> {
    let frame = link::frame(link::ETHERNET, packet);
    udp(4789, &[&[8, 0, 0, 0, 0, 0, 7, 0][..], &frame].concat())
}

/// Geneve over UDP, with words of options.
pub fn geneve(options: u8, protocol: u16, content: &[u8]) -> Vec<u8> {
    let [high, low] = protocol.to_be_bytes();
    let mut bytes = vec![options, 0, high, low, 0, 0, 7, 0];
    for _ in 0..options {
        bytes.extend([0; 4]);
    }
    bytes.extend_from_slice(content);
    udp(6081, &bytes)
}

/// A packet below labels.
pub fn labelled(labels: usize, packet: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for label in 0..labels {
        let bottom = u8::from(label + 1 == labels);
        bytes.extend([0, 1, 0x10 | bottom, 64]);
    }
    bytes.extend_from_slice(packet);
    bytes
}

/// A session of PPP over Ethernet, behind Ethernet's header.
pub fn pppoe(packet: &[u8]) -> Vec<u8> {
    link::frame(link::PPP_ETHER, packet)
}

/// A frame of Ethernet with this number of a protocol.
pub fn ethernet(protocol: u16, content: &[u8]) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
    frame.extend(protocol.to_be_bytes());
    frame.extend_from_slice(content);
    frame
}

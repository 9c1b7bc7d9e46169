//! Frames of Ethernet, on links at switches.
//!
//! Elsewhere a link joins two nodes, and its packets need no hardware addresses.

pub mod neighbour;

use bytes::Bytes;
use mptcplab_wire::Packet;
pub use mptcplab_wire::ethernet::{HEADER_BYTES, MacAddress};
use mptcplab_wire::ethernet::{Header, ether_type, is_group};

/// The frame of a packet.
pub fn frame_of(packet: &Packet, source: MacAddress, destination: MacAddress) -> Bytes {
    let header = Header {
        destination,
        source,
        ether_type: match packet.source().is_ipv4() {
            true => ether_type::IPV4,
            false => ether_type::IPV6,
        },
    };
    let mut frame = header.frame();
    frame.reserve_exact(packet.ip_bytes());
    packet.write_to(&mut frame);
    frame.into()
}

/// The packet in a frame for a hardware address; `None` where it is for another one, or is no
/// packet of IP whose checksums are right.
pub fn packet_for(own: MacAddress, frame: &Bytes) -> Option<Packet> {
    let (header, _) = Header::read(frame)?;
    let is_ip = matches!(header.ether_type, ether_type::IPV4 | ether_type::IPV6);
    let is_for_it = header.destination == own || is_group(header.destination);
    (is_ip && is_for_it).then(|| Packet::read(frame.slice(HEADER_BYTES..)).ok())?
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use mptcplab_wire::ethernet::BROADCAST;

    use super::*;
    use crate::hardware_address;

    #[test]
    fn a_packet_comes_out_of_its_frame_at_its_address_alone() {
        let [own, other] = [hardware_address(1, 0), hardware_address(300, 1)];
        for addresses in [
            ["10.0.0.1:1", "10.0.0.2:2"],
            ["[2001:db8::1]:1", "[2001:db8::2]:2"],
        ] {
            let [from, to] = addresses.map(|address| address.parse::<SocketAddr>().unwrap());
            let packet = Packet::udp(from, to, Bytes::from_static(b"text"));
            let frame = frame_of(&packet, other, own);
            assert_eq!(frame.len(), HEADER_BYTES + packet.ip_bytes());
            let read = packet_for(own, &frame).unwrap();
            assert_eq!(read.socket_addresses(), packet.socket_addresses());
            assert_eq!(read.payload, packet.payload);
            assert_eq!(packet_for(other, &frame), None);
            let to_all = frame_of(&packet, other, BROADCAST);
            assert!(packet_for(own, &to_all).is_some());
            for bytes in 0..frame.len() {
                assert_eq!(packet_for(own, &frame.slice(..bytes)), None);
            }
        }
    }
}

//! Frames of Ethernet, on links at switches.
//!
//! Elsewhere a link joins two nodes, and its packets need no hardware addresses.

pub mod neighbour;

use bytes::Bytes;
use mptcplab_wire::Packet;

/// A hardware address.
pub type MacAddress = [u8; 6];

/// Bytes of the header: destination, source, EtherType.
pub const HEADER_BYTES: usize = 14;

const BROADCAST: MacAddress = [0xff; 6];
const IPV4: u16 = 0x0800;
const ARP: u16 = 0x0806;
const IPV6: u16 = 0x86dd;

/// The frame of a packet.
pub fn frame_of(packet: &Packet, source: MacAddress, destination: MacAddress) -> Bytes {
    let kind = match packet.source().is_ipv4() {
        true => IPV4,
        false => IPV6,
    };
    let mut frame = header(source, destination, kind);
    frame.reserve_exact(packet.ip_bytes());
    packet.write_to(&mut frame);
    frame.into()
}

/// The packet in a frame for a hardware address; `None` where it is for another one, or is no
/// packet of IP whose checksums are right.
pub fn packet_for(own: MacAddress, frame: &Bytes) -> Option<Packet> {
    let (destination, kind, _) = parts(frame)?;
    let is_ip = kind == IPV4 || kind == IPV6;
    // The lowest bit of the first byte marks a group (IEEE 802.3, clause 3.2.3).
    let is_for_it = destination == own || destination[0] & 1 == 1;
    (is_ip && is_for_it).then(|| Packet::read(frame.slice(HEADER_BYTES..)).ok())?
}

fn header(source: MacAddress, destination: MacAddress, kind: u16) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER_BYTES);
    bytes.extend(destination);
    bytes.extend(source);
    bytes.extend(kind.to_be_bytes());
    bytes
}

/// Destination, EtherType and payload of a frame.
fn parts(frame: &[u8]) -> Option<(MacAddress, u16, &[u8])> {
    let (destination, rest) = frame.split_first_chunk()?;
    let (_, rest) = rest.split_first_chunk::<6>()?;
    let (kind, payload) = rest.split_first_chunk()?;
    Some((*destination, u16::from_be_bytes(*kind), payload))
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

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

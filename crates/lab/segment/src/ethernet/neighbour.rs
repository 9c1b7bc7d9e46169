//! Answers of a host to those who ask for its hardware address: ARP (RFC 826) and neighbour
//! discovery (RFC 4861). It asks for none itself: its neighbours stand in the plan.

use std::net::IpAddr;

use bytes::Bytes;
use mptcplab_wire::Packet;
use mptcplab_wire::ethernet::{
    Arp, Header, MacAddress, Neighbour, NeighbourKind, Operation, ether_type,
};

/// The answer of an interface to a frame, where it asks for an address that the interface has.
pub fn answer(frame: &[u8], own: MacAddress, has: impl Fn(IpAddr) -> bool) -> Option<Vec<u8>> {
    let (header, payload) = Header::read(frame)?;
    match header.ether_type {
        ether_type::ARP => {
            let asked = Arp::read(payload)?;
            let is_question = asked.operation == Operation::Request;
            (is_question && has(asked.target.into())).then(|| asked.answer(own).frame())
        }
        ether_type::IPV6 => {
            let asked = Neighbour::read(payload)?;
            let is_question = asked.kind == NeighbourKind::Solicitation;
            if !is_question || !has(asked.target.into()) || !has_right_checksum(payload) {
                return None;
            }
            Some(asked.answer(own).frame(own, Some(header.source)))
        }
        _ => None,
    }
}

/// The frame by which an interface makes an address of its own known, as Linux does with
/// `arp_notify` and `ndisc_notify`.
pub fn announcement(own: MacAddress, address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => Arp::request(own, address, address).frame(),
        IpAddr::V6(address) => Neighbour::announcement(own, address).frame(own, None),
    }
}

fn has_right_checksum(packet: &[u8]) -> bool {
    Packet::read(Bytes::copy_from_slice(packet)).is_ok()
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use mptcplab_wire::ethernet::BROADCAST;

    use super::super::packet_for;
    use super::*;

    const OWN: MacAddress = [2, 0, 0, 0, 0, 1];
    const OTHER: MacAddress = [2, 0, 0, 0, 0, 2];

    #[test]
    fn an_arp_request_for_an_own_address_is_answered() {
        let [own, other]: [Ipv4Addr; 2] = [[10, 0, 0, 1].into(), [10, 0, 0, 2].into()];
        let asked = Arp::request(OTHER, other, own);
        let request = asked.frame();
        let reply = answer(&request, OWN, |asked| asked == own).unwrap();
        assert_eq!(reply, asked.answer(OWN).frame());
        assert_eq!(answer(&request, OWN, |asked| asked == other), None);
        assert_eq!(answer(&reply, OTHER, |_| true), None);
        for bytes in 0..request.len() {
            assert_eq!(answer(&request[..bytes], OWN, |_| true), None);
        }
    }

    #[test]
    fn a_neighbour_solicitation_for_an_own_address_is_answered() {
        let [own, other]: [Ipv6Addr; 2] =
            ["2001:db8::1", "2001:db8::2"].map(|text| text.parse().unwrap());
        let asked = Neighbour::solicitation(OTHER, other, own);
        let frame = asked.frame(OTHER, None);
        let reply = answer(&frame, OWN, |asked| asked == own).unwrap();
        assert_eq!(reply, asked.answer(OWN).frame(OWN, Some(OTHER)));
        assert_eq!(reply[..6], OTHER);
        assert_eq!(answer(&reply, OTHER, |_| true), None);
        // One that has no address yet cannot be answered alone.
        let asked = Neighbour::solicitation(OTHER, Ipv6Addr::UNSPECIFIED, own);
        let reply = answer(&asked.frame(OTHER, None), OWN, |_| true).unwrap();
        assert_eq!(reply, announcement(OWN, own.into()));
        for bytes in 0..frame.len() {
            assert_eq!(answer(&frame[..bytes], OWN, |_| true), None);
            let mut wrong = frame.clone();
            wrong[bytes] ^= 0x10;
            let answered = answer(&wrong, OWN, |asked| asked == own);
            // Of the frame's header only the source is looked at, and of that of IP not all.
            assert!(bytes < 22 || answered.is_none(), "{bytes}");
        }
    }

    #[test]
    fn an_announcement_is_a_packet_that_all_take() {
        let address: Ipv6Addr = "2001:db8::1".parse().unwrap();
        let frame = Bytes::from(announcement(OWN, address.into()));
        let packet: Packet = packet_for(OTHER, &frame).unwrap();
        assert_eq!(packet.source(), IpAddr::from(address));
        let address = Ipv4Addr::new(10, 0, 0, 1);
        let frame = announcement(OWN, address.into());
        assert_eq!(frame[..6], BROADCAST);
        let read = Arp::read(&frame[14..]).unwrap();
        assert_eq!((read.sender_mac, read.sender), (OWN, address));
        assert_eq!(read.target, address);
    }
}

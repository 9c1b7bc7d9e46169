//! Answers of a host to those who ask for its hardware address: ARP (RFC 826) and neighbour
//! discovery (RFC 4861). It asks for none itself: its neighbours stand in the plan.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use mptcplab_wire::checksum::Sum;

use super::{ARP, BROADCAST, IPV6, MacAddress, header, parts};

/// Hardware type Ethernet, protocol type IPv4, and the lengths of their addresses.
const ARP_HEAD: [u8; 6] = [0, 1, 0x08, 0, 6, 4];
const REQUEST: u16 = 1;
const REPLY: u16 = 2;

const ICMPV6: u8 = 58;
const SOLICITATION: u8 = 135;
const ADVERTISEMENT: u8 = 136;
/// The hop limit of neighbour discovery, which shows that no router has passed it on.
const HOP_LIMIT: u8 = 255;
const IPV6_HEADER_BYTES: usize = 40;
/// Flags of an advertisement: it answers a solicitation, and replaces what was known.
const SOLICITED: u8 = 0x40;
const OVERRIDE: u8 = 0x20;
/// An option with the target's hardware address, and its length in units of eight bytes.
const TARGET_ADDRESS: [u8; 2] = [2, 1];
const ALL_NODES: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);

/// The answer of an interface to a frame, where it asks for an address that the interface has.
pub fn answer(frame: &[u8], own: MacAddress, has: impl Fn(IpAddr) -> bool) -> Option<Vec<u8>> {
    let (_, kind, payload) = parts(frame)?;
    match kind {
        ARP => {
            let (asking, asking_address, asked) = arp_request(payload)?;
            let reply = || arp(REPLY, own, asked, asking, asking_address, asking);
            has(asked.into()).then(reply)
        }
        IPV6 => {
            let (source, asked) = solicitation(payload)?;
            let asking = *frame[6..].first_chunk()?;
            // One that has no address yet cannot be answered alone.
            let (to, flags) = match source.is_unspecified() {
                true => (ALL_NODES, OVERRIDE),
                false => (source, SOLICITED | OVERRIDE),
            };
            has(asked.into()).then(|| advertisement(own, asked, asking, to, flags))
        }
        _ => None,
    }
}

/// The frame by which an interface makes an address of its own known, as Linux does with
/// `arp_notify` and `ndisc_notify`.
pub fn announcement(own: MacAddress, address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => arp(REQUEST, own, address, [0; 6], address, BROADCAST),
        IpAddr::V6(address) => {
            advertisement(own, address, [0x33, 0x33, 0, 0, 0, 1], ALL_NODES, OVERRIDE)
        }
    }
}

/// Sender's hardware address and address, and target's address of an ARP request.
fn arp_request(bytes: &[u8]) -> Option<(MacAddress, Ipv4Addr, Ipv4Addr)> {
    let rest = bytes.strip_prefix(&ARP_HEAD)?;
    let rest = rest.strip_prefix(&REQUEST.to_be_bytes())?;
    let (hardware, rest) = rest.split_first_chunk::<6>()?;
    let (address, rest) = rest.split_first_chunk::<4>()?;
    let target = rest.get(6..)?.first_chunk::<4>()?;
    Some((*hardware, (*address).into(), (*target).into()))
}

fn arp(
    operation: u16,
    own: MacAddress,
    address: Ipv4Addr,
    target: MacAddress,
    target_address: Ipv4Addr,
    destination: MacAddress,
) -> Vec<u8> {
    let mut frame = header(own, destination, ARP);
    frame.extend(ARP_HEAD);
    frame.extend(operation.to_be_bytes());
    frame.extend(own);
    frame.extend(address.octets());
    frame.extend(target);
    frame.extend(target_address.octets());
    frame
}

/// Source of a neighbour solicitation, and the address that it asks for.
fn solicitation(packet: &[u8]) -> Option<(Ipv6Addr, Ipv6Addr)> {
    let (ip, icmp) = packet.split_at_checked(IPV6_HEADER_BYTES)?;
    let bytes = u16::from_be_bytes([ip[4], ip[5]]);
    let icmp = icmp.get(..bytes.into())?;
    let source: [u8; 16] = *ip[8..].first_chunk()?;
    let destination: [u8; 16] = *ip[24..].first_chunk()?;
    let is_one = ip[6] == ICMPV6 && ip[7] == HOP_LIMIT && icmp.starts_with(&[SOLICITATION, 0]);
    if !is_one || checksum(source.into(), destination.into(), icmp) != 0 {
        return None;
    }
    let target: [u8; 16] = *icmp.get(8..)?.first_chunk()?;
    Some((source.into(), target.into()))
}

fn advertisement(
    own: MacAddress,
    address: Ipv6Addr,
    destination: MacAddress,
    to: Ipv6Addr,
    flags: u8,
) -> Vec<u8> {
    let mut icmp = vec![ADVERTISEMENT, 0, 0, 0, flags, 0, 0, 0];
    icmp.extend(address.octets());
    icmp.extend(TARGET_ADDRESS);
    icmp.extend(own);
    let sum = checksum(address, to, &icmp);
    icmp[2..4].copy_from_slice(&sum.to_be_bytes());
    let mut frame = header(own, destination, IPV6);
    frame.extend([0x60, 0, 0, 0]);
    frame.extend((icmp.len() as u16).to_be_bytes());
    frame.extend([ICMPV6, HOP_LIMIT]);
    frame.extend(address.octets());
    frame.extend(to.octets());
    frame.extend(icmp);
    frame
}

/// The checksum of ICMPv6, with its pseudo-header (RFC 4443, section 2.3).
fn checksum(source: Ipv6Addr, destination: Ipv6Addr, icmp: &[u8]) -> u16 {
    let mut sum = Sum::default();
    sum.add(&source.octets());
    sum.add(&destination.octets());
    sum.add(&(icmp.len() as u32).to_be_bytes());
    sum.add(&[0, 0, 0, ICMPV6]);
    sum.add(icmp);
    sum.finish()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use mptcplab_wire::Packet;

    use super::super::packet_for;
    use super::*;

    const OWN: MacAddress = [2, 0, 0, 0, 0, 1];
    const OTHER: MacAddress = [2, 0, 0, 0, 0, 2];

    #[test]
    fn an_arp_request_for_an_own_address_is_answered() {
        let [own, other]: [Ipv4Addr; 2] = [[10, 0, 0, 1].into(), [10, 0, 0, 2].into()];
        let request = arp(REQUEST, OTHER, other, [0; 6], own, BROADCAST);
        let reply = answer(&request, OWN, |asked| asked == own).unwrap();
        assert_eq!(reply, arp(REPLY, OWN, own, OTHER, other, OTHER));
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
        let solicit = |source: Ipv6Addr| {
            let mut frame = advertisement(OTHER, source, OWN, own, 0);
            frame[54] = SOLICITATION;
            frame[62..78].copy_from_slice(&own.octets());
            frame[56..58].fill(0);
            let sum = checksum(source, own, &frame[54..]);
            frame[56..58].copy_from_slice(&sum.to_be_bytes());
            frame
        };
        let frame = solicit(other);
        let reply = answer(&frame, OWN, |asked| asked == own).unwrap();
        assert_eq!(
            reply,
            advertisement(OWN, own, OTHER, other, SOLICITED | OVERRIDE)
        );
        let reply = answer(&solicit(Ipv6Addr::UNSPECIFIED), OWN, |_| true).unwrap();
        assert_eq!(reply, advertisement(OWN, own, OTHER, ALL_NODES, OVERRIDE));
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
        assert_eq!(arp_request(&frame[14..]), Some((OWN, address, address)));
    }
}

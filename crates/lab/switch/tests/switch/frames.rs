//! Frames of every kind that fields are of, and their checksums.

use mptcplab_wire::checksum::{Sum, internet};

pub(crate) const SOURCE: [u8; 6] = [2, 0, 0, 0, 0, 1];
pub(crate) const DESTINATION: [u8; 6] = [2, 0, 0, 0, 0, 2];

/// A place in a frame without tags: behind the Ethernet header.
pub(crate) const NETWORK: usize = 14;

pub(crate) fn ethernet(ether_type: u16, payload: &[u8]) -> Vec<u8> {
    [
        &DESTINATION[..],
        &SOURCE,
        &ether_type.to_be_bytes(),
        payload,
    ]
    .concat()
}

/// The frame with a tag in front.
pub(crate) fn tagged(ether_type: u16, tag: u16, frame: &[u8]) -> Vec<u8> {
    let tag = [ether_type.to_be_bytes(), tag.to_be_bytes()].concat();
    [&frame[..12], &tag, &frame[12..]].concat()
}

pub(crate) fn arp() -> Vec<u8> {
    let begin = [0, 1, 8, 0, 6, 4, 0, 1];
    let addresses = [&SOURCE[..], &[10, 0, 0, 1], &[0; 6], &[10, 0, 0, 2]].concat();
    ethernet(0x0806, &[&begin[..], &addresses].concat())
}

/// IPv4 with DSCP 10 and ECN 1, TTL 64, from 10.0.0.1 to 10.0.0.2.
pub(crate) fn ipv4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let length = (20 + payload.len()) as u16;
    let mut header = vec![0x45, 10 << 2 | 1];
    header.extend(length.to_be_bytes());
    header.extend([0, 7, 0x40, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    let sum = internet(&header);
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    seal(ethernet(0x0800, &[&header, payload].concat()))
}

/// IPv6 with DSCP 10 and ECN 1, flow label 0x12345, hop limit 64, from fd00::1 to fd00::2.
pub(crate) fn ipv6(next: u8, payload: &[u8]) -> Vec<u8> {
    let begin = 6_u32 << 28 | (10 << 2 | 1) << 20 | 0x12345;
    let mut header = begin.to_be_bytes().to_vec();
    header.extend((payload.len() as u16).to_be_bytes());
    header.extend([next, 64]);
    for last in [1, 2] {
        header.extend([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last]);
    }
    seal(ethernet(0x86dd, &[&header, payload].concat()))
}

pub(crate) fn tcp() -> Vec<u8> {
    let mut segment = [1000_u16.to_be_bytes(), 80_u16.to_be_bytes()].concat();
    segment.extend([0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x18, 1, 0, 0, 0, 0, 0]);
    segment.extend(b"data!");
    segment
}

pub(crate) fn udp() -> Vec<u8> {
    let mut datagram = [1000_u16.to_be_bytes(), 53_u16.to_be_bytes()].concat();
    datagram.extend([0, 13, 0, 0]);
    datagram.extend(b"data!");
    datagram
}

pub(crate) fn sctp() -> Vec<u8> {
    let mut packet = [1000_u16.to_be_bytes(), 90_u16.to_be_bytes()].concat();
    packet.extend([0, 0, 0, 1, 0, 0, 0, 0]);
    packet.extend([1, 2, 3, 4]);
    packet
}

/// An echo request of ICMP, or of ICMPv6 by its type.
pub(crate) fn echo(kind: u8) -> Vec<u8> {
    vec![kind, 0, 0, 0, 0, 1, 0, 1, 42, 43]
}

/// A neighbour solicitation or advertisement for fd00::9 with an option of a link-layer address.
pub(crate) fn neighbour(kind: u8) -> Vec<u8> {
    let mut message = vec![kind, 0, 0, 0, 0, 0, 0, 0];
    message.extend([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9]);
    // An option of another type comes before.
    message.extend([14, 1, 1, 2, 3, 4, 5, 6]);
    message.extend([if kind == 135 { 1 } else { 2 }, 1]);
    message.extend(SOURCE);
    message
}

/// The place and the sum of the checksum of the transport layer; zero where it is right.
fn transport(frame: &[u8]) -> Option<(usize, u16)> {
    let network = frame.len().min(NETWORK);
    let ip = &frame[network..];
    let (at, protocol, addresses) = match frame[12..14] {
        [8, 0] => (network + 20, ip[9], &ip[12..20]),
        [0x86, 0xdd] => (network + 40, ip[6], &ip[8..40]),
        _ => return None,
    };
    let place = match protocol {
        6 => 16,
        17 => 6,
        1 | 58 => 2,
        _ => return None,
    };
    let mut sum = Sum::default();
    if protocol != 1 {
        sum.add(addresses);
        sum.add(&u32::from(protocol).to_be_bytes());
        sum.add(&((frame.len() - at) as u32).to_be_bytes());
    }
    sum.add(&frame[at..]);
    Some((at + place, sum.finish()))
}

/// Writes the checksum of the transport layer.
fn seal(mut frame: Vec<u8>) -> Vec<u8> {
    if let Some((at, sum)) = transport(&frame) {
        frame[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    }
    frame
}

/// Whether all checksums of a frame without tags are right.
pub(crate) fn is_right(frame: &[u8]) -> bool {
    let is_ipv4 = frame[12..14] == [8, 0];
    let header = !is_ipv4 || internet(&frame[NETWORK..NETWORK + 20]) == 0;
    header && transport(frame).is_none_or(|(_, sum)| sum == 0)
}

#[test]
fn the_frames_of_these_tests_are_right() {
    for frame in [
        ipv4(6, &tcp()),
        ipv6(6, &tcp()),
        ipv4(17, &udp()),
        ipv6(17, &udp()),
        ipv4(1, &echo(8)),
        ipv6(58, &echo(128)),
        ipv6(58, &neighbour(135)),
    ] {
        assert!(is_right(&frame), "{frame:x?}");
    }
}

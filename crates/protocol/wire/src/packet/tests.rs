//! Packets of which the bytes are known, and bytes that are not taken.

use alloc::vec;
use alloc::vec::Vec;

use super::*;

const V4: [&str; 2] = ["10.0.0.1:1000", "10.0.0.2:2000"];
const V6: [&str; 2] = ["[fd00::1]:1000", "[fd00::2]:2000"];

fn udp(ends: [&str; 2]) -> Packet {
    let [source, destination] = ends.map(|end| end.parse().unwrap());
    Packet::udp(source, destination, Bytes::from_static(b"hello"))
}

fn bytes(packet: &Packet) -> Vec<u8> {
    let mut bytes = Vec::new();
    packet.write_to(&mut bytes);
    bytes
}

fn read(bytes: Vec<u8>) -> Result<Packet, ReadError> {
    Packet::read(Bytes::from(bytes))
}

#[test]
fn a_datagram_has_these_bytes() {
    let expected = [
        0x45, 0, 0, 33, 0, 0, 0x40, 0, 64, 17, 0x26, 0xca, 10, 0, 0, 1, 10, 0, 0, 2, 3, 0xe8, 7,
        0xd0, 0, 13, 0x9c, 0x47, b'h', b'e', b'l', b'l', b'o',
    ];
    assert_eq!(bytes(&udp(V4)), expected);
}

#[test]
fn a_packet_is_written_behind_what_is_there() {
    let mut all = vec![1, 2, 3];
    udp(V6).write_to(&mut all);
    assert_eq!(all[..3], [1, 2, 3]);
    assert_eq!(all[3..], bytes(&udp(V6)));
}

#[test]
fn packets_of_both_families_are_read_as_they_were_before_they_were_written() {
    for packet in [udp(V4), udp(V6)] {
        assert_eq!(read(bytes(&packet)), Ok(packet));
    }
}

#[test]
fn the_payload_that_was_read_is_a_part_of_the_bytes() {
    let all = Bytes::from(bytes(&udp(V4)));
    let packet = Packet::read(all.clone()).unwrap();
    assert_eq!(packet.payload.as_ptr(), all[28..].as_ptr());
}

#[test]
fn what_follows_the_end_of_the_packet_is_left_out() {
    let mut all = bytes(&udp(V4));
    all.extend([0; 13]);
    assert_eq!(read(all), Ok(udp(V4)));
}

#[test]
fn bytes_that_are_no_whole_packet_are_refused() {
    let packet = udp(V4);
    for length in 0..packet.ip_bytes() {
        let refused = read(bytes(&packet)[..length].to_vec());
        assert_eq!(refused, Err(ReadError::Length), "{length}");
    }
    assert_eq!(read(vec![0x50; 60]), Err(ReadError::Version));
}

#[test]
fn a_bit_that_flipped_is_seen() {
    for packet in [udp(V4), udp(V6)] {
        let good = bytes(&packet);
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            // Traffic class, flow label and hop limit of IPv6 are under no checksum; its next
            // header is, but the checksum of another transport is not known.
            let unprotected = packet.source().is_ipv6() && matches!(bit, 0..4 | 8..32 | 48..64);
            assert!(unprotected || read(bad).is_err(), "bit {bit}");
        }
    }
}

#[test]
fn a_datagram_of_ipv4_may_have_no_checksum() {
    let mut all = bytes(&udp(V4));
    all[26..28].fill(0);
    assert_eq!(read(all), Ok(udp(V4)));
    let mut all = bytes(&udp(V6));
    all[46..48].fill(0);
    assert_eq!(read(all), Err(ReadError::TransportChecksum));
}

#[test]
fn a_checksum_of_a_datagram_that_would_be_zero_is_written_as_all_ones() {
    let [source, destination] = V4.map(|end| end.parse().unwrap());
    // The checksum without payload, as payload, makes the sum all ones but for the two lengths.
    let empty = bytes(&Packet::udp(
        source,
        destination,
        Bytes::from_static(&[0, 0]),
    ));
    let payload = Bytes::copy_from_slice(&empty[26..28]);
    let all = bytes(&Packet::udp(source, destination, payload));
    assert_eq!(all[26..28], [0xff, 0xff]);
    assert!(read(all).is_ok());
}

/// The bytes of a packet with another field, and with the checksum of the IPv4 header that it then
/// needs.
fn changed(packet: &Packet, at: usize, field: &[u8]) -> Vec<u8> {
    let mut all = bytes(packet);
    all[at..at + field.len()].copy_from_slice(field);
    all[10..12].fill(0);
    let checksum = crate::checksum::internet(&all[..20]);
    all[10..12].copy_from_slice(&checksum.to_be_bytes());
    all
}

#[test]
fn fragments_are_refused() {
    for field in [[0x20, 0], [0, 1], [0x1f, 0xff]] {
        let all = changed(&udp(V4), 6, &field);
        assert_eq!(read(all), Err(ReadError::Fragment));
    }
    assert!(read(changed(&udp(V4), 6, &[0, 0])).is_ok());
}

#[test]
fn a_packet_of_another_protocol_is_a_header_with_payload() {
    let packet = read(changed(&udp(V4), 9, &[47])).unwrap();
    assert_eq!((packet.header.len(), packet.payload.len()), (20, 13));
    assert_eq!(packet.protocol(), 47);
    assert_eq!(packet.socket_addresses(), None);
}

#[test]
fn headers_longer_than_a_packet_keeps_are_refused() {
    // 60 bytes of IPv4 and 60 of TCP.
    let mut all = vec![0; 120];
    all[0] = 0x4f;
    all[3] = 120;
    all[9] = 6;
    all[72] = 0xf0;
    let checksum = crate::checksum::internet(&all[..60]);
    all[10..12].copy_from_slice(&checksum.to_be_bytes());
    assert_eq!(read(all), Err(ReadError::HeaderTooLong));
}

#[test]
fn the_fields_of_a_header_are_read_and_set() {
    for (mut packet, ends) in [(udp(V4), V4), (udp(V6), V6)] {
        let [source, destination]: [SocketAddr; 2] = ends.map(|end| end.parse().unwrap());
        assert_eq!(packet.source(), source.ip());
        assert_eq!(packet.destination(), destination.ip());
        assert_eq!(packet.socket_addresses(), Some((source, destination)));
        assert_eq!(packet.protocol(), 17);
        assert_eq!(packet.ecn(), Ecn::NotCapable);
        let before = packet.clone();
        for ecn in [Ecn::CongestionExperienced, Ecn::Capable0, Ecn::Capable1] {
            packet.set_ecn(ecn);
            assert_eq!(packet.ecn(), ecn);
        }
        packet.set_ecn(Ecn::NotCapable);
        assert_eq!(packet, before);
    }
}

#[test]
fn a_packet_ends_where_it_has_no_hop_left() {
    for mut packet in [udp(V4), udp(V6)] {
        for left in (1..64).rev() {
            assert!(packet.decrement_hop_limit());
            assert_eq!(packet.hop_limit(), left);
        }
        assert!(!packet.decrement_hop_limit());
        assert!(!packet.decrement_hop_limit());
        assert_eq!(packet.hop_limit(), 0);
    }
}

#[test]
fn echoes_are_those_of_their_family() {
    for ([source, destination], bytes_of) in [
        (["10.0.0.1", "10.0.0.2"], [8, 0]),
        (["fd00::1", "fd00::2"], [128, 129]),
    ] {
        let [source, destination]: [IpAddr; 2] = [source, destination].map(|a| a.parse().unwrap());
        for (kind, message_type) in [EchoKind::Request, EchoKind::Reply]
            .into_iter()
            .zip(bytes_of)
        {
            let packet = Packet::echo(source, destination, kind, 7, 9, Bytes::from_static(b"ping"));
            assert_eq!(packet.header[packet.header.len() - 8], message_type);
            let echo = Echo {
                kind,
                id: 7,
                sequence: 9,
            };
            assert_eq!(packet.as_echo(), Some(echo));
            assert_eq!(read(bytes(&packet)), Ok(packet));
        }
    }
    assert_eq!(udp(V4).as_echo(), None);
}

#[test]
fn the_hash_of_a_flow_depends_on_each_part_of_it_and_on_the_seed_only() {
    let hash = |source: &str, destination: &str| {
        let ends = [source, destination];
        udp(ends).flow_hash(1)
    };
    let flow = hash(V4[0], V4[1]);
    assert_eq!(flow, 0x1350_3039_c824_0ca2, "the same on every machine");
    assert_ne!(flow, hash("10.0.0.3:1000", V4[1]));
    assert_ne!(flow, hash("10.0.0.1:1001", V4[1]));
    assert_ne!(flow, hash(V4[0], "10.0.0.3:2000"));
    assert_ne!(flow, hash(V4[0], "10.0.0.2:2001"));
    assert_ne!(flow, hash(V4[1], V4[0]));
    assert_ne!(flow, udp(V4).flow_hash(2));
    let mut later = udp(V4);
    later.decrement_hop_limit();
    later.payload = Bytes::new();
    assert_eq!(flow, later.flow_hash(1));
}

#[test]
fn a_header_that_is_none_of_ip_has_no_fields() {
    for header in [&[][..], &[0x45; 19], &[0x60; 39], &[0x00; 60]] {
        let mut packet = Packet {
            header: header.try_into().unwrap(),
            payload: Bytes::new(),
        };
        packet.set_ecn(Ecn::Capable0);
        assert_eq!(packet.header.as_slice(), header);
        assert!(packet.source().is_unspecified() && packet.destination().is_unspecified());
        assert_eq!((packet.protocol(), packet.hop_limit()), (255, 0));
        assert!(!packet.decrement_hop_limit());
        assert_eq!((packet.ecn(), packet.as_echo()), (Ecn::NotCapable, None));
        assert_eq!(bytes(&packet), header);
        assert_eq!(packet.flow_hash(1), 0);
    }
}

//! Headers of IPv4 and IPv6, with options and extensions.

use mptcplab_wire::Ecn;

use crate::common::ip::{extended_v6, with_options_v4};
use crate::common::{self, link, packet, segment};
use crate::{MALFORMED, NOT_IP, NOT_TCP, TRUNCATED, V4, V6, raw, take, take_cut};

#[test]
fn the_ecn_field_of_ipv6_is_read() {
    let mut sent = segment(V6);
    for ecn in [
        Ecn::NotCapable,
        Ecn::Capable0,
        Ecn::Capable1,
        Ecn::CongestionExperienced,
    ] {
        sent.ecn = ecn;
        assert_eq!(raw(&packet(&sent)).unwrap().ecn, ecn);
    }
}

#[test]
fn other_protocols_are_told_apart() {
    let arp = [&[0xff; 12][..], &[8, 6], &[0; 28]].concat();
    assert_eq!(take(link::ETHERNET, &arp), Err(NOT_IP));
    let mut udp = packet(&segment(V4));
    udp[9] = 17;
    assert_eq!(raw(&udp), Err(NOT_TCP));
    // An extension header of IPv6 is none of IPv4.
    udp[9] = 60;
    assert_eq!(raw(&udp), Err(NOT_TCP));
    let mut udp = packet(&segment(V6));
    udp[6] = 17;
    assert_eq!(raw(&udp), Err(NOT_TCP));
}

#[test]
fn packets_that_hardware_is_to_cut_have_the_length_of_their_frame() {
    let mut sent = segment(V4);
    sent.payload = vec![1; 65_000].into();
    let mut bytes = packet(&sent);
    bytes.resize(80_040, 1);
    bytes[2..4].fill(0);
    let segment = take_cut(link::RAW, &bytes, 100).unwrap();
    assert_eq!(
        (segment.payload_bytes, segment.packet_bytes),
        (80_000, 80_040)
    );
    let framed = link::frame(link::ETHERNET, &bytes);
    let segment = take_cut(link::ETHERNET, &framed, 100).unwrap();
    assert_eq!(segment.payload_bytes, 80_000);

    let mut sent = common::segment(V6);
    sent.payload = vec![1; 65_000].into();
    let mut bytes = packet(&sent);
    bytes.resize(80_060, 1);
    bytes[4..6].fill(0);
    assert_eq!(
        take_cut(link::RAW, &bytes, 100).unwrap().payload_bytes,
        80_000
    );
    // A jumbo payload option tells 70,008 bytes, of which its own header has 8.
    let mut jumbo = extended_v6(&bytes, 0, &[0, 0, 0xc2, 4, 0, 1, 0x11, 0x78]);
    jumbo[4..6].fill(0);
    let segment = take_cut(link::RAW, &jumbo, 100).unwrap();
    assert_eq!(
        (segment.payload_bytes, segment.packet_bytes),
        (69_980, 70_048)
    );
}

#[test]
fn options_of_ipv4_are_passed_over() {
    for words in 1..=10 {
        let bytes = with_options_v4(&packet(&segment(V4)), &vec![1; 4 * words]);
        let segment = raw(&bytes).unwrap();
        assert_eq!((segment.payload_bytes, segment.sequence), (101, 7));
        assert_eq!(segment.packet_bytes as usize, 141 + 4 * words);
    }
}

#[test]
fn extension_headers_are_passed_over() {
    let plain = packet(&segment(V6));
    let mut bytes = plain.clone();
    let extensions: [(u8, &[u8]); 8] = [
        (51, &[0, 2, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1, 7, 7, 7, 7]),
        // A fragment that is the whole packet.
        (44, &[0, 0, 0, 0, 0, 0, 0, 7]),
        (60, &[0, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        (43, &[0, 0, 0, 0, 0, 0, 0, 0]),
        (135, &[0; 8]),
        (139, &[0; 8]),
        (140, &[0; 8]),
        (0, &[0, 0, 1, 4, 0, 0, 0, 0]),
    ];
    for (kind, extension) in extensions {
        bytes = extended_v6(&bytes, kind, extension);
        let segment = raw(&bytes).unwrap();
        assert_eq!(
            (segment.payload_bytes, segment.sequence),
            (101, 7),
            "{kind}"
        );
        assert_eq!(segment.packet_bytes as usize, bytes.len());
    }
    let mut many = plain;
    for _ in 0..16 {
        many = extended_v6(&many, 60, &[0; 8]);
    }
    assert_eq!(raw(&many), Err(MALFORMED));
    // IPv4 may have an authentication header.
    let mut v4 = packet(&segment(V4));
    v4.splice(20..20, [6, 1, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1]);
    v4[9] = 51;
    v4[3] += 12;
    assert_eq!(raw(&v4).unwrap().sequence, 7);
}

#[test]
fn headers_that_contradict_themselves_are_malformed() {
    let set = |text, at: usize, value: u8| {
        let mut bytes = packet(&segment(text));
        bytes[at] = value;
        raw(&bytes)
    };
    // Version, header length, total length, data offset.
    assert_eq!(set(V4, 0, 0x55), Err(MALFORMED));
    assert_eq!(set(V4, 0, 0x44), Err(MALFORMED));
    assert_eq!(set(V4, 3, 19), Err(MALFORMED));
    assert_eq!(set(V4, 3, 39), Err(MALFORMED));
    assert_eq!(set(V4, 32, 0x40), Err(MALFORMED));
    assert_eq!(set("10.0.0.1:1 > 10.0.0.2:2 A", 32, 0x60), Err(MALFORMED));
    assert_eq!(set(V6, 5, 19), Err(MALFORMED));
    assert_eq!(set(V6, 52, 0x00), Err(MALFORMED));
    // An IP header that tells of more than the frame had counts: some tools that cut frames
    // forget how long they were.
    let bytes = packet(&segment(V4));
    assert_eq!(raw(&bytes[..60]).unwrap().payload_bytes, 101);
    assert_eq!(raw(&bytes[..39]), Err(TRUNCATED));
    assert_eq!(raw(&bytes[..19]), Err(MALFORMED));
    assert_eq!(raw(&[]), Err(MALFORMED));
}

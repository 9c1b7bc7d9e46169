//! Segments in packets of every kind, and what is said of those that hold none.

mod common;

use common::ip::{extended_v6, with_options_v4};
use common::{link, packet, segment};
use mptcplab_trace::Segment;
use mptcplab_trace::dissect::{Dissector, Skipped};
use mptcplab_trace::input::{Frame, LinkType};
use mptcplab_wire::checksum::internet;
use mptcplab_wire::option::{DataNumber, Dss, MptcpOption};
use mptcplab_wire::{Ecn, Timestamps};
use proptest::prelude::*;

const V4: &str = "10.0.0.1:1000 > 10.0.0.2:80 PA seq=7 ack=9 len=101";
const V6: &str = "[fd00::1]:1000 > [fd00::2]:80 PA seq=7 ack=9 len=101";

/// A frame of which the first bytes were captured.
fn frame(link_type: u16, captured: &[u8], original_bytes: usize) -> Frame<'_> {
    Frame {
        at: 5,
        number: 1,
        interface: 0,
        link_type: LinkType(link_type),
        captured,
        original_bytes: original_bytes as u32,
    }
}

/// What becomes of a frame, all of which was captured.
fn take(link_type: u16, bytes: &[u8]) -> Result<Segment, Skipped> {
    take_cut(link_type, bytes, bytes.len())
}

/// What becomes of a frame of which some bytes were captured.
fn take_cut(link_type: u16, bytes: &[u8], captured: usize) -> Result<Segment, Skipped> {
    let mut dissector = Dissector::new(true);
    let segment = dissector.take(&frame(link_type, &bytes[..captured], bytes.len()));
    segment.ok_or(*dissector.skipped())
}

fn raw(bytes: &[u8]) -> Result<Segment, Skipped> {
    take(link::RAW, bytes)
}

const NOT_IP: Skipped = Skipped { not_ip: 1, ..NONE };
const NOT_TCP: Skipped = Skipped { not_tcp: 1, ..NONE };
const TRUNCATED: Skipped = Skipped {
    truncated: 1,
    ..NONE
};
const MALFORMED: Skipped = Skipped {
    malformed: 1,
    ..NONE
};
const NONE: Skipped = Skipped {
    not_ip: 0,
    not_tcp: 0,
    truncated: 0,
    fragment_incomplete: 0,
    fragment_joined: 0,
    unknown_link_type: 0,
    malformed: 0,
};

#[test]
fn every_field_of_a_segment_is_read() {
    let mut sent = segment("10.0.0.1:1000 > 10.0.0.2:80 CEUAPRSF seq=7 ack=9 win=11 len=3");
    sent.ecn = Ecn::CongestionExperienced;
    sent.options.timestamps = Some(Timestamps { value: 1, echo: 2 });
    sent.options.mptcp.push(MptcpOption::Dss(Dss {
        data_fin: false,
        acknowledgement: Some(DataNumber::Long(77)),
        mapping: None,
    }));
    let mut bytes = packet(&sent);
    bytes[4..6].copy_from_slice(&[0x12, 0x34]);
    bytes[8] = 57;
    let segment = raw(&bytes).unwrap();
    let expected = Segment {
        at: 5,
        frame: 1,
        interface: 0,
        source: sent.source,
        destination: sent.destination,
        identification: Some(0x1234),
        hop_limit: 57,
        ecn: Ecn::CongestionExperienced,
        packet_bytes: 20 + 20 + 12 + 12 + 3,
        sequence: 7,
        acknowledgement: 9,
        flags: sent.flags,
        window: 11,
        checksum: u16::from_be_bytes([bytes[36], bytes[37]]),
        payload_bytes: 3,
        // 00 01 02 (00)
        payload_sum: Some(0x0201),
        options: sent.options,
        options_cut: false,
    };
    assert_eq!(segment, expected);
}

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
fn sums_of_data_are_given_only_where_asked_for() {
    let bytes = packet(&segment(V4));
    let mut dissector = Dissector::default();
    let segment = dissector
        .take(&frame(link::RAW, &bytes, bytes.len()))
        .unwrap();
    assert_eq!(segment.payload_sum, None);
    assert_eq!(
        raw(&bytes).unwrap().payload_sum,
        Some(!internet(&bytes[40..]))
    );
    assert_eq!(
        take_cut(link::RAW, &bytes, bytes.len() - 1)
            .unwrap()
            .payload_sum,
        None
    );
}

#[test]
fn tags_and_snap_headers_are_passed_over() {
    let bytes = packet(&segment(V6));
    let plain = take(link::ETHERNET, &link::frame(link::ETHERNET, &bytes)).unwrap();
    let tags = [(0x88a8, 5), (0x8100, 6), (0x9100, 7), (0x8100, 8)];
    for count in 0..=tags.len() {
        let tagged = link::tagged(&tags[..count], &bytes);
        assert_eq!(take(link::ETHERNET, &tagged).as_ref(), Ok(&plain));
    }
    let many = link::tagged(&[(0x8100, 1); 8], &bytes);
    assert_eq!(take(link::ETHERNET, &many), Err(MALFORMED));

    let mut snap = link::frame(link::ETHERNET, &bytes);
    let length = (snap.len() - 14 + 8) as u16;
    let mut llc = length.to_be_bytes().to_vec();
    llc.extend([0xaa, 0xaa, 3, 0, 0, 0]);
    snap.splice(12..12, llc);
    assert_eq!(take(link::ETHERNET, &snap).as_ref(), Ok(&plain));
    snap[14] = 0x42;
    assert_eq!(take(link::ETHERNET, &snap), Err(NOT_IP));
}

#[test]
fn loopback_frames_have_their_family_in_either_order() {
    for family in [10, 23, 24, 28, 30_u32] {
        let bytes = packet(&segment(V6));
        for header in [family.to_be_bytes(), family.to_le_bytes()] {
            let frame = [&header[..], &bytes].concat();
            assert_eq!(take(link::NULL, &frame), raw(&bytes));
        }
    }
    let frame = [&[7, 0, 0, 0][..], &packet(&segment(V4))].concat();
    assert_eq!(take(link::NULL, &frame), Err(NOT_IP));
}

#[test]
fn raw_ip_has_all_of_its_numbers() {
    let bytes = packet(&segment(V4));
    for number in [12, 14, 101, 228] {
        assert_eq!(take(number, &bytes), raw(&bytes));
    }
    let unknown = Skipped {
        unknown_link_type: 1,
        ..NONE
    };
    assert_eq!(take(127, &bytes), Err(unknown));
}

#[test]
fn other_protocols_are_told_apart() {
    let arp = [&[0xff; 12][..], &[8, 6], &[0; 28]].concat();
    assert_eq!(take(link::ETHERNET, &arp), Err(NOT_IP));
    let mut udp = packet(&segment(V4));
    udp[9] = 17;
    assert_eq!(raw(&udp), Err(NOT_TCP));
    // What is an extension header of IPv6 is none of IPv4.
    udp[9] = 60;
    assert_eq!(raw(&udp), Err(NOT_TCP));
    let mut udp = packet(&segment(V6));
    udp[6] = 17;
    assert_eq!(raw(&udp), Err(NOT_TCP));
}

#[test]
fn padding_behind_the_packet_is_no_data() {
    let bytes = packet(&segment("10.0.0.1:1 > 10.0.0.2:2 A"));
    let mut frame = link::frame(link::ETHERNET, &bytes);
    frame.resize(60, 0x55);
    let segment = take(link::ETHERNET, &frame).unwrap();
    assert_eq!((segment.payload_bytes, segment.packet_bytes), (0, 40));
    assert_eq!(segment.payload_sum, Some(0));
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
fn a_packet_that_was_cut_has_what_its_headers_tell() {
    for text in [V4, V6] {
        let mut sent = segment(text);
        sent.options.timestamps = Some(Timestamps { value: 1, echo: 2 });
        sent.options.max_segment_bytes = Some(1400);
        let bytes = link::frame(link::ETHERNET, &packet(&sent));
        let whole = take(link::ETHERNET, &bytes).unwrap();
        let tcp = bytes.len() - 101 - 36;
        for captured in 0..bytes.len() {
            let cut = take_cut(link::ETHERNET, &bytes, captured);
            if captured < tcp + 20 {
                assert_eq!(cut, Err(TRUNCATED), "{captured}");
                continue;
            }
            let cut = cut.unwrap();
            assert_eq!(cut.options_cut, captured < tcp + 36);
            assert_eq!(
                cut.options.max_segment_bytes.is_some(),
                captured >= tcp + 24
            );
            let options = if cut.options_cut {
                cut.options.clone()
            } else {
                whole.options.clone()
            };
            let expected = Segment {
                options,
                options_cut: cut.options_cut,
                payload_sum: None,
                ..whole.clone()
            };
            assert_eq!(cut, expected);
        }
    }
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

/// What etherparse finds in a frame of Ethernet: ports, sequence number, bytes of data.
fn by_etherparse(frame: &[u8]) -> Option<(u16, u16, u32, usize)> {
    let sliced = etherparse::LaxSlicedPacket::from_ethernet(frame).ok()?;
    let fragmented = match &sliced.net {
        Some(etherparse::LaxNetSlice::Ipv4(v4)) => v4.is_payload_fragmented(),
        Some(etherparse::LaxNetSlice::Ipv6(v6)) => v6.is_payload_fragmented(),
        _ => true,
    };
    match sliced.transport {
        Some(etherparse::TransportSlice::Tcp(tcp)) if !fragmented => Some((
            tcp.source_port(),
            tcp.destination_port(),
            tcp.sequence_number(),
            tcp.payload().len(),
        )),
        _ => None,
    }
}

/// Packets of both families, some with what may stand between IP and TCP.
fn packets() -> impl Strategy<Value = Vec<u8>> {
    let extension = (0..5_usize).prop_map(|choice| -> (u8, &[u8]) {
        [
            (0, &[0, 0, 1, 4, 0, 0, 0, 0][..]),
            (60, &[0, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            (43, &[0; 8]),
            (51, &[0, 1, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1]),
            (44, &[0, 0, 0, 0, 0, 0, 0, 7]),
        ][choice]
    });
    let v4 =
        (0..10_usize).prop_map(|words| with_options_v4(&packet(&segment(V4)), &vec![1; 4 * words]));
    let v6 = prop::collection::vec(extension, 0..2).prop_map(|extensions| {
        let plain = packet(&segment(V6));
        let add =
            |bytes: Vec<u8>, &(kind, extension): &(u8, &[u8])| extended_v6(&bytes, kind, extension);
        extensions.iter().fold(plain, add)
    });
    prop_oneof![v4, v6]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn another_library_finds_the_same(
        packet in packets(),
        tags in prop::collection::vec(prop_oneof![Just(0x8100_u16), Just(0x88a8)], 0..3),
    ) {
        let tags: Vec<_> = tags.into_iter().map(|kind| (kind, 1)).collect();
        let frame = link::tagged(&tags, &packet);
        let found = by_etherparse(&frame);
        prop_assert!(found.is_some());
        let ours = take(link::ETHERNET, &frame).map(|segment| {
            let ports = (segment.source.port(), segment.destination.port());
            (ports.0, ports.1, segment.sequence, segment.payload_bytes as usize)
        });
        prop_assert_eq!(ours.ok(), found);
    }

    #[test]
    fn any_bytes_are_taken_or_counted_once(
        link_type in prop::sample::select(link::ALL.to_vec()),
        packet in packets(),
        changes in prop::collection::vec((any::<usize>(), any::<u8>()), 0..6),
        captured in 0..300_usize,
        original in 0..300_usize,
    ) {
        let mut bytes = link::frame(link_type, &packet);
        let count = bytes.len();
        for (at, value) in changes {
            bytes[at % count] = value;
        }
        let captured = captured.min(count);
        let mut dissector = Dissector::new(true);
        let frame = frame(link_type, &bytes[..captured], original.max(captured));
        let taken = dissector.take(&frame);
        prop_assert_eq!(dissector.skipped().total(), u64::from(taken.is_none()));
    }
}

//! Headers of links, and the tags behind them.

use mptcplab_trace::dissect::Skipped;

use crate::common::{link, packet, segment};
use crate::{MALFORMED, NONE, NOT_IP, V4, V6, raw, take, without_layers};

#[test]
fn tags_and_snap_headers_are_passed_over() {
    let bytes = packet(&segment(V6));
    let plain = take(link::ETHERNET, &link::frame(link::ETHERNET, &bytes)).unwrap();
    let tags = [(0x88a8, 5), (0x8100, 6), (0x9100, 7), (0x8100, 8)];
    for count in 0..=tags.len() {
        let tagged = link::tagged(&tags[..count], &bytes);
        let segment = take(link::ETHERNET, &tagged).unwrap();
        assert_eq!(segment.layers.to_string(), vec!["VLAN"; count].join(" "));
        assert_eq!(without_layers(segment), plain);
    }
    let many = link::tagged(&[(0x8100, 1); 8], &bytes);
    assert_eq!(take(link::ETHERNET, &many), Err(MALFORMED));

    let mut snap = link::frame(link::ETHERNET, &bytes);
    let length = (snap.len() - 14 + 8) as u16;
    let mut llc = length.to_be_bytes().to_vec();
    llc.extend([0xaa, 0xaa, 3, 0, 0, 0]);
    snap.splice(12..12, llc);
    let segment = take(link::ETHERNET, &snap).unwrap();
    assert_eq!(segment.layers.to_string(), "SNAP");
    assert_eq!(without_layers(segment), plain);
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
fn padding_behind_the_packet_is_no_data() {
    let bytes = packet(&segment("10.0.0.1:1 > 10.0.0.2:2 A"));
    let mut frame = link::frame(link::ETHERNET, &bytes);
    frame.resize(60, 0x55);
    let segment = take(link::ETHERNET, &frame).unwrap();
    assert_eq!((segment.payload_bytes, segment.packet_bytes), (0, 40));
    assert_eq!(segment.payload_sum, Some(0));
}

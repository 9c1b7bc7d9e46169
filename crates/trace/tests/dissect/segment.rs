//! Fields of segments, whole and cut.

use mptcplab_trace::Segment;
use mptcplab_trace::dissect::{Dissector, Layers};
use mptcplab_wire::checksum::internet;
use mptcplab_wire::option::{DataNumber, Dss, MptcpOption};
use mptcplab_wire::{Ecn, Timestamps};

use crate::common::{link, packet, segment};
use crate::{TRUNCATED, V4, V6, frame, raw, take, take_cut};

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
        layers: Layers::NONE,
    };
    assert_eq!(segment, expected);
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

//! Frames of any bytes: each a segment or counted, and fragments of one packet never more than one
//! segment. The first byte tells the link type; then each frame has four bytes that tell how many
//! bytes follow, how many of them were not captured, and how much later it came.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mptcplab_trace::dissect::Dissector;
use mptcplab_trace::input::{Frame, LinkType};

const LINK_TYPES: [u16; 16] = [
    1, 101, 113, 276, 0, 108, 228, 229, 12, 14, 127, 9, 51, 50, 104, 204,
];

fuzz_target!(|bytes: &[u8]| {
    let Some((&link_type, mut rest)) = bytes.split_first() else {
        return;
    };
    let link_type = LINK_TYPES[usize::from(link_type) % LINK_TYPES.len()];
    let mut dissector = Dissector::new(true);
    let (mut at, mut number, mut segments) = (0, 0, 0);
    while let Some((&[high, low, cut, later], after)) = rest.split_first_chunk() {
        let bytes = usize::from(u16::from_be_bytes([high, low])).min(after.len());
        let (captured, after) = after.split_at(bytes);
        rest = after;
        at += i64::from(later) * 1_000_000_000;
        number += 1;
        let segment = dissector.take(&Frame {
            at,
            number,
            interface: 0,
            link_type: LinkType(link_type),
            captured,
            original_bytes: captured.len() as u32 + u32::from(cut),
        });
        if let Some(segment) = segment {
            segments += 1;
            assert_eq!((segment.frame, segment.at), (number, at));
            assert_eq!(segment.source.is_ipv4(), segment.destination.is_ipv4());
            assert_eq!(segment.source.is_ipv4(), segment.identification.is_some());
            assert!(segment.payload_bytes < segment.packet_bytes);
            let cut = segment.options_cut && segment.payload_bytes > 0;
            assert!(!cut || segment.payload_sum.is_none());
        }
        assert_eq!(dissector.skipped().total() + segments, number);
    }
});

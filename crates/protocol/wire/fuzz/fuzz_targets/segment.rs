//! Any headers as a segment: refused, or built again with the same fields.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use mptcplab_wire::{MAX_HEADER_BYTES, Packet, Segment};

fuzz_target!(|bytes: &[u8]| {
    let (header, payload) = bytes.split_at(bytes.len().min(MAX_HEADER_BYTES));
    let Ok(header) = header.try_into() else {
        unreachable!("as many bytes as a header may have")
    };
    let payload = Bytes::copy_from_slice(payload);
    if let Ok(segment) = Segment::parse(Packet { header, payload }) {
        assert!(segment.sequence_bytes() as usize <= segment.payload.len() + 2);
        let packet = segment.clone().into_packet(64);
        assert_eq!(Segment::parse(packet), Ok(segment));
    }
});

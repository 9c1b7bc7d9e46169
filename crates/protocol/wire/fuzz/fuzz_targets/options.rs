//! Any bytes as the options of a header: what is read of them fits a header, and is read from it
//! again.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use mptcplab_wire::{Ecn, Flags, MAX_OPTION_BYTES, Options, Segment};

fuzz_target!(|bytes: &[u8]| {
    let options = Options::parse(bytes);
    if bytes.len() > MAX_OPTION_BYTES {
        return;
    }
    assert!(options.encoded_bytes() <= MAX_OPTION_BYTES);
    let segment = Segment {
        source: ([10, 0, 0, 1], 1000).into(),
        destination: ([10, 0, 0, 2], 2000).into(),
        sequence: 0,
        acknowledgement: 0,
        flags: Flags::default(),
        window: 0,
        urgent: 0,
        options,
        ecn: Ecn::NotCapable,
        payload: Bytes::new(),
    };
    assert_eq!(Segment::parse(segment.clone().into_packet(64)), Ok(segment));
});

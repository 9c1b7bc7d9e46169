//! A frame from any bytes, the first ten its offload header: every run of its packets has the
//! bytes of its packets, and nothing panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mptcplab_engine_kernel::frames::segments::{Frame, OffloadHeader, with_checksum};

/// Runs are tried from the first so many packets only: there are quadratically many.
const MOST_STARTS: usize = 8;

fuzz_target!(|bytes: &[u8]| {
    let Some((offload, frame)) = bytes.split_first_chunk::<{ OffloadHeader::BYTES }>() else {
        return;
    };
    let frame = Frame::new(OffloadHeader::from_bytes(*offload), frame.to_vec());
    let packets = frame.packets();
    let one_by_one: Vec<usize> = (0..packets)
        .map(|index| {
            let (offload, bytes) = frame.carve(index..index + 1);
            let length = bytes.len();
            assert_eq!(with_checksum(&offload, bytes).len(), length);
            length
        })
        .collect();
    for start in 0..packets.min(MOST_STARTS) {
        for end in [start + 1, packets] {
            let (offload, bytes) = frame.carve(start..end);
            let run = Frame::new(offload, bytes.into_owned());
            if run.packets() == end - start {
                let lengths = (0..end - start).map(|index| run.carve(index..index + 1).1.len());
                assert!(lengths.eq(one_by_one[start..end].iter().copied()));
            } else {
                assert_eq!(run.packets(), 1);
                assert_eq!(end - start, 1);
            }
        }
    }
});

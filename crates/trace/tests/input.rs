//! Captures of every format and link type, read and taken apart.

mod common;

use std::io::Cursor;

use common::{Capture, Format, link, segment};
use mptcplab_trace::Segment;
use mptcplab_trace::dissect::{Dissector, Skipped};
use mptcplab_trace::input::{Input, Merge};

/// All segments of a capture, which has no damage.
fn segments(bytes: Vec<u8>) -> (Vec<Segment>, Skipped) {
    let mut merge = Merge::new([Input::from(Cursor::new(bytes))]).unwrap();
    let mut dissector = Dissector::new(false);
    let mut segments = Vec::new();
    while let Some(frame) = merge.next() {
        segments.extend(dissector.take(&frame));
    }
    assert_eq!(merge.files()[0].damage, None);
    (segments, *dissector.skipped())
}

#[test]
fn segments_of_every_format_and_link_type_have_their_fields() {
    for (format, link_type) in Format::all().flat_map(|format| link::ALL.map(|link| (format, link)))
    {
        let mut capture = Capture::new(format, link_type);
        let v4 = segment("10.0.0.1:1000 > 10.0.0.2:80 PA seq=7 ack=9 win=11 len=5");
        let v6 = segment("[fd00::1]:1000 > [fd00::2]:80 SF seq=4000000000");
        capture.add(1_700_000_000_123_456_000, &v4);
        capture.add(1_700_000_000_123_457_000, &v6);
        let (segments, skipped) = segments(capture.bytes);
        assert_eq!(skipped.total(), 0);
        let [first, second] = &segments[..] else {
            panic!("{format:?} {link_type}: {segments:?}");
        };
        for (read, written) in [(first, &v4), (second, &v6)] {
            assert_eq!(read.source, written.source);
            assert_eq!(read.destination, written.destination);
            assert_eq!(read.sequence, written.sequence);
            assert_eq!(read.acknowledgement, written.acknowledgement);
            assert_eq!(read.flags, written.flags);
            assert_eq!(read.window, written.window);
            assert_eq!(read.payload_bytes as usize, written.payload.len());
            assert_eq!(read.hop_limit, 64);
            assert_eq!(read.interface, 0);
        }
        assert_eq!(
            [first.at, second.at],
            [1_700_000_000_123_456_000, 1_700_000_000_123_457_000]
        );
        assert_eq!([first.frame, second.frame], [1, 2]);
        assert_eq!([first.packet_bytes, second.packet_bytes], [45, 60]);
        assert_eq!(
            [first.identification, second.identification],
            [Some(0), None]
        );
    }
}

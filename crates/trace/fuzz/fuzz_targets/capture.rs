//! Any bytes as a capture: refused, or read to its end or to damage, however few of its bytes come
//! at once; each frame a segment or counted.
#![no_main]

use std::io::{Cursor, Read};

use libfuzzer_sys::fuzz_target;
use mptcplab_trace::Segment;
use mptcplab_trace::dissect::{Dissector, Skipped};
use mptcplab_trace::input::{FileState, Merge};

/// So much of what a compressed file holds is read: it may be thousands of times the file.
const MAX_BYTES: u64 = 1 << 22;

/// A reader that gives some bytes at once.
struct Drops(Cursor<Vec<u8>>, usize);

impl Read for Drops {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let bytes = to.len().min(self.1);
        self.0.read(&mut to[..bytes])
    }
}

/// Returns the results of a file, or of that file `twice`.
fn read(
    bytes: &[u8],
    at_once: usize,
    twice: bool,
) -> Result<(Vec<Segment>, Skipped, Vec<FileState>), String> {
    let file = |bytes: &[u8]| Drops(Cursor::new(bytes.to_vec()), at_once).into();
    let mut files = vec![file(bytes)];
    if twice {
        files.push(file(bytes));
    }
    let mut merge = Merge::new(files).map_err(|error| error.to_string())?;
    let mut dissector = Dissector::new(true);
    let mut segments = Vec::new();
    let (mut frames, mut captured) = (0, 0);
    let mut numbers = [0, 0];
    while let Some(frame) = merge.next() {
        frames += 1;
        captured += frame.captured.len() as u64;
        assert!(frame.captured.len() <= frame.original_bytes as usize);
        let (number, interface, link_type) = (frame.number, frame.interface, frame.link_type);
        if let Some(segment) = dissector.take(&frame) {
            assert!(u64::from(segment.payload_bytes) <= u64::from(segment.packet_bytes));
            segments.push(segment);
        }
        let (_, options) = merge.current().expect("the frame once more");
        assert!(options.len().is_multiple_of(4));
        let interface = &merge.interfaces()[interface as usize];
        assert_eq!(interface.link_type, link_type);
        assert!(number > numbers[interface.file]);
        numbers[interface.file] = number;
        if captured + frames > MAX_BYTES {
            break;
        }
    }
    let skipped = *dissector.skipped();
    assert_eq!(segments.len() as u64 + skipped.total(), frames);
    Ok((segments, skipped, merge.files().to_vec()))
}

fuzz_target!(|bytes: &[u8]| {
    let whole = read(bytes, usize::MAX, false);
    let mut compressed = whole.is_err();
    for file in whole.iter().flat_map(|(_, _, files)| files) {
        compressed |= file.compression.is_some();
        if let Some(damage) = &file.damage {
            assert!(compressed || damage.offset <= bytes.len() as u64);
            assert!(!damage.to_string().is_empty());
        }
    }
    if bytes.len() < 2000 {
        let drops = read(bytes, 1, false);
        let counts = |(segments, skipped, _)| (segments, skipped);
        // Of a corrupt block a decompressor gives what it has when it has no more to go on with.
        assert!(compressed || drops.map(counts) == whole.map(counts));
        let _ = read(bytes, usize::MAX, true);
    }
});

//! Captures that are read.

use std::io::Cursor;

use mptcplab_trace::input::{FileState, Frame, Input, Merge, OpenError};
use mptcplab_trace::{Segment, dissect};

/// A frame that owns its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owned {
    pub at: i64,
    pub number: u64,
    pub interface: u32,
    pub link_type: u16,
    pub captured: Vec<u8>,
    pub original_bytes: u32,
}

impl From<Frame<'_>> for Owned {
    fn from(frame: Frame<'_>) -> Self {
        Self {
            at: frame.at,
            number: frame.number,
            interface: frame.interface,
            link_type: frame.link_type.0,
            captured: frame.captured.to_vec(),
            original_bytes: frame.original_bytes,
        }
    }
}

/// Begins to read files of these bytes.
pub fn open(files: impl IntoIterator<Item = Vec<u8>>) -> Result<Merge, OpenError> {
    Merge::new(files.into_iter().map(|bytes| Cursor::new(bytes).into()))
}

/// All frames of a file, and what is known of it in the end.
pub fn frames(bytes: Vec<u8>) -> (Vec<Owned>, FileState) {
    let mut merge = open([bytes]).expect("a capture");
    let mut frames = Vec::new();
    while let Some(frame) = merge.next() {
        frames.push(frame.into());
    }
    assert!(merge.next().is_none());
    (frames, merge.files()[0].clone())
}

/// All segments of a file, which has no damage, and what was skipped.
pub fn segments(bytes: Vec<u8>) -> (Vec<Segment>, dissect::Skipped) {
    let mut merge = open([bytes]).expect("a capture");
    let mut dissector = dissect::Dissector::new(true);
    let mut segments = Vec::new();
    while let Some(frame) = merge.next() {
        segments.extend(dissector.take(&frame));
    }
    let state = &merge.files()[0];
    assert_eq!(state.damage, None);
    assert_eq!(
        state.frames,
        segments.len() as u64 + dissector.skipped().total()
    );
    (segments, *dissector.skipped())
}

/// Anything that gives bytes a few at a time, as a pipe may.
pub struct Drops(pub Cursor<Vec<u8>>, pub usize);

impl std::io::Read for Drops {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let bytes = to.len().min(self.1);
        self.0.read(&mut to[..bytes])
    }
}

impl Drops {
    pub fn input(bytes: Vec<u8>, at_once: usize) -> Input {
        Self(Cursor::new(bytes), at_once).into()
    }
}

//! Segments of TCP in frames.
//!
//! The headers are read by hand: taking a frame of 80 bytes apart with etherparse's lax slices
//! took 65 ns, more than half of what input and this may take together. Tests compare with it.

mod extent;
mod fragments;
mod ip;
mod link;
mod skipped;
mod tcp;

pub use skipped::{Skip, Skipped};

use crate::Segment;
use crate::input::Frame;
use extent::Extent;
use fragments::Fragments;
use ip::{Datagram, Fragment};

/// Takes frames apart, and puts IP fragments together. One of these may serve all files, or each
/// file its own: the fragments of a packet are looked for on one interface only.
#[derive(Debug, Default)]
pub struct Dissector {
    payload_sums: bool,
    skipped: Skipped,
    fragments: Fragments,
}

impl Dissector {
    /// One that sums up the data of segments if `payload_sums`: what their checksums need.
    pub fn new(payload_sums: bool) -> Self {
        Self {
            payload_sums,
            ..Self::default()
        }
    }

    /// The segment in a frame, or that which it completes. Where there is none, that is counted.
    #[inline]
    pub fn take(&mut self, frame: &Frame<'_>) -> Option<Segment> {
        match self.dissect(frame) {
            Ok(segment) => Some(segment),
            Err(skip) => {
                self.skipped.count(skip);
                None
            }
        }
    }

    /// The frames so far that gave no segment, by reason.
    pub fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    #[inline]
    fn dissect(&mut self, frame: &Frame<'_>) -> Result<Segment, Skip> {
        let whole = Extent {
            captured: frame.captured,
            bytes: frame.original_bytes,
        };
        let datagram = ip::read(link::network(frame.link_type, whole)?)?;
        match datagram.fragment {
            None => tcp::read(frame, &datagram.header, datagram.content, self.payload_sums),
            Some(fragment) => self.join(frame, datagram, fragment),
        }
    }

    /// Takes up a fragment; the segment that it completes.
    #[cold]
    fn join(
        &mut self,
        frame: &Frame<'_>,
        datagram: Datagram<'_>,
        fragment: Fragment,
    ) -> Result<Segment, Skip> {
        let joined = self.fragments.add(frame, datagram, fragment)?;
        self.skipped.fragment_incomplete -= joined.other_frames;
        self.skipped.fragment_joined += joined.other_frames;
        let mut header = joined.header;
        let content = ip::transport(joined.protocol, joined.content(), &mut header)?;
        let mut segment = tcp::read(frame, &header, content, false)?;
        if self.payload_sums {
            segment.payload_sum = joined.sum_behind(segment.payload_bytes);
        }
        Ok(segment)
    }
}

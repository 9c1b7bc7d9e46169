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
        // What is rare is begun anew elsewhere: what is read here can then stay in registers.
        let tcp = match read(frame) {
            Ok(datagram) if datagram.has_tcp() => {
                tcp::read(datagram.content).map(|tcp| (tcp, datagram.header))
            }
            Ok(_) => return self.take_rare(frame),
            Err(skip) => Err(skip),
        };
        match tcp {
            Ok((tcp, header)) => Some(tcp.segment(frame, header, self.payload_sums)),
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

    /// As [`take`](Self::take), of a packet with extension headers, of a fragment, or of another
    /// protocol.
    #[cold]
    fn take_rare(&mut self, frame: &Frame<'_>) -> Option<Segment> {
        let segment = read(frame).and_then(|mut datagram| {
            ip::extensions(&mut datagram)?;
            match datagram.fragment {
                Some(fragment) => self.join(frame, &datagram, fragment),
                None => {
                    let tcp = tcp::read(datagram.content)?;
                    Ok(tcp.segment(frame, datagram.header, self.payload_sums))
                }
            }
        });
        segment.map_err(|skip| self.skipped.count(skip)).ok()
    }

    /// Takes up a fragment; the segment that it completes.
    fn join(
        &mut self,
        frame: &Frame<'_>,
        datagram: &Datagram<'_>,
        fragment: Fragment,
    ) -> Result<Segment, Skip> {
        let joined = self.fragments.add(frame, datagram, fragment)?;
        self.skipped.fragment_incomplete -= joined.other_frames;
        self.skipped.fragment_joined += joined.other_frames;
        let mut datagram = joined.datagram();
        ip::extensions(&mut datagram)?;
        if datagram.fragment.is_some() {
            return Err(Skip::Malformed);
        }
        let mut segment = tcp::read(datagram.content)?.segment(frame, datagram.header, false);
        if self.payload_sums {
            segment.payload_sum = joined.sum_behind(segment.payload_bytes);
        }
        Ok(segment)
    }
}

/// The packet in a frame, up to the first header behind that of IP.
#[inline(always)]
fn read<'a>(frame: &Frame<'a>) -> Result<Datagram<'a>, Skip> {
    let whole = Extent {
        captured: frame.captured,
        bytes: frame.original_bytes,
    };
    ip::read(link::network(frame.link_type, whole)?)
}

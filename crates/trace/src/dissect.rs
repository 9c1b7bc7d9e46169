//! Segments of TCP in frames.
//!
//! The headers are read by hand: taking a frame of 80 bytes apart with etherparse's lax slices
//! took 65 ns, more than half of what input and this may take together. Tests compare with it.

mod extent;
mod fragments;
mod ip;
mod layers;
mod link;
mod payload;
mod skipped;
mod tcp;
mod tunnel;

use std::collections::BTreeMap;

pub use layers::{Layer, Layers};
pub use payload::payload;
pub use skipped::{Skip, Skipped};

use crate::Segment;
use crate::input::{Frame, LinkType};
use extent::Extent;
use fragments::{Fragments, Joined};
use ip::{Datagram, Fragment};
use link::Begin;

/// Most different stacks of layers that are counted each by itself.
const MAX_STACKS: usize = 64;

/// A reader of frames, which puts IP fragments together. One of these may serve all files, or each
/// file its own: the fragments of a packet are looked for on one interface only.
#[derive(Debug, Default)]
pub struct Dissector {
    payload_sums: bool,
    skipped: Skipped,
    fragments: Fragments,
    layered: BTreeMap<Layers, u64>,
    unknown: BTreeMap<LinkType, u64>,
}

impl Dissector {
    /// Creates one that sums up the data of segments if `payload_sums`, as checksums need it.
    pub fn new(payload_sums: bool) -> Self {
        Self {
            payload_sums,
            ..Self::default()
        }
    }

    /// Returns the segment in a frame, or that which it completes. Counts a frame without one.
    #[inline]
    pub fn take(&mut self, frame: &Frame<'_>) -> Option<Segment> {
        // Rare headers are read elsewhere, so that the usual ones can stay in registers.
        let tcp = match plain(frame) {
            Some(datagram) if datagram.has_tcp() => {
                tcp::read(datagram.content).map(|tcp| (tcp, datagram.header))
            }
            _ => return self.take_rare(frame),
        };
        match tcp {
            Ok((tcp, header)) => Some(tcp.segment(frame, header, self.payload_sums)),
            Err(skip) => {
                self.skipped.count(skip);
                None
            }
        }
    }

    /// Returns the segments that had headers between that of the link and their own IP header, by
    /// these headers; of the many that a hostile capture may have, the first 64.
    pub fn layered(&self) -> &BTreeMap<Layers, u64> {
        &self.layered
    }

    /// Returns the frames so far of link types that are not known here.
    pub fn unknown_link_types(&self) -> &BTreeMap<LinkType, u64> {
        &self.unknown
    }

    /// Returns the frames so far that gave no segment, by reason.
    pub fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    /// Does as [`take`](Self::take) for frames with more than the headers of link, IP and TCP.
    #[cold]
    fn take_rare(&mut self, frame: &Frame<'_>) -> Option<Segment> {
        let segment = link::begin(frame.link_type, whole(frame))
            .and_then(|(begin, content)| self.within(frame, begin, content, Layers::NONE));
        match segment {
            Ok(segment) => {
                self.count(segment.layers);
                Some(segment)
            }
            Err(skip) => {
                self.skipped.count(skip);
                if skip == Skip::UnknownLinkType {
                    *self.unknown.entry(frame.link_type).or_default() += 1;
                }
                None
            }
        }
    }

    fn count(&mut self, layers: Layers) {
        let has_room = self.layered.len() < MAX_STACKS || self.layered.contains_key(&layers);
        if has_room && !layers.is_empty() {
            *self.layered.entry(layers).or_default() += 1;
        }
    }

    /// Returns the segment in what stands within `layers`. Each round but the last adds one to
    /// these, and so does each packet that is put together: they have an end.
    fn within(
        &mut self,
        frame: &Frame<'_>,
        mut begin: Begin,
        mut content: Extent<'_>,
        mut layers: Layers,
    ) -> Result<Segment, Skip> {
        loop {
            let mut datagram = ip::read(link::packet(begin, content, &mut layers)?)?;
            ip::extensions(&mut datagram)?;
            if let Some(fragment) = datagram.fragment {
                return self.join(frame, &datagram, fragment, layers);
            }
            if datagram.has_tcp() {
                let tcp = tcp::read(datagram.content)?;
                let segment = tcp.segment(frame, datagram.header, self.payload_sums);
                return Ok(Segment { layers, ..segment });
            }
            (begin, content) = tunnel::content(&datagram, &mut layers)?;
        }
    }

    /// Takes up a fragment; the segment that it completes.
    fn join(
        &mut self,
        frame: &Frame<'_>,
        datagram: &Datagram<'_>,
        fragment: Fragment,
        layers: Layers,
    ) -> Result<Segment, Skip> {
        if !datagram.may_have_tcp() {
            return Err(Skip::NotTcp);
        }
        let joined = self.fragments.add(frame, datagram, fragment)?;
        let segment = self.within_joined(frame, &joined, layers);
        self.skipped.fragment_incomplete -= joined.other_frames;
        match segment {
            Err(skip @ (Skip::NotIp | Skip::NotTcp)) => self.skipped.add(skip, joined.other_frames),
            _ => self.skipped.fragment_joined += joined.other_frames,
        }
        segment
    }

    /// Returns the segment in a packet that was put together. Of what a tunnel carries in it no sum
    /// of the data is given: the sum that there is is that of the whole packet.
    fn within_joined(
        &mut self,
        frame: &Frame<'_>,
        joined: &Joined,
        mut layers: Layers,
    ) -> Result<Segment, Skip> {
        let mut datagram = joined.datagram();
        ip::extensions(&mut datagram)?;
        if datagram.fragment.is_some() {
            return Err(Skip::Malformed);
        }
        if !datagram.has_tcp() {
            let (begin, content) = tunnel::content(&datagram, &mut layers)?;
            return self.within(frame, begin, content, layers);
        }
        let segment = tcp::read(datagram.content)?.segment(frame, datagram.header, false);
        let sum = joined.sum_behind(segment.payload_bytes);
        Ok(Segment {
            payload_sum: sum.filter(|_| self.payload_sums),
            layers,
            ..segment
        })
    }
}

/// Returns the packet in a frame that has only the header of the link before it, up to the first
/// header behind that of IP.
#[inline(always)]
fn plain<'a>(frame: &Frame<'a>) -> Option<Datagram<'a>> {
    ip::read(link::plain(frame.link_type, whole(frame))?).ok()
}

#[inline(always)]
fn whole<'a>(frame: &Frame<'a>) -> Extent<'a> {
    Extent {
        captured: frame.captured,
        bytes: frame.original_bytes,
    }
}

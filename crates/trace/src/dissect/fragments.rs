//! IP fragments, put together as far as the headers go (RFC 791, section 3.2; RFC 8200, section
//! 4.5).

use std::net::IpAddr;

use arrayvec::ArrayVec;
use mptcplab_wire::Ecn;

use super::ip::{Datagram, Fragment, Header};
use super::tcp::sum_of;
use super::{Extent, Skip};
use crate::Nanos;
use crate::input::Frame;

/// Most packets with missing fragments; a further one replaces the oldest.
const MAX_PACKETS: usize = 256;
/// So long the other fragments are waited for (RFC 8200, section 4.5).
const MAX_WAIT: Nanos = 60_000_000_000;
/// Bytes of a packet's content that are kept: what extension headers and TCP's may take.
const KEPT_BYTES: usize = 256;
/// Most runs of a packet's content that came with gaps between them; a packet with more is given
/// up.
const MAX_RUNS: usize = 16;
/// Most bytes of content: what the field of the length has room for.
const MAX_CONTENT_BYTES: u32 = 0xffff;

/// Packets of which fragments have come, but not all.
#[derive(Debug, Default)]
pub(super) struct Fragments {
    packets: Vec<Partial>,
}

/// Key of the fragments of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    identification: u32,
    /// Of IPv4; fragments of IPv6 may each have another one, of which the first counts.
    protocol: Option<u8>,
    interface: u32,
    source: IpAddr,
    destination: IpAddr,
}

/// A packet of which some fragments have come.
#[derive(Debug)]
struct Partial {
    key: Key,
    /// When the first of them came.
    since: Nanos,
    frames: u64,
    /// Header of the first fragment, and what its content begins with.
    first: Option<(Header, u8)>,
    /// Some fragment met congestion: then the packet did (RFC 3168, section 5.3).
    congestion: bool,
    /// Parts that have come, from byte to before byte: in order, with gaps between them.
    runs: ArrayVec<[u32; 2], MAX_RUNS>,
    /// Bytes of the content, once the last fragment has come.
    end: Option<u32>,
    kept: [u8; KEPT_BYTES],
    /// How far the bytes in `kept` were captured, as far as their fragments have come.
    captured: usize,
    /// Sum of the content that has come, where all of that was captured.
    sum: Option<u16>,
}

/// A packet that was put together.
pub(super) struct Joined {
    header: Header,
    /// Protocol of the content.
    protocol: u8,
    /// Frames that had a fragment of it, but for the last.
    pub(super) other_frames: u64,
    kept: [u8; KEPT_BYTES],
    captured: usize,
    bytes: u32,
    sum: Option<u16>,
}

impl Joined {
    /// Returns the packet, with the beginning of its content.
    pub(super) fn datagram(&self) -> Datagram<'_> {
        Datagram {
            header: self.header,
            protocol: self.protocol,
            content: Extent {
                captured: &self.kept[..self.captured],
                bytes: self.bytes,
            },
            fragment: None,
        }
    }

    /// Returns the sum of the last `bytes` of the content.
    pub(super) fn sum_behind(&self, bytes: u32) -> Option<u16> {
        let before = self.kept[..self.captured].get(..(self.bytes - bytes) as usize)?;
        // The headers before have a multiple of 4 bytes: their sum is taken away by its complement.
        Some(plus(self.sum?, !sum_of(before)))
    }
}

impl Fragments {
    /// Takes up a fragment; gives the packet that it completes.
    pub(super) fn add(
        &mut self,
        frame: &Frame<'_>,
        datagram: &Datagram<'_>,
        fragment: Fragment,
    ) -> Result<Joined, Skip> {
        let bytes = datagram.content.bytes;
        let end = fragment.offset.saturating_add(bytes);
        let fits = end <= MAX_CONTENT_BYTES && (!fragment.more || bytes.is_multiple_of(8));
        if bytes == 0 || !fits {
            return Err(Skip::Malformed);
        }
        let key = Key {
            identification: fragment.identification,
            protocol: (datagram.header.source.is_ipv4()).then_some(datagram.protocol),
            interface: frame.interface,
            source: datagram.header.source,
            destination: datagram.header.destination,
        };
        let at = self.find(key, frame.at);
        let packet = &mut self.packets[at];
        let added = packet.add(datagram, fragment, end);
        if added == Added::More {
            return Err(Skip::FragmentIncomplete);
        }
        let packet = self.packets.swap_remove(at);
        match packet.first {
            Some(first) if added == Added::All => Ok(packet.joined(first)),
            _ => Err(Skip::Malformed),
        }
    }

    /// Returns the index of the packet with this key; of a new one where there is none.
    fn find(&mut self, key: Key, now: Nanos) -> usize {
        self.packets
            .retain(|packet| now.saturating_sub(packet.since) <= MAX_WAIT);
        if let Some(at) = self.packets.iter().position(|packet| packet.key == key) {
            return at;
        }
        if self.packets.len() == MAX_PACKETS {
            let oldest = (0..MAX_PACKETS).min_by_key(|&at| self.packets[at].since);
            self.packets.swap_remove(oldest.unwrap_or(0));
        }
        self.packets.push(Partial::new(key, now));
        self.packets.len() - 1
    }
}

/// Effect of a fragment on its packet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Added {
    /// Others are to come.
    More,
    /// It completes it.
    All,
    /// It overlaps with others in part, or ends elsewhere: nothing of the packet can be trusted
    /// (RFC 5722, section 4; Linux does the same for IPv4).
    Contradiction,
}

impl Partial {
    fn new(key: Key, since: Nanos) -> Self {
        Self {
            key,
            since,
            frames: 0,
            first: None,
            congestion: false,
            runs: ArrayVec::new(),
            end: None,
            kept: [0; KEPT_BYTES],
            captured: KEPT_BYTES,
            sum: Some(0),
        }
    }

    fn add(&mut self, datagram: &Datagram<'_>, fragment: Fragment, end: u32) -> Added {
        self.frames += 1;
        let begin = fragment.offset;
        let mut runs = self.runs.iter();
        if runs.any(|&[from, to]| from <= begin && end <= to) {
            return Added::More;
        }
        if !self.add_run(begin, end) || !self.has_end(end, fragment.more) {
            return Added::Contradiction;
        }
        if begin == 0 {
            self.first = Some((datagram.header, datagram.protocol));
        }
        self.congestion |= datagram.header.ecn == Ecn::CongestionExperienced;
        self.keep(begin as usize, datagram.content);
        match (&self.runs[..], self.end) {
            (&[[0, to]], Some(end)) if to == end => Added::All,
            _ => Added::More,
        }
    }

    /// Returns the packet, all of which has come; with what its first fragment has.
    fn joined(self, (mut header, protocol): (Header, u8)) -> Joined {
        if self.congestion {
            header.ecn = Ecn::CongestionExperienced;
        }
        let bytes = self.end.unwrap_or(0);
        Joined {
            header,
            protocol,
            other_frames: self.frames - 1,
            kept: self.kept,
            captured: self.captured.min(bytes as usize),
            bytes,
            sum: self.sum,
        }
    }

    /// Adds a part; whether it overlaps with no other, and there is room for it.
    fn add_run(&mut self, begin: u32, end: u32) -> bool {
        let at = self.runs.partition_point(|&[_, to]| to < begin);
        match self.runs.get_mut(at) {
            // It touches the end of a run, and perhaps the beginning of the next.
            Some(run) if run[1] == begin => {
                run[1] = end;
                match self.runs.get(at + 1) {
                    Some(&[from, _]) if from < end => false,
                    Some(&[from, to]) if from == end => {
                        self.runs[at][1] = to;
                        self.runs.remove(at + 1);
                        true
                    }
                    _ => true,
                }
            }
            Some(run) if run[0] == end => {
                run[0] = begin;
                true
            }
            Some(run) if run[0] < end => false,
            _ => self.runs.try_insert(at, [begin, end]).is_ok(),
        }
    }

    /// Learns where the content ends; whether that agrees with what was known.
    fn has_end(&mut self, end: u32, more: bool) -> bool {
        if !more && *self.end.get_or_insert(end) != end {
            return false;
        }
        let farthest = self.runs.last().map_or(0, |&[_, to]| to);
        self.end.is_none_or(|end| farthest <= end)
    }

    /// Keeps what is wanted of a part.
    fn keep(&mut self, begin: usize, content: Extent<'_>) {
        let captured = content.captured;
        if let Some(room) = self.kept.get_mut(begin..) {
            let bytes = captured.len().min(room.len());
            room[..bytes].copy_from_slice(&captured[..bytes]);
        }
        if content.is_whole() {
            self.sum = self.sum.map(|sum| plus(sum, sum_of(captured)));
        } else {
            self.sum = None;
            self.captured = self.captured.min(begin + captured.len());
        }
    }
}

/// Ones' complement addition.
fn plus(a: u16, b: u16) -> u16 {
    let (sum, carry) = a.overflowing_add(b);
    sum + u16::from(carry)
}

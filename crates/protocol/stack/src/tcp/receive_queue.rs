//! Received data: in order for the application, and beyond a hole for later; and the selective
//! acknowledgement of both (RFC 2018, RFC 2883).

use alloc::collections::VecDeque;

use arrayvec::ArrayVec;
use bytes::{Bytes, BytesMut};

use crate::memory::give_back;

/// Each segment that is kept beyond a hole counts as so much more than its payload, so that many
/// small ones find an end too.
const OVERHEAD_BYTES: u64 = 256;

/// Unread segments before small ones are put together.
const UNREAD_SEGMENTS: usize = 64;

/// Segments below this length are put together while the application does not read.
const SMALL_BYTES: usize = 512;

/// Most blocks of an acknowledgement beside a D-SACK.
const BLOCKS: usize = 4;

/// Blocks that an acknowledgement is expected to have room for.
const EXPECTED_BLOCKS: usize = 2;

/// Place of a segment's data in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// New data in order; `filled` where it closed a hole or part of one.
    InOrder {
        /// There were segments beyond it.
        filled: bool,
    },
    /// Data beyond a hole; `untold` where its block was not among the first, which the
    /// acknowledgement that is held back may have no room for.
    Early {
        /// It stood third or later, or is new beside two.
        untold: bool,
    },
    /// Nothing new.
    Duplicate,
    /// Beyond a hole, and there is no room.
    Dropped,
}

/// Data that was received and not read.
#[derive(Clone, Debug)]
pub(crate) struct ReceiveQueue {
    ready: VecDeque<Bytes>,
    ready_bytes: u64,
    /// RCV.NXT.
    next: u64,
    /// Segments beyond a hole by their offset; they do not overlap. Nearly all come to the end and
    /// leave at the front.
    early: VecDeque<(u64, Bytes)>,
    /// Bytes that they use, with [`OVERHEAD_BYTES`] each.
    early_charge: u64,
    /// The same as contiguous ranges, from start to end.
    ranges: VecDeque<(u64, u64)>,
    /// Ranges in the order of the last arrivals, the latest first.
    recent: ArrayVec<(u64, u64), BLOCKS>,
    /// Received twice; told once.
    duplicate: Option<(u64, u64)>,
    /// Offset of the peer's FIN.
    fin: Option<u64>,
    finished: bool,
}

impl ReceiveQueue {
    /// `next` is the first offset expected.
    pub(crate) fn new(next: u64) -> Self {
        Self {
            ready: VecDeque::new(),
            ready_bytes: 0,
            next,
            early: VecDeque::new(),
            early_charge: 0,
            ranges: VecDeque::new(),
            recent: ArrayVec::new(),
            duplicate: None,
            fin: None,
            finished: false,
        }
    }

    /// RCV.NXT.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Bytes ready in order.
    pub(crate) fn ready_bytes(&self) -> u64 {
        self.ready_bytes
    }

    /// Bytes that are kept, ready or not.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.ready_bytes + self.early_charge - self.early.len() as u64 * OVERHEAD_BYTES
    }

    /// How far what has come reaches beyond what is expected next.
    pub(crate) fn beyond_bytes(&self) -> u64 {
        let last = self.ranges.back();
        last.map_or(0, |&(_, right)| right - self.next)
    }

    /// Whether there is data beyond a hole.
    pub(crate) fn has_hole(&self) -> bool {
        !self.ranges.is_empty()
    }

    /// Notes where the data ends, and gives whether all of it has come. A second FIN elsewhere
    /// is ignored.
    pub(crate) fn end_at(&mut self, offset: u64) -> bool {
        let end = *self.fin.get_or_insert(offset);
        if !self.finished && self.next == end {
            self.finished = true;
            self.next += 1;
            return true;
        }
        false
    }

    /// The FIN came earlier, and what was missing before it has come now.
    pub(crate) fn reaches_end(&mut self) -> bool {
        self.fin.is_some_and(|end| self.end_at(end))
    }

    /// Takes payload; what is beyond a hole may use up to `room_bytes`.
    pub(crate) fn insert(&mut self, start: u64, mut payload: Bytes, room_bytes: u64) -> Arrival {
        let mut start = start;
        let end = start + payload.len() as u64;
        if self.finished || end <= self.next {
            self.duplicate = Some((start, end));
            return Arrival::Duplicate;
        }
        if start < self.next {
            self.duplicate = Some((start, self.next));
            payload = payload.split_off((self.next - start) as usize);
            start = self.next;
        }
        if start > self.next {
            return self.insert_early(start, end, payload, room_bytes);
        }
        self.push(payload);
        self.next = end;
        let filled = self.has_hole();
        if filled {
            self.drain_early();
        }
        Arrival::InOrder { filled }
    }

    fn push(&mut self, payload: Bytes) {
        self.ready_bytes += payload.len() as u64;
        if self.ready.len() >= UNREAD_SEGMENTS
            && payload.len() < SMALL_BYTES
            && let Some(last) = self.ready.back_mut()
            && last.len() < SMALL_BYTES
        {
            let mut joined = BytesMut::with_capacity(last.len() + payload.len());
            joined.extend_from_slice(last);
            joined.extend_from_slice(&payload);
            *last = joined.freeze();
            return;
        }
        self.ready.push_back(payload);
    }

    fn drain_early(&mut self) {
        while self.early.front().is_some_and(|piece| piece.0 <= self.next)
            && let Some((start, mut payload)) = self.early.pop_front()
        {
            self.early_charge -= payload.len() as u64 + OVERHEAD_BYTES;
            let end = start + payload.len() as u64;
            if end > self.next {
                self.push(payload.split_off((self.next - start) as usize));
                self.next = end;
            }
        }
        while self
            .ranges
            .front()
            .is_some_and(|range| range.0 <= self.next)
        {
            self.ranges.pop_front();
        }
        give_back(&mut self.early);
        give_back(&mut self.ranges);
        self.recent.retain(|block| block.1 > self.next);
    }

    fn insert_early(&mut self, start: u64, end: u64, payload: Bytes, room_bytes: u64) -> Arrival {
        let after = self.ranges.partition_point(|range| range.0 <= start);
        let covering = after.checked_sub(1).map(|place| self.ranges[place]);
        if let Some((left, right)) = covering
            && right >= end
        {
            self.duplicate = Some((start, end));
            self.remember((left, right));
            return Arrival::Duplicate;
        }
        if self.early_charge + payload.len() as u64 + OVERHEAD_BYTES > room_bytes {
            return Arrival::Dropped;
        }
        let touches = |block: &(u64, u64)| start <= block.1 && block.0 <= end;
        let place = self.recent.iter().position(touches);
        let untold = place.unwrap_or(self.recent.len()) >= EXPECTED_BLOCKS;
        self.fill_gaps(start, end, &payload);
        let merged = self.merge(start, end);
        self.remember(merged);
        Arrival::Early { untold }
    }

    /// Keeps those parts of the payload that are new.
    fn fill_gaps(&mut self, start: u64, end: u64, payload: &Bytes) {
        let mut from = start;
        let mut place = self.early.partition_point(|piece| piece.0 <= start);
        if let Some((left, piece)) = place.checked_sub(1).map(|before| &self.early[before]) {
            from = from.max(left + piece.len() as u64);
        }
        while from < end {
            let (gap_end, resume) = match self.early.get(place) {
                Some((left, piece)) if *left < end => (*left, left + piece.len() as u64),
                _ => (end, end),
            };
            if from < gap_end {
                let piece = payload.slice((from - start) as usize..(gap_end - start) as usize);
                self.early_charge += piece.len() as u64 + OVERHEAD_BYTES;
                self.early.insert(place, (from, piece));
                place += 1;
            }
            from = resume;
            place += 1;
        }
    }

    /// Joins a range with those that it touches.
    fn merge(&mut self, start: u64, end: u64) -> (u64, u64) {
        let place = self.ranges.partition_point(|range| range.1 < start);
        let mut merged = (start, end);
        let mut behind = place;
        while let Some(&(left, right)) = self.ranges.get(behind)
            && left <= end
        {
            merged = (merged.0.min(left), merged.1.max(right));
            behind += 1;
        }
        if behind == place {
            self.ranges.insert(place, merged);
        } else {
            self.ranges[place] = merged;
            self.ranges.drain(place + 1..behind);
        }
        merged
    }

    /// Puts a range in front of the blocks to tell (RFC 2018, section 4).
    fn remember(&mut self, range: (u64, u64)) {
        self.recent
            .retain(|block| block.0 < range.0 || block.1 > range.1);
        self.recent.truncate(BLOCKS - 1);
        self.recent.insert(0, range);
    }

    /// Notes that something that lies before RCV.NXT came again.
    pub(crate) fn note_duplicate(&mut self, start: u64, end: u64) {
        self.duplicate = Some((start, end));
    }

    /// Whether there is a D-SACK to tell.
    pub(crate) fn has_duplicate(&self) -> bool {
        self.duplicate.is_some()
    }

    /// Blocks for an acknowledgement with room for `count`: a D-SACK first, told once (RFC 2883,
    /// section 4), then the ranges.
    pub(crate) fn blocks(&mut self, count: usize) -> impl Iterator<Item = (u64, u64)> {
        let duplicate = if count > 0 {
            self.duplicate.take()
        } else {
            None
        };
        duplicate
            .into_iter()
            .chain(self.recent.iter().copied())
            .take(count)
    }

    /// Takes up to `max_bytes` of what is ready, with their offset.
    pub(crate) fn take(&mut self, max_bytes: usize) -> Option<(u64, Bytes)> {
        let unread = self.next - u64::from(self.finished) - self.ready_bytes;
        let front = self.ready.front_mut()?;
        if max_bytes == 0 {
            return None;
        }
        let payload = if front.len() <= max_bytes {
            self.ready.pop_front()?
        } else {
            front.split_to(max_bytes)
        };
        self.ready_bytes -= payload.len() as u64;
        give_back(&mut self.ready);
        Some((unread, payload))
    }

    /// Forgets what is beyond a hole, and gives the memory back.
    pub(crate) fn drop_early(&mut self) {
        self.early = VecDeque::new();
        self.early_charge = 0;
        self.ranges = VecDeque::new();
        self.recent.clear();
    }
}

#[cfg(test)]
mod tests;

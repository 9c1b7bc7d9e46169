//! Data of a connection in the order in which it was written, from several subflows.

use alloc::collections::VecDeque;

use bytes::{Buf, Bytes, BytesMut};

use crate::memory::give_back;

/// A piece of data that waits counts as at least so many bytes towards the limit of memory.
const PIECE_BYTES: u64 = 256;

/// Ready pieces below this size are copied together, so that a peer that sends single bytes costs
/// no more memory than its window.
const SMALL_BYTES: usize = 256;

/// Received data: what is ready for the application, and what waits for data before it.
#[derive(Clone, Debug, Default)]
pub(super) struct Reassembly {
    next: u64,
    ready: VecDeque<Bytes>,
    ready_bytes: u64,
    /// Ready too, after all of `ready`: small pieces.
    small: BytesMut,
    /// By the offset of their first byte; they do not overlap. Nearly all come to one of the ends
    /// of the queue or leave at its front: each subflow brings its data in order.
    waiting: VecDeque<(u64, Bytes)>,
    waiting_bytes: u64,
}

impl Reassembly {
    /// Offset of the first byte that has not come.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Bytes that the application can read.
    pub(super) fn ready_bytes(&self) -> u64 {
        self.ready_bytes
    }

    /// Bytes that are kept, ready or not.
    pub(super) fn held_bytes(&self) -> u64 {
        self.ready_bytes + self.waiting_bytes
    }

    /// Takes data at an offset, but for what has come before and what lies at or beyond `limit`.
    /// Returns how many bytes were new. What would take more memory than `limit` allows is
    /// dropped; the peer sends it again.
    pub(super) fn insert(&mut self, offset: u64, data: Bytes, limit: u64) -> u64 {
        let Some((offset, data)) = clip(offset, data, self.next, limit) else {
            return 0;
        };
        let end = offset + data.len() as u64;
        let new = if offset == self.next && self.waiting.front().is_none_or(|first| end <= first.0)
        {
            self.push_ready(data);
            end - offset
        } else {
            self.hold(offset, data, limit)
        };
        while self
            .waiting
            .front()
            .is_some_and(|first| first.0 == self.next)
            && let Some((_, data)) = self.waiting.pop_front()
        {
            self.waiting_bytes -= data.len() as u64;
            self.push_ready(data);
        }
        give_back(&mut self.waiting);
        new
    }

    /// Puts the parts that are not there yet among the waiting ones.
    fn hold(&mut self, mut offset: u64, mut data: Bytes, limit: u64) -> u64 {
        let mut new = 0;
        let mut place = match self.waiting.back() {
            Some(last) if offset < last.0 => {
                self.waiting.partition_point(|piece| piece.0 <= offset)
            }
            _ => self.waiting.len(),
        };
        if let Some((before, piece)) = place.checked_sub(1).map(|place| &self.waiting[place]) {
            let known = (before + piece.len() as u64).saturating_sub(offset);
            if known >= data.len() as u64 {
                return 0;
            }
            data.advance(known as usize);
            offset += known;
        }
        while !data.is_empty() {
            let (gap, skip) = match self.waiting.get(place) {
                Some((after, piece)) if *after < offset + data.len() as u64 => {
                    ((after - offset) as usize, piece.len())
                }
                _ => (data.len(), 0),
            };
            let part = data.split_to(gap);
            let part_offset = offset;
            offset += (gap + skip.min(data.len())) as u64;
            data.advance(skip.min(data.len()));
            let fills = part_offset == self.next;
            let pieces = self.waiting.len() as u64 + 1;
            let within = pieces * PIECE_BYTES <= (limit - self.next).max(64 * PIECE_BYTES);
            if !part.is_empty() && (fills || within) {
                new += part.len() as u64;
                self.waiting_bytes += part.len() as u64;
                match place == self.waiting.len() {
                    true => self.waiting.push_back((part_offset, part)),
                    false => self.waiting.insert(place, (part_offset, part)),
                }
                place += 1;
            }
            place += 1;
        }
        new
    }

    fn push_ready(&mut self, data: Bytes) {
        self.next += data.len() as u64;
        self.ready_bytes += data.len() as u64;
        if data.len() < SMALL_BYTES {
            self.small.extend_from_slice(&data);
        } else {
            self.flush_small();
            self.ready.push_back(data);
        }
    }

    fn flush_small(&mut self) {
        if !self.small.is_empty() {
            self.ready.push_back(self.small.split().freeze());
        }
    }

    /// The next bytes for the application, at most `max_bytes`; as many as lie together.
    pub(super) fn read(&mut self, max_bytes: usize) -> Option<Bytes> {
        if self.ready.is_empty() {
            self.flush_small();
        }
        let first = self.ready.front_mut()?;
        let data = if first.len() <= max_bytes {
            self.ready.pop_front()?
        } else {
            first.split_to(max_bytes)
        };
        self.ready_bytes -= data.len() as u64;
        give_back(&mut self.ready);
        (!data.is_empty()).then_some(data)
    }
}

/// The part of the data within `[from, to)`.
fn clip(offset: u64, mut data: Bytes, from: u64, to: u64) -> Option<(u64, Bytes)> {
    let skip = from.saturating_sub(offset);
    if skip >= data.len() as u64 {
        return None;
    }
    let offset = offset + skip;
    data.advance(skip as usize);
    let room = to.saturating_sub(offset);
    if room < data.len() as u64 {
        data.truncate(room as usize);
    }
    (!data.is_empty()).then_some((offset, data))
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use proptest::prelude::*;

    fn text(len: usize) -> Bytes {
        (0..len).map(|at| (at % 251) as u8).collect()
    }

    fn drain(reassembly: &mut Reassembly) -> Vec<u8> {
        let mut all = Vec::new();
        while let Some(data) = reassembly.read(100) {
            all.extend_from_slice(&data);
        }
        all
    }

    #[test]
    fn data_beyond_the_window_is_not_taken() {
        let mut reassembly = Reassembly::default();
        assert_eq!(reassembly.insert(0, text(1000), 600), 600);
        assert_eq!(reassembly.insert(700, text(10), 700), 0);
        assert_eq!(reassembly.next(), 600);
    }

    #[test]
    fn single_bytes_out_of_order_take_bounded_memory() {
        let mut reassembly = Reassembly::default();
        for offset in (1..100_000).step_by(2) {
            reassembly.insert(offset, text(1), 100_000);
        }
        assert_eq!(reassembly.waiting.len() as u64, 100_000 / PIECE_BYTES);
    }

    #[test]
    fn single_bytes_in_order_are_kept_together() {
        let mut reassembly = Reassembly::default();
        for offset in 0..10_000 {
            reassembly.insert(offset, text(1), 100_000);
        }
        assert_eq!(reassembly.ready.len(), 0);
        assert_eq!(reassembly.read(20_000).unwrap().len(), 10_000);
        assert_eq!(reassembly.ready_bytes(), 0);
    }

    proptest! {
        #[test]
        fn whatever_the_order_and_the_overlaps_the_bytes_come_once_and_in_order(
            parts in proptest::collection::vec((0_usize..2000, 1_usize..700), 0..60),
        ) {
            let all = text(2000);
            let mut reassembly = Reassembly::default();
            let mut received = Vec::new();
            let mut new = 0;
            for (from, len) in parts {
                let part = all.slice(from..(from + len).min(all.len()));
                new += reassembly.insert(from as u64, part, 1_000_000);
                prop_assert_eq!(
                    new,
                    reassembly.next() + reassembly.waiting_bytes
                );
                let sum: usize = reassembly.waiting.iter().map(|piece| piece.1.len()).sum();
                prop_assert_eq!(sum as u64, reassembly.waiting_bytes);
                received.extend(drain(&mut reassembly));
            }
            reassembly.insert(0, all.clone(), 1_000_000);
            received.extend(drain(&mut reassembly));
            prop_assert_eq!(received, all.to_vec());
            prop_assert!(reassembly.waiting.is_empty());
        }
    }
}

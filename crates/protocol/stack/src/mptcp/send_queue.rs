//! Data that the application has written and the peer has not acknowledged.

use alloc::collections::VecDeque;

use bytes::BytesMut;

use crate::memory::give_back;
use crate::stretch::Stretch;

/// Bytes of the connection's data from the first unacknowledged one to the last written.
///
/// They stay as the application handed them over; a segment's payload shares their memory, and
/// only where it lies across two writes it is copied.
#[derive(Clone, Debug, Default)]
pub(super) struct SendQueue {
    /// Writes with the offset of their first byte.
    pieces: VecDeque<(u64, Stretch)>,
    start: u64,
    end: u64,
}

impl SendQueue {
    /// Offset of the first byte that is kept.
    pub(super) fn start(&self) -> u64 {
        self.start
    }

    /// Offset behind the last byte.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Bytes that are kept.
    pub(super) fn len(&self) -> u64 {
        self.end - self.start
    }

    pub(super) fn push(&mut self, mut data: Stretch) {
        if let Some((_, last)) = self.pieces.back_mut() {
            let grown = last.grow(&data);
            data.advance(grown);
            self.end += grown as u64;
        }
        if !data.is_empty() {
            let offset = self.end;
            self.end += data.len() as u64;
            self.pieces.push_back((offset, data));
        }
    }

    /// Forgets everything before `offset`.
    pub(super) fn release(&mut self, offset: u64) {
        self.start = offset.clamp(self.start, self.end);
        while let Some((first, data)) = self.pieces.front() {
            if first + data.len() as u64 > self.start {
                break;
            }
            self.pieces.pop_front();
        }
        give_back(&mut self.pieces);
    }

    /// The bytes from `from`, at most `len`; fewer at the end of what was written.
    ///
    /// # Panics
    /// If `from` is not kept (see [`SendQueue::start`]).
    pub(super) fn slice(&self, from: u64, len: usize) -> Stretch {
        assert!(from >= self.start, "these bytes were acknowledged");
        let len = (len as u64).min(self.end.saturating_sub(from)) as usize;
        let place = self.pieces.partition_point(|(first, _)| *first <= from);
        let Some(place) = place.checked_sub(1).filter(|_| len > 0) else {
            return Stretch::default();
        };
        let (first, data) = &self.pieces[place];
        let skip = (from - first) as usize;
        if data.len() - skip >= len {
            return data.part(skip, len);
        }
        let mut copy = BytesMut::with_capacity(len);
        copy.extend_from_slice(&data[skip..]);
        for (_, data) in self.pieces.range(place + 1..) {
            let left = len - copy.len();
            copy.extend_from_slice(&data[..left.min(data.len())]);
            if copy.len() == len {
                break;
            }
        }
        copy.freeze().into()
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn queue() -> SendQueue {
        let mut queue = SendQueue::default();
        for part in [&b"abcdef"[..], b"", b"gh", b"ijklmnop"] {
            queue.push(Bytes::copy_from_slice(part).into());
        }
        queue
    }

    #[test]
    fn any_range_is_what_was_written() {
        let queue = queue();
        let all = b"abcdefghijklmnop";
        for from in 0..=all.len() {
            for len in 0..=all.len() {
                let end = all.len().min(from + len);
                assert_eq!(queue.slice(from as u64, len)[..], all[from..end]);
            }
        }
    }

    #[test]
    fn what_is_released_is_gone_and_the_rest_keeps_its_offsets() {
        let mut queue = queue();
        queue.release(7);
        assert_eq!((queue.start(), queue.end(), queue.len()), (7, 16, 9));
        assert_eq!(queue.pieces.len(), 2);
        assert_eq!(queue.slice(7, 3)[..], b"hij"[..]);
        queue.release(3);
        queue.release(99);
        assert_eq!((queue.start(), queue.pieces.len()), (16, 0));
    }
}

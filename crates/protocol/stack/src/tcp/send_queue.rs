//! Data from its handing over until it is acknowledged.

use alloc::collections::VecDeque;

use bytes::{Bytes, BytesMut};

use super::extension::DataMapping;
use crate::memory::give_back;
use crate::stretch::Stretch;

/// Data in the order in which it was handed over. It stays as it was handed over: segments, those
/// sent again too, share its memory, and only what lies across two pieces is copied.
#[derive(Clone, Debug)]
pub(crate) struct SendQueue {
    pieces: VecDeque<Piece>,
    /// Pieces that were sent whole, at the front.
    sent: usize,
    /// Segments of mapped pieces that were not sent, and other pieces that were not sent whole.
    unsent: u64,
    /// Offset of the first byte that was not sent.
    next: u64,
    /// Offset behind the last byte.
    end: u64,
}

#[derive(Clone, Debug)]
struct Piece {
    /// Offset of its first byte.
    start: u64,
    payload: Stretch,
    /// With one, the piece is a run of segments whose bounds are given: all of `segment` bytes, but
    /// for the last, which may be shorter and alone has what the mapping says of an end.
    mapping: Option<DataMapping>,
    segment: usize,
    /// Length of the last segment.
    last_bytes: usize,
}

impl Piece {
    fn end(&self) -> u64 {
        self.start + self.payload.len() as u64
    }

    /// Whether a segment may follow in a mapped piece.
    fn is_open(&self, segment: usize) -> bool {
        let ends =
            |mapping: DataMapping| mapping.data_fin || mapping.push || mapping.checksum.is_some();
        let is_full = self.segment == segment && self.last_bytes == segment;
        is_full && !self.mapping.is_none_or(ends)
    }

    /// Leaves out what follows on the first bytes: whole segments of a mapped piece.
    fn cut(&mut self, len: usize) {
        self.payload.truncate(len);
        self.last_bytes = self.segment;
        if let Some(mapping) = &mut self.mapping {
            // They were of the last segment.
            mapping.data_fin = false;
            mapping.push = false;
        }
    }

    /// The mapping of a segment of a mapped piece.
    fn mapping_of(&self, start: u64, bytes: usize) -> Option<DataMapping> {
        let mapping = self.mapping?;
        let is_last = start + bytes as u64 == self.end();
        Some(DataMapping {
            data_sequence: mapping.data_sequence.wrapping_add(start - self.start),
            data_fin: mapping.data_fin && is_last,
            push: mapping.push && is_last,
            checksum: mapping.checksum,
        })
    }
}

impl SendQueue {
    /// A queue whose first byte has this offset.
    pub(crate) fn new(first: u64) -> Self {
        Self {
            pieces: VecDeque::new(),
            sent: 0,
            unsent: 0,
            next: first,
            end: first,
        }
    }

    /// Whether all was sent.
    pub(crate) fn is_empty(&self) -> bool {
        self.next == self.end
    }

    /// Bytes that were not sent.
    pub(crate) fn bytes(&self) -> u64 {
        self.end - self.next
    }

    /// Adds data. With a mapping that follows on the last one it joins it, where there is room in
    /// the segment.
    pub(crate) fn push(
        &mut self,
        mut payload: Stretch,
        mapping: Option<DataMapping>,
        segment: usize,
    ) {
        if payload.is_empty() {
            return;
        }
        if let Some(mapping) = mapping
            && mapping.checksum.is_none()
            && let Some(room) = self.room(mapping.data_sequence, segment)
            && payload.len() <= room
        {
            return self.join(&payload, &mapping);
        }
        match mapping {
            None => self.grow(&mut payload),
            Some(mapping) if self.next_sequence() != Some(mapping.data_sequence) => {
                self.mark_push();
            }
            Some(mapping) if self.follow(&payload, &mapping, segment) => return,
            Some(_) => {}
        }
        if !payload.is_empty() {
            let start = self.end;
            self.end += payload.len() as u64;
            self.unsent += 1;
            self.pieces.push_back(Piece {
                start,
                segment: segment.max(payload.len()),
                last_bytes: payload.len(),
                payload,
                mapping,
            });
        }
    }

    /// Adds a segment to the last piece, which is mapped and was not sent whole. False where it has to
    /// be a piece of its own.
    fn follow(&mut self, payload: &Stretch, mapping: &DataMapping, segment: usize) -> bool {
        let last = self.pieces.back_mut();
        let Some(last) = last.filter(|last| last.is_open(segment) && mapping.checksum.is_none())
        else {
            return false;
        };
        if payload.len() > segment || !last.payload.has_behind(payload) {
            return false;
        }
        last.last_bytes = last.payload.grow(payload);
        if let Some(known) = &mut last.mapping {
            known.data_fin = mapping.data_fin;
            known.push = mapping.push;
        }
        self.end += payload.len() as u64;
        self.unsent += 1;
        true
    }

    /// Adds data to the last segment, which is mapped and was not sent.
    fn join(&mut self, payload: &Stretch, mapping: &DataMapping) {
        self.end += payload.len() as u64;
        let Some(last) = self.pieces.back_mut() else {
            return;
        };
        let fits = last.last_bytes + payload.len() <= last.segment;
        let grown = if fits { last.payload.grow(payload) } else { 0 };
        last.last_bytes += grown;
        if grown < payload.len() {
            // It does not lie in the same memory: the segment becomes a piece of its own.
            let place = last.payload.len() - last.last_bytes;
            let joined = [&last.payload[place..], &payload[grown..]].concat();
            let start = last.start + place as u64;
            let own = Piece {
                start,
                segment: last.segment.max(joined.len()),
                last_bytes: joined.len(),
                payload: Bytes::from(joined).into(),
                mapping: last.mapping_of(start, 0),
            };
            last.cut(place);
            if place == 0 {
                self.pieces.pop_back();
            } else if start == self.next {
                self.sent += 1;
            }
            self.pieces.push_back(own);
        }
        if let Some(known) = self
            .pieces
            .back_mut()
            .and_then(|last| last.mapping.as_mut())
        {
            known.data_fin = mapping.data_fin;
            known.push = mapping.push;
        }
    }

    /// Lets the last piece grow by what lies behind it in its memory, where neither is mapped.
    fn grow(&mut self, payload: &mut Stretch) {
        if let Some(last) = self.pieces.back_mut().filter(|last| last.mapping.is_none()) {
            let grown = last.payload.grow(payload);
            payload.advance(grown);
            self.end += grown as u64;
            if grown > 0 && self.sent == self.pieces.len() {
                self.sent -= 1;
                self.unsent += 1;
            }
        }
    }

    /// The last piece, where it was not sent.
    fn last_unsent(&self) -> Option<&Piece> {
        self.pieces.back().filter(|last| last.end() > self.next)
    }

    /// Marks the last segment, where it is mapped and was not sent, as the end of what was handed
    /// over together.
    pub(crate) fn mark_push(&mut self) {
        let next = self.next;
        let last = self.pieces.back_mut().filter(|last| last.end() > next);
        if let Some(mapping) = last.and_then(|last| last.mapping.as_mut()) {
            mapping.push = true;
        }
    }

    /// Room in the last segment, which is mapped, for data with this number that follows on it.
    pub(crate) fn room(&self, data_sequence: u64, segment: usize) -> Option<usize> {
        let last = self.last_unsent()?;
        let mapping = last.mapping.as_ref()?;
        let open = !mapping.data_fin && mapping.checksum.is_none();
        let follows = self.next_sequence() == Some(data_sequence);
        let bytes = last.last_bytes;
        (open && follows && bytes < segment).then(|| segment - bytes)
    }

    /// Number of the data that follows on the last segment, where that is mapped and was not sent.
    fn next_sequence(&self) -> Option<u64> {
        let last = self.last_unsent()?;
        let mapping = last.mapping.as_ref()?;
        Some(
            mapping
                .data_sequence
                .wrapping_add(last.payload.len() as u64),
        )
    }

    /// Length of the next segment: one that is mapped as it is, others cut or joined to `segment`.
    pub(crate) fn next_bytes(&self, segment: u64) -> u64 {
        match self.pieces.get(self.sent) {
            Some(piece) if piece.mapping.is_some() => {
                (piece.end() - self.next).min(piece.segment as u64)
            }
            _ => self.bytes().min(segment),
        }
    }

    /// Segments that it makes of what was not sent.
    pub(crate) fn segments(&self, segment: u64) -> u64 {
        if self.next_is_mapped() {
            self.unsent
        } else {
            self.bytes().div_ceil(segment)
        }
    }

    /// The next segment is mapped.
    pub(crate) fn next_is_mapped(&self) -> bool {
        self.pieces
            .get(self.sent)
            .is_some_and(|piece| piece.mapping.is_some())
    }

    /// Takes the next segment, of at most `bytes` where it is not mapped.
    pub(crate) fn take(&mut self, bytes: usize) -> (Bytes, Option<DataMapping>) {
        let bytes = match self.next_is_mapped() {
            true => self.next_bytes(0) as usize,
            false => bytes,
        };
        let (payload, mapping) = self.segment(self.sent, self.next, bytes);
        self.next += payload.len() as u64;
        self.unsent -= u64::from(mapping.is_some());
        while let Some(piece) = self.pieces.get(self.sent)
            && piece.end() <= self.next
        {
            self.unsent -= u64::from(piece.mapping.is_none());
            self.sent += 1;
        }
        (payload, mapping)
    }

    /// A segment that was sent and is not [released](Self::release); a FIN alone has no bytes.
    pub(crate) fn sent(&self, start: u64, bytes: usize) -> (Bytes, Option<DataMapping>) {
        if bytes == 0 {
            return (Bytes::new(), None);
        }
        let after = self.pieces.partition_point(|piece| piece.start <= start);
        self.segment(after.saturating_sub(1), start, bytes)
    }

    /// The bytes from an offset on, which lies in this piece; no more than that piece where it is
    /// mapped.
    fn segment(&self, piece: usize, start: u64, bytes: usize) -> (Bytes, Option<DataMapping>) {
        let Some(first) = self.pieces.get(piece) else {
            return (Bytes::new(), None);
        };
        let skip = (start - first.start) as usize;
        let rest = first.payload.len() - skip;
        let bytes_here = bytes.min(rest);
        let has_next = (self.pieces.get(piece + 1)).is_some_and(|next| next.mapping.is_none());
        if bytes <= rest || !has_next || first.mapping.is_some() {
            let mapping = first.mapping_of(start, bytes_here);
            return (first.payload.slice(skip, bytes_here), mapping);
        }
        let mut joined = BytesMut::with_capacity(bytes);
        joined.extend_from_slice(&first.payload[skip..]);
        for next in self.pieces.range(piece + 1..) {
            let wanted = bytes - joined.len();
            if wanted == 0 || next.mapping.is_some() {
                break;
            }
            joined.extend_from_slice(&next.payload[..wanted.min(next.payload.len())]);
        }
        (joined.freeze(), None)
    }

    /// Forgets what was sent before an offset, as it is acknowledged.
    pub(crate) fn release(&mut self, offset: u64) {
        while self.sent > 0 && (self.pieces.front()).is_some_and(|piece| piece.end() <= offset) {
            self.pieces.pop_front();
            self.sent -= 1;
        }
        give_back(&mut self.pieces);
    }

    /// Forgets what was not sent.
    pub(crate) fn drop_unsent(&mut self) {
        let is_part_sent = (self.pieces.get(self.sent)).is_some_and(|one| one.start < self.next);
        self.pieces.truncate(self.sent + usize::from(is_part_sent));
        if is_part_sent && let Some(last) = self.pieces.back_mut() {
            last.cut((self.next - last.start) as usize);
            self.sent += 1;
        }
        self.unsent = 0;
        self.end = self.next;
    }

    /// Forgets all data.
    pub(crate) fn clear(&mut self) {
        *self = Self::new(self.next);
    }
}

#[cfg(test)]
mod tests;

//! Data that was handed over and not sent.

use alloc::collections::VecDeque;

use bytes::{Bytes, BytesMut};

use super::extension::DataMapping;

/// Data in the order in which it was handed over.
#[derive(Clone, Debug, Default)]
pub(crate) struct SendQueue {
    chunks: VecDeque<Chunk>,
    bytes: u64,
}

#[derive(Clone, Debug)]
struct Chunk {
    payload: Bytes,
    mapping: Option<DataMapping>,
}

impl SendQueue {
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds data. With a mapping that follows on the last one it joins it, where there is room in
    /// the segment.
    pub(crate) fn push(&mut self, payload: Bytes, mapping: Option<DataMapping>, segment: usize) {
        if payload.is_empty() {
            return;
        }
        self.bytes += payload.len() as u64;
        if let Some(mapping) = mapping
            && mapping.checksum.is_none()
            && let Some(room) = self.room(mapping.data_sequence, segment)
            && payload.len() <= room
            && let Some(last) = self.chunks.back_mut()
            && let Some(known) = &mut last.mapping
        {
            known.data_fin = mapping.data_fin;
            known.push = mapping.push;
            last.payload = [&last.payload[..], &payload[..]].concat().into();
            return;
        }
        if mapping.is_some_and(|mapping| self.next_sequence() != Some(mapping.data_sequence)) {
            self.mark_push();
        }
        self.chunks.push_back(Chunk { payload, mapping });
    }

    /// Marks the last segment, where it is mapped, as the end of what was handed over together.
    pub(crate) fn mark_push(&mut self) {
        let last = self.chunks.back_mut();
        if let Some(mapping) = last.and_then(|last| last.mapping.as_mut()) {
            mapping.push = true;
        }
    }

    /// Room in the last segment, which is mapped, for data with this number that follows on it.
    pub(crate) fn room(&self, data_sequence: u64, segment: usize) -> Option<usize> {
        let last = self.chunks.back()?;
        let mapping = last.mapping.as_ref()?;
        let open = !mapping.data_fin && mapping.checksum.is_none();
        let follows = self.next_sequence() == Some(data_sequence);
        (open && follows && last.payload.len() < segment).then(|| segment - last.payload.len())
    }

    /// Number of the data that follows on the last segment, where that is mapped.
    fn next_sequence(&self) -> Option<u64> {
        let last = self.chunks.back()?;
        let mapping = last.mapping.as_ref()?;
        Some(
            mapping
                .data_sequence
                .wrapping_add(last.payload.len() as u64),
        )
    }

    /// Length of the next segment: a mapped chunk as it is, others cut or joined to `segment`.
    pub(crate) fn next_bytes(&self, segment: u64) -> u64 {
        match self.chunks.front() {
            Some(chunk) if chunk.mapping.is_some() => chunk.payload.len() as u64,
            _ => self.bytes.min(segment),
        }
    }

    /// Segments that it makes.
    pub(crate) fn segments(&self, segment: u64) -> u64 {
        if self.next_is_mapped() {
            self.chunks.len() as u64
        } else {
            self.bytes.div_ceil(segment)
        }
    }

    /// The next segment is a mapped chunk.
    pub(crate) fn next_is_mapped(&self) -> bool {
        self.chunks
            .front()
            .is_some_and(|chunk| chunk.mapping.is_some())
    }

    /// Takes the next segment, of at most `bytes` where it is not mapped.
    pub(crate) fn take(&mut self, bytes: usize) -> (Bytes, Option<DataMapping>) {
        let Some(front) = self.chunks.front_mut() else {
            return (Bytes::new(), None);
        };
        if front.mapping.is_some() || front.payload.len() <= bytes {
            let only = front.mapping.is_some()
                || front.payload.len() == bytes
                || self.bytes == front.payload.len() as u64;
            if only && let Some(chunk) = self.chunks.pop_front() {
                self.bytes -= chunk.payload.len() as u64;
                return (chunk.payload, chunk.mapping);
            }
            return (self.join(bytes), None);
        }
        self.bytes -= bytes as u64;
        (front.payload.split_to(bytes), None)
    }

    /// Copies a segment together from several chunks that are not mapped.
    fn join(&mut self, bytes: usize) -> Bytes {
        let mut joined = BytesMut::with_capacity(bytes);
        while let Some(front) = self.chunks.front_mut() {
            let wanted = bytes - joined.len();
            if wanted == 0 || front.mapping.is_some() {
                break;
            }
            if front.payload.len() > wanted {
                joined.extend_from_slice(&front.payload.split_to(wanted));
            } else {
                joined.extend_from_slice(&front.payload);
                self.chunks.pop_front();
            }
        }
        self.bytes -= joined.len() as u64;
        joined.freeze()
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPPING: DataMapping = DataMapping {
        data_sequence: 7,
        data_fin: false,
        push: false,
        checksum: None,
    };

    #[test]
    fn a_push_ends_where_it_is_marked_or_other_data_follows_unless_more_joins_the_segment() {
        let mut queue = SendQueue::default();
        let pieces: [(u64, &[u8]); 5] =
            [(0, b"abc"), (3, b"def"), (6, b"g"), (7, b"h"), (20, b"i")];
        for (data_sequence, payload) in pieces {
            let mapping = DataMapping {
                data_sequence,
                ..MAPPING
            };
            queue.push(Bytes::from_static(payload), Some(mapping), 3);
            if data_sequence == 6 {
                queue.mark_push();
            }
        }
        queue.mark_push();
        let pushes = core::iter::from_fn(|| queue.take(3).1);
        let pushes = pushes.map(|mapping| (mapping.data_sequence, mapping.push));
        let expected = [(0, false), (3, false), (6, true), (20, true)];
        assert_eq!(pushes.collect::<alloc::vec::Vec<_>>(), expected);
    }

    #[test]
    fn bytes_are_cut_and_joined_to_segments() {
        let mut queue = SendQueue::default();
        queue.push(Bytes::from_static(b"abcde"), None, 9);
        queue.push(Bytes::from_static(b"fg"), None, 9);
        queue.push(Bytes::from_static(b"h"), None, 9);
        assert_eq!(queue.next_bytes(3), 3);
        assert_eq!(queue.take(3).0, "abc");
        assert_eq!(queue.take(3).0, "def");
        assert_eq!(queue.bytes(), 2);
        assert_eq!(queue.next_bytes(3), 2);
        assert_eq!(queue.take(3).0, "gh");
        assert!(queue.is_empty());
    }

    #[test]
    fn a_mapped_chunk_keeps_its_bounds() {
        let mut queue = SendQueue::default();
        queue.push(Bytes::from_static(b"abcde"), Some(MAPPING), 9);
        queue.push(Bytes::from_static(b"fg"), Some(MAPPING), 9);
        assert_eq!(queue.next_bytes(3), 5);
        let (payload, mapping) = queue.take(3);
        assert_eq!(
            (&payload[..], mapping.unwrap().data_sequence),
            (&b"abcde"[..], 7)
        );
        assert_eq!(queue.take(3), (Bytes::from_static(b"fg"), Some(MAPPING)));
    }

    #[test]
    fn a_mapped_chunk_takes_what_follows_on_it_up_to_a_full_segment() {
        let mapping = |data_sequence, data_fin| {
            Some(DataMapping {
                data_sequence,
                data_fin,
                ..MAPPING
            })
        };
        let mut queue = SendQueue::default();
        queue.push(Bytes::from_static(b"abc"), mapping(7, false), 5);
        assert_eq!((queue.room(10, 5), queue.room(9, 5)), (Some(2), None));
        queue.push(Bytes::from_static(b"de"), mapping(10, false), 5);
        assert_eq!(queue.room(12, 5), None);
        queue.push(Bytes::from_static(b"f"), mapping(12, false), 5);
        queue.push(Bytes::from_static(b"g"), mapping(13, true), 5);
        assert_eq!(queue.room(14, 5), None);
        assert_eq!(queue.bytes(), 7);
        assert_eq!(
            queue.take(5),
            (Bytes::from_static(b"abcde"), mapping(7, false))
        );
        assert_eq!(
            queue.take(5),
            (Bytes::from_static(b"fg"), mapping(12, true))
        );
    }
}

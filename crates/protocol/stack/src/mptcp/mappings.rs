//! From the bytes of a subflow to the data of the connection.

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use bytes::Bytes;
use mptcplab_wire::option::{Mapping, data_pseudo_header};

/// Mappings of one subflow that are kept at the most: more than its receive window has segments.
const MAX_MAPS: usize = 16_384;

/// Bytes that may wait without a mapping. RFC 8684, section 3.3.1, says a receive window; no peer
/// sends mappings that late, and this is more than one of them can be long.
const MAX_UNMAPPED_BYTES: usize = 1 << 16;

/// A mapping that the peer has declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Map {
    /// Offset of its first byte in the subflow's stream.
    pub(super) start: u64,
    /// Its length, without a DATA_FIN.
    pub(super) bytes: u32,
    /// Offset of its first byte in the connection's data; `None` where that lies before the data.
    pub(super) data: Option<u64>,
    /// The fields that its checksum covers, where checksums are used: seldom, hence the box.
    pub(super) proof: Option<Box<Proof>>,
}

/// The fields that the checksum of a mapping covers beside the data (RFC 8684, section 3.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Proof {
    /// Data sequence number, all of it.
    pub(super) data_sequence: u64,
    /// The mapping as it stands in the option.
    pub(super) mapping: Mapping,
}

impl Map {
    fn end(&self) -> u64 {
        self.start + u64::from(self.bytes)
    }

    /// Takes in a mapping that follows on it in the subflow and in the data. False where it does
    /// not; nor where there is a checksum, which is of one mapping alone.
    fn join(&mut self, next: &Self) -> bool {
        let data_end = self
            .data
            .and_then(|data| data.checked_add(self.bytes.into()));
        let follows = self.end() == next.start && data_end.is_some() && data_end == next.data;
        match self.bytes.checked_add(next.bytes) {
            Some(bytes) if follows && self.proof.is_none() && next.proof.is_none() => {
                self.bytes = bytes;
                true
            }
            _ => false,
        }
    }
}

/// The next bytes of a subflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Delivery {
    /// Data of the connection at an offset.
    Data(u64, Bytes),
    /// A mapping whose checksum is wrong; the data that it covers is still held. The offset in
    /// the connection's data.
    Corrupt(Option<u64>),
    /// Bytes without a mapping: mapped ones follow, or they are more than a peer should send. They
    /// are still held.
    Unmapped,
}

/// Received bytes of a subflow that wait for their mapping, or for the rest of it where a checksum
/// covers it all.
///
/// Bytes that no mapping covers and that are followed by mapped ones will never have one: a
/// middlebox has joined two segments and lost the mapping of the second.
#[derive(Clone, Debug, Default)]
pub(super) struct Mappings {
    /// By their start; they do not overlap. Of those that follow on each other in the data one is
    /// kept.
    maps: VecDeque<Map>,
    /// In order and without gaps.
    pending: VecDeque<(u64, Bytes)>,
    pending_bytes: usize,
    /// No mapping before this counts any more: end of what was delivered or dropped.
    done: u64,
}

impl Mappings {
    /// Takes a mapping of a segment. One that overlaps with a mapping that was declared before is
    /// ignored, as a mapping cannot change.
    pub(super) fn declare(&mut self, map: Map) {
        if map.bytes == 0 || map.end() <= self.done || self.maps.len() >= MAX_MAPS {
            return;
        }
        let place = match self.maps.back() {
            Some(last) if last.end() > map.start => {
                self.maps.partition_point(|known| known.start < map.start)
            }
            _ => self.maps.len(),
        };
        let after = self.maps.get(place);
        if after.is_some_and(|after| after.start < map.end()) {
            return;
        }
        let before = place
            .checked_sub(1)
            .and_then(|before| self.maps.get_mut(before));
        let is_known = before.is_some_and(|before| before.end() > map.start || before.join(&map));
        if !is_known {
            self.maps.insert(place, map);
        }
    }

    /// Bytes that wait.
    pub(super) fn pending_bytes(&self) -> usize {
        self.pending_bytes
    }

    /// Whether neither a mapping nor data has come.
    pub(super) fn is_untouched(&self) -> bool {
        self.done == 0 && self.maps.is_empty() && self.pending.is_empty()
    }

    /// Whether a mapping is known for the first of the bytes `[from, to)` that has not come before.
    pub(super) fn covers(&self, from: u64, to: u64) -> bool {
        let known = self
            .pending
            .back()
            .map_or(self.done, |(offset, data)| offset + data.len() as u64);
        let from = from.max(known);
        from >= to
            || self
                .maps
                .iter()
                .any(|map| map.start <= from && from < map.end())
    }

    /// Takes bytes of the subflow, in order.
    pub(super) fn push(&mut self, offset: u64, data: Bytes) {
        self.pending_bytes += data.len();
        self.pending.push_back((offset, data));
    }

    /// The next bytes, as far as their mapping has come.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Delivery> {
        if self.pending.is_empty() {
            return None;
        }
        self.deliver()
    }

    fn deliver(&mut self) -> Option<Delivery> {
        loop {
            let offset = self.pending.front()?.0;
            while self.maps.front().is_some_and(|map| map.end() <= offset) {
                self.maps.pop_front();
            }
            let Some(map) = self.maps.front() else {
                let broken = self.pending_bytes > MAX_UNMAPPED_BYTES;
                return broken.then_some(Delivery::Unmapped);
            };
            let (start, end, data) = (map.start, map.end(), map.data);
            if start > offset {
                return Some(Delivery::Unmapped);
            }
            if let Some(proof) = &map.proof {
                if offset + (self.pending_bytes as u64) < end {
                    return None;
                }
                // Bytes that were dropped or delivered before the mapping was declared cannot be
                // proved.
                if offset > start || !self.proves(map, proof) {
                    return Some(Delivery::Corrupt(data));
                }
                self.maps[0].proof = None;
            }
            let piece = self.take((end - offset) as usize)?;
            if let Some(data) = data {
                return Some(Delivery::Data(data + (offset - start), piece));
            }
        }
    }

    /// Drops bytes without a mapping in front of mapped ones. False where none are mapped.
    pub(super) fn drop_unmapped(&mut self) -> bool {
        let Some(start) = self.maps.front().map(|map| map.start) else {
            return false;
        };
        while let Some((offset, _)) = self.pending.front()
            && *offset < start
        {
            let bytes = usize::try_from(start - offset).unwrap_or(usize::MAX);
            self.take(bytes);
        }
        true
    }

    /// All that waits, without regard to mappings: after a fallback, the bytes of the subflow are
    /// the data.
    pub(super) fn take_raw(&mut self) -> Option<(u64, Bytes)> {
        let (offset, data) = self.pending.pop_front()?;
        self.pending_bytes -= data.len();
        self.done = offset + data.len() as u64;
        Some((offset, data))
    }

    /// Removes up to `bytes` from the first piece.
    fn take(&mut self, bytes: usize) -> Option<Bytes> {
        let (offset, piece) = self.pending.front_mut()?;
        let data = if piece.len() <= bytes {
            core::mem::take(piece)
        } else {
            piece.split_to(bytes)
        };
        *offset += data.len() as u64;
        self.done = *offset;
        self.pending_bytes -= data.len();
        if piece.is_empty() {
            self.pending.pop_front();
        }
        Some(data)
    }

    fn proves(&self, map: &Map, proof: &Proof) -> bool {
        let mut left = map.bytes as usize;
        let mut sum = data_pseudo_header(proof.data_sequence, &proof.mapping);
        for (_, piece) in &self.pending {
            let part = &piece[..left.min(piece.len())];
            sum.add(part);
            left -= part.len();
        }
        Some(sum.finish()) == proof.mapping.checksum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mptcplab_wire::option::DataNumber;

    fn map(start: u64, bytes: u32, data: u64) -> Map {
        Map {
            start,
            bytes,
            data: Some(data),
            proof: None,
        }
    }

    fn data(offset: u64, text: &'static [u8]) -> Option<Delivery> {
        Some(Delivery::Data(offset, Bytes::from_static(text)))
    }

    fn with_proof(start: u64, text: &[u8], data: u64) -> Map {
        let mut mapping = Mapping {
            data_sequence: DataNumber::Long(data + 100),
            subflow_sequence: start as u32,
            bytes: text.len() as u16,
            checksum: None,
        };
        let mut sum = data_pseudo_header(data + 100, &mapping);
        sum.add(text);
        mapping.checksum = Some(sum.finish());
        Map {
            proof: Some(Box::new(Proof {
                data_sequence: data + 100,
                mapping,
            })),
            ..map(start, text.len() as u32, data)
        }
    }

    #[test]
    fn bytes_become_data_where_their_mapping_says() {
        let mut mappings = Mappings::default();
        mappings.declare(map(1, 3, 1000));
        mappings.declare(map(4, 2, 500));
        mappings.push(1, Bytes::from_static(b"ab"));
        assert_eq!(mappings.next(), data(1000, b"ab"));
        assert_eq!(mappings.next(), None);
        mappings.push(3, Bytes::from_static(b"cde"));
        assert_eq!(mappings.next(), data(1002, b"c"));
        assert_eq!(mappings.next(), data(500, b"de"));
        assert_eq!(mappings.next(), None);
        assert_eq!(mappings.pending_bytes, 0);
    }

    #[test]
    fn a_mapping_may_come_after_its_bytes() {
        let mut mappings = Mappings::default();
        mappings.push(1, Bytes::from_static(b"abc"));
        assert_eq!(mappings.next(), None);
        mappings.declare(map(1, 3, 0));
        assert_eq!(mappings.next(), data(0, b"abc"));
    }

    #[test]
    fn a_mapping_cannot_change() {
        let mut mappings = Mappings::default();
        mappings.declare(map(5, 3, 100));
        for other in [map(5, 3, 200), map(3, 3, 300), map(7, 9, 400)] {
            mappings.declare(other);
        }
        assert_eq!(mappings.maps, [map(5, 3, 100)]);
    }

    #[test]
    fn mappings_that_follow_on_each_other_are_kept_as_one() {
        let mut mappings = Mappings::default();
        for (start, data) in [(1, 100), (4, 103), (10, 109), (7, 106), (13, 500), (2, 101)] {
            mappings.declare(map(start, 3, data));
        }
        let kept = [map(1, 9, 100), map(10, 3, 109), map(13, 3, 500)];
        assert_eq!(mappings.maps, kept);
        mappings.declare(with_proof(16, b"abc", 503));
        assert_eq!(mappings.maps.len(), 4);
    }

    #[test]
    fn bytes_without_a_mapping_are_told_when_mapped_ones_follow_and_can_be_dropped() {
        let mut mappings = Mappings::default();
        mappings.declare(map(1, 2, 0));
        mappings.declare(map(5, 2, 4));
        mappings.push(1, Bytes::from_static(b"abc"));
        mappings.push(4, Bytes::from_static(b"def"));
        assert_eq!(mappings.next(), data(0, b"ab"));
        assert_eq!(mappings.next(), Some(Delivery::Unmapped));
        assert_eq!(mappings.next(), Some(Delivery::Unmapped));
        assert!(mappings.drop_unmapped());
        assert_eq!(mappings.next(), data(4, b"ef"));
    }

    #[test]
    fn too_many_bytes_without_a_mapping_are_told() {
        let mut mappings = Mappings::default();
        mappings.push(1, Bytes::from(alloc::vec![0; MAX_UNMAPPED_BYTES]));
        assert_eq!(mappings.next(), None);
        mappings.push(1 + MAX_UNMAPPED_BYTES as u64, Bytes::from_static(b"x"));
        assert_eq!(mappings.next(), Some(Delivery::Unmapped));
        assert!(!mappings.drop_unmapped());
    }

    #[test]
    fn a_checksum_is_verified_when_all_it_covers_has_come() {
        let mut mappings = Mappings::default();
        mappings.declare(with_proof(1, b"abcde", 0));
        mappings.push(1, Bytes::from_static(b"abc"));
        assert_eq!(mappings.next(), None);
        mappings.push(4, Bytes::from_static(b"de"));
        assert_eq!(mappings.next(), data(0, b"abc"));
        assert_eq!(mappings.next(), data(3, b"de"));
    }

    #[test]
    fn a_changed_byte_is_found_and_the_data_kept() {
        let mut mappings = Mappings::default();
        mappings.declare(with_proof(1, b"abcde", 7));
        mappings.push(1, Bytes::from_static(b"abXde"));
        assert_eq!(mappings.next(), Some(Delivery::Corrupt(Some(7))));
        assert_eq!(mappings.next(), Some(Delivery::Corrupt(Some(7))));
        assert_eq!(mappings.take_raw(), Some((1, Bytes::from_static(b"abXde"))));
        assert_eq!(mappings.take_raw(), None);
    }

    #[test]
    fn the_number_of_mappings_is_bounded() {
        let mut mappings = Mappings::default();
        for start in 0..2 * MAX_MAPS as u64 {
            mappings.declare(map(1 + 2 * start, 1, 0));
        }
        assert_eq!(mappings.maps.len(), MAX_MAPS);
    }
}

//! The fragments that a connection's data lies in until it is acknowledged. A subflow gets whole
//! ones, so their lengths decide where bursts end.
//!
//! Source: `mptcp_sendmsg`, `mptcp_frag_can_collapse_to`, `mptcp_carve_data_frag` and
//! `__mptcp_clean_una` in Linux 6.18, net/mptcp/protocol.c, and `skb_page_frag_refill`,
//! net/core/sock.c.

use alloc::collections::VecDeque;

/// Memory that fragments are cut from.
const PAGE_BYTES: u64 = 1 << 15;
/// Memory of a fragment beside its data (`mptcp_data_frag`).
const HEADER_BYTES: u64 = 40;
/// A fragment begins where so much data has room.
const LEAST_BYTES: u64 = 32;
/// Fragments begin at multiples of it.
const ALIGNMENT_BYTES: u64 = 8;

/// Fragments of data that is not acknowledged, the oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Fragments {
    fragments: VecDeque<Fragment>,
    /// Used part of the page that the last fragment lies in.
    page_bytes: u64,
    /// Memory of all headers.
    header_bytes: u64,
}

#[derive(Clone, Debug)]
struct Fragment {
    /// Offset behind its last byte.
    end: u64,
    header_bytes: u64,
}

impl Fragments {
    /// Memory beside the data.
    pub(super) fn header_bytes(&self) -> u64 {
        self.header_bytes
    }

    /// Takes data that follows on `end`, where `room_bytes` of memory are free: to the end of the
    /// fragment that fills them. While some data `is_waiting` for a subflow, what follows joins the
    /// last fragment. Gives how many bytes.
    pub(super) fn push(&mut self, end: u64, bytes: u64, room_bytes: u64, is_waiting: bool) -> u64 {
        let mut taken = 0;
        let mut used = 0;
        while taken < bytes && used < room_bytes {
            if !(self.page_bytes < PAGE_BYTES && (is_waiting || taken > 0)) {
                used += self.begin(end + taken);
            }
            let part = (bytes - taken).min(PAGE_BYTES - self.page_bytes);
            self.page_bytes += part;
            taken += part;
            used += part;
            if let Some(last) = self.fragments.back_mut() {
                last.end = end + taken;
            }
        }
        taken
    }

    /// Begins a fragment, in a new page where the last one is full. Gives the memory of its header.
    fn begin(&mut self, end: u64) -> u64 {
        let full = self.page_bytes + HEADER_BYTES + LEAST_BYTES > PAGE_BYTES;
        if full || self.fragments.is_empty() {
            self.page_bytes = 0;
        }
        let start = self.page_bytes.next_multiple_of(ALIGNMENT_BYTES) + HEADER_BYTES;
        let header_bytes = start - self.page_bytes;
        self.page_bytes = start;
        self.header_bytes += header_bytes;
        self.fragments.push_back(Fragment { end, header_bytes });
        header_bytes
    }

    /// Forgets those that end before `offset`, or there.
    pub(super) fn release(&mut self, offset: u64) {
        while let Some(first) = self.fragments.front()
            && first.end <= offset
        {
            self.header_bytes -= first.header_bytes;
            self.fragments.pop_front();
        }
    }

    /// End of the fragment with the last byte before `offset`.
    pub(super) fn end_of(&self, offset: u64) -> u64 {
        let place = self.fragments.partition_point(|known| known.end < offset);
        self.fragments.get(place).map_or(offset, |found| found.end)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    /// Lengths of the fragments of writes of 64 KiB, each of which is handed to subflows before the
    /// next.
    fn lengths(fragments: &mut Fragments, from: u64, writes: u64) -> Vec<u64> {
        for write in 0..writes {
            let taken = fragments.push(from + write * 65_536, 65_536, u64::MAX, false);
            assert_eq!(taken, 65_536);
        }
        let ends = fragments.fragments.iter().map(|known| known.end);
        let mut before = from;
        ends.map(|end| end - core::mem::replace(&mut before, end))
            .collect()
    }

    #[test]
    fn what_is_written_after_a_push_begins_a_fragment_in_the_rest_of_the_page() {
        let mut fragments = Fragments::default();
        let expected = [32_728, 32_728, 80, 32_608, 32_728, 200];
        assert_eq!(lengths(&mut fragments, 0, 2), expected);
        assert_eq!(fragments.header_bytes(), 6 * 40);
    }

    #[test]
    fn what_follows_on_waiting_data_joins_its_fragment() {
        let mut fragments = Fragments::default();
        fragments.push(0, 100, u64::MAX, false);
        fragments.push(100, 40_000, u64::MAX, true);
        assert_eq!(fragments.end_of(1), 32_728);
        assert_eq!(fragments.end_of(32_728), 32_728);
        assert_eq!(fragments.end_of(32_729), 40_100);
        fragments.push(40_100, 1, u64::MAX, false);
        assert_eq!(fragments.end_of(40_100), 40_100);
    }

    #[test]
    fn a_fragment_is_filled_beyond_the_room_and_none_begins_without() {
        let mut fragments = Fragments::default();
        assert_eq!(fragments.push(0, 65_536, 1, false), 32_728);
        assert_eq!(fragments.push(32_728, 65_536, 0, true), 0);
    }

    #[test]
    fn headers_are_aligned_and_a_page_without_fragments_is_used_again() {
        let mut fragments = Fragments::default();
        fragments.push(0, 101, u64::MAX, false);
        fragments.push(101, 1, u64::MAX, false);
        assert_eq!(fragments.header_bytes(), 40 + 3 + 40);
        fragments.release(101);
        assert_eq!(fragments.header_bytes(), 43);
        fragments.release(102);
        assert_eq!(fragments.header_bytes(), 0);
        assert_eq!(fragments.push(102, 65_536, 1, false), 32_728);
    }
}

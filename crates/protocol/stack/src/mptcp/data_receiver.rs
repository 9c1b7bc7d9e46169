//! Reception at the level of data.

use bytes::Bytes;

use super::numbers::DataNumbers;
use super::reassembly::Reassembly;
use crate::Nanos;
use crate::tcp::{BufferLimits, PayloadShare, ReceiveBuffer, SharedWindow, usable_bytes};

/// Payload of the segments of the initial window, which is taken to have been read in the round
/// trip before the first.
const INITIAL_SEGMENT_BYTES: u64 = 1448;

/// Received data, and the window that all subflows share.
#[derive(Clone, Debug)]
pub(super) struct DataReceiver {
    numbers: DataNumbers,
    reassembly: Reassembly,
    /// Offset behind the last byte, where DATA_FIN told it.
    end: Option<u64>,
    /// The application has been told of the end.
    told_end: bool,
    /// The application has been told of data and has not read all.
    told_readable: bool,
    buffer: ReceiveBuffer,
    /// The longest round trip of the subflows, when the buffer was looked at last.
    rtt_ns: Nanos,
    /// The right edge of the window that was advertised; it never moves back.
    advertised_end: u64,
    /// Last window that was advertised.
    advertised_bytes: u64,
    /// Payload of a full segment.
    segment_bytes: u64,
}

impl DataReceiver {
    /// `initial` is the initial data sequence number of the peer.
    pub(super) fn new(initial: u64, limits: BufferLimits, segment_bytes: u32) -> Self {
        let buffer = ReceiveBuffer::new(limits, INITIAL_SEGMENT_BYTES);
        let advertised_bytes = buffer.window_bytes();
        Self {
            numbers: DataNumbers::new(initial),
            reassembly: Reassembly::default(),
            end: None,
            told_end: false,
            told_readable: false,
            buffer,
            rtt_ns: 0,
            advertised_end: 0,
            advertised_bytes,
            segment_bytes: u64::from(segment_bytes),
        }
    }

    /// Memory that the buffer holds at most.
    pub(super) fn buffer_bytes(&self) -> u64 {
        self.buffer.memory_bytes()
    }

    pub(super) fn numbers(&self) -> DataNumbers {
        self.numbers
    }

    /// Offset of the next byte expected.
    pub(super) fn next(&self) -> u64 {
        self.reassembly.next()
    }

    /// DATA_ACK: the number of the next byte expected, or the one behind DATA_FIN.
    pub(super) fn acknowledgement(&self) -> u64 {
        self.numbers
            .wire(self.next() + u64::from(self.is_finished()))
    }

    /// Whether all data of the peer has come.
    pub(super) fn is_finished(&self) -> bool {
        self.end == Some(self.next())
    }

    /// Whether the application has read all that came, and nothing waits for data before it.
    pub(super) fn is_empty(&self) -> bool {
        self.reassembly.held_bytes() == 0
    }

    /// Bytes that the application can read.
    pub(super) fn ready_bytes(&self) -> u64 {
        self.reassembly.ready_bytes()
    }

    /// Bytes that wait for data before them.
    pub(super) fn waiting_bytes(&self) -> u64 {
        self.reassembly.held_bytes() - self.reassembly.ready_bytes()
    }

    /// Window that was last advertised.
    pub(super) fn advertised_bytes(&self) -> u64 {
        self.advertised_bytes
    }

    /// Whether the application is to be told of the end; once.
    pub(super) fn take_end_news(&mut self) -> bool {
        !core::mem::replace(&mut self.told_end, true)
    }

    /// Whether the application is to be told of data; once until a read finds none.
    pub(super) fn take_readable_news(&mut self) -> bool {
        !core::mem::replace(&mut self.told_readable, true)
    }

    /// Notes that a read found nothing.
    pub(super) fn found_nothing(&mut self) {
        self.told_readable = false;
    }

    /// Takes data of the connection. Gives the bytes that are new.
    pub(super) fn insert(&mut self, offset: u64, data: Bytes) -> u64 {
        let limit = self.end.unwrap_or(u64::MAX).min(self.room_end());
        self.reassembly.insert(offset, data, limit)
    }

    /// Takes data that TCP has acknowledged, after a fallback: whatever it is, it belongs here.
    pub(super) fn insert_all(&mut self, offset: u64, data: Bytes) {
        self.reassembly.insert(offset, data, u64::MAX);
    }

    /// Sets the peer's numbers, as its key is known now.
    pub(super) fn set_numbers(&mut self, numbers: DataNumbers) {
        self.numbers = numbers;
    }

    /// Notes where the data ends. What contradicts an end told before, or lies before data that has
    /// come, is ignored.
    pub(super) fn finish_at(&mut self, offset: u64) {
        if self.end.is_none() && offset >= self.next() {
            self.end = Some(offset);
        }
    }

    /// End of the room that there is, or that was promised.
    fn room_end(&self) -> u64 {
        let consumed = self.next() - self.ready_bytes();
        (consumed + self.buffer.window_bytes()).max(self.advertised_end)
    }

    /// The window, counted from the data acknowledgement. What waits for data before it takes room
    /// too, but the right edge never moves back. `held_bytes` are taken beside.
    pub(super) fn window(&self, held_bytes: u64) -> SharedWindow {
        let free = self.free_bytes(held_bytes);
        let promised = self.advertised_end.saturating_sub(self.next());
        SharedWindow {
            free_bytes: free,
            promised_bytes: promised.saturating_sub(held_bytes),
            is_scarce: 2 * (self.reassembly.held_bytes() + held_bytes) > self.buffer.window_bytes(),
        }
    }

    fn free_bytes(&self, held_bytes: u64) -> u64 {
        let window = self.buffer.window_bytes();
        let held = self.reassembly.held_bytes() + held_bytes;
        usable_bytes(window.saturating_sub(held), window, self.segment_bytes)
    }

    /// Notes that a window was advertised.
    pub(super) fn advertised(&mut self, window_bytes: u64) {
        self.advertised_end = self.advertised_end.max(self.next() + window_bytes);
        self.advertised_bytes = window_bytes;
    }

    /// The next bytes for the application.
    pub(super) fn read(&mut self, max_bytes: usize) -> Option<Bytes> {
        self.reassembly.read(max_bytes)
    }

    /// The application read: the buffer follows what it reads in a round trip, the longest of the
    /// subflows. `share` is the least of theirs: one that has brought nothing yet, as its handshake
    /// is never answered, say, has that of the beginning. Gives what was read in a round trip where
    /// the buffer grew.
    ///
    /// Source: `mptcp_rcv_space_adjust` in Linux 6.18, net/mptcp/protocol.c.
    pub(super) fn on_read(
        &mut self,
        now: Nanos,
        bytes: u64,
        rtt_ns: Nanos,
        share: impl FnOnce() -> PayloadShare,
    ) -> Option<u64> {
        self.buffer.count_read(bytes);
        if self.rtt_ns > 0 && !self.buffer.is_round_over(now, self.rtt_ns) {
            return None;
        }
        self.rtt_ns = rtt_ns;
        self.buffer.set_share(share());
        let read = self.buffer.end_round(now, rtt_ns)?;
        (read > self.buffer.space_bytes() && self.buffer.grow(read, 0)).then_some(read)
    }

    /// Free room, where reading has at least doubled the window since one was advertised.
    pub(super) fn much_room_bytes(&self) -> Option<u64> {
        let free = self.free_bytes(0);
        (free > 0 && free >= 2 * self.advertised_bytes).then_some(free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window of 1000 bytes.
    const LIMITS: BufferLimits = BufferLimits {
        initial_bytes: 2000,
        max_bytes: 2000,
    };

    fn receiver() -> DataReceiver {
        DataReceiver::new(99, LIMITS, 200)
    }

    #[test]
    fn the_acknowledgement_passes_the_data_fin_when_all_data_has_come() {
        let mut receiver = receiver();
        assert_eq!(receiver.acknowledgement(), 100);
        receiver.finish_at(10);
        receiver.insert(0, Bytes::from_static(&[0; 5]));
        assert_eq!(receiver.acknowledgement(), 105);
        receiver.insert(5, Bytes::from_static(&[0; 50]));
        assert_eq!((receiver.acknowledgement(), receiver.next()), (111, 10));
        assert!(receiver.is_finished());
    }

    /// Advertises what the window is, as a subflow does that has no limit of its own.
    fn advertise(receiver: &mut DataReceiver) -> u64 {
        let window = receiver.window(0);
        let bytes = window.free_bytes.max(window.promised_bytes);
        receiver.advertised(bytes);
        bytes
    }

    #[test]
    fn the_window_counts_from_what_was_read() {
        let mut receiver = receiver();
        receiver.insert(0, Bytes::from_static(&[0; 600]));
        assert_eq!(advertise(&mut receiver), 400);
        receiver.read(399);
        assert_eq!(receiver.much_room_bytes(), None);
        receiver.read(1);
        assert_eq!(receiver.much_room_bytes(), Some(800));
        assert_eq!(advertise(&mut receiver), 800);
    }

    #[test]
    fn a_closed_window_opens_by_a_segment_or_half_of_it_at_once() {
        for (segment_bytes, step) in [(200, 200), (1460, 500)] {
            let mut receiver = DataReceiver::new(99, LIMITS, segment_bytes);
            receiver.insert(0, Bytes::from_static(&[0; 1000]));
            assert_eq!(advertise(&mut receiver), 0);
            receiver.read(step - 1);
            assert_eq!(advertise(&mut receiver), 0);
            receiver.read(1);
            assert_eq!(advertise(&mut receiver), step as u64);
        }
    }

    #[test]
    fn what_waits_for_data_before_it_takes_room() {
        let mut receiver = receiver();
        assert_eq!(advertise(&mut receiver), 1000);
        receiver.insert(500, Bytes::from_static(&[0; 400]));
        assert_eq!(advertise(&mut receiver), 1000);
        receiver.insert(0, Bytes::from_static(&[0; 300]));
        receiver.read(300);
        // 600 bytes are free, and 700 were promised.
        assert_eq!(advertise(&mut receiver), 700);
        receiver.insert(300, Bytes::from_static(&[0; 200]));
        while receiver.read(600).is_some() {}
        assert_eq!(advertise(&mut receiver), 1000);
    }

    #[test]
    fn data_beyond_the_window_is_not_taken() {
        let mut receiver = receiver();
        assert_eq!(receiver.insert(900, Bytes::from_static(&[0; 200])), 100);
    }

    #[test]
    fn a_peer_may_send_into_room_that_it_was_not_told_of() {
        let mut receiver = receiver();
        receiver.insert(0, Bytes::from_static(&[0; 1000]));
        receiver.read(399);
        assert_eq!(receiver.insert(1000, Bytes::from_static(&[0; 399])), 399);
    }

    fn growing(max_bytes: u64) -> DataReceiver {
        let limits = BufferLimits {
            initial_bytes: 131_072,
            max_bytes,
        };
        DataReceiver::new(99, limits, 1448)
    }

    #[test]
    fn the_buffer_follows_what_is_read_in_a_round_trip() {
        let mut receiver = growing(10_000_000);
        let share = PayloadShare::UNKNOWN;
        assert_eq!(receiver.on_read(0, 0, 10, || share), None);
        assert_eq!(receiver.on_read(9, 14_480, 10, || share), None);
        assert_eq!(receiver.buffer.window_bytes(), 65_536);
        // w = 2 · 28 960, twice as much as before: w + 2w.
        assert_eq!(receiver.on_read(10, 14_480, 10, || share), Some(28_960));
        assert_eq!(receiver.buffer.window_bytes(), 173_760);
        assert_eq!(receiver.on_read(20, 28_960, 10, || share), None);
        assert_eq!(receiver.buffer.window_bytes(), 173_760);
    }

    #[test]
    fn the_window_is_that_of_the_least_share_once_a_round_trip() {
        let mut receiver = growing(400_000);
        receiver.on_read(10, 1 << 40, 10, || PayloadShare::UNKNOWN);
        assert_eq!(receiver.buffer.window_bytes(), 200_000);
        let share = PayloadShare::of_segments(1424);
        receiver.on_read(19, 1, 10, || share);
        assert_eq!(receiver.buffer.window_bytes(), 200_000);
        receiver.on_read(20, 1, 10, || share);
        assert_eq!(receiver.buffer.window_bytes(), 246_875);
    }
}

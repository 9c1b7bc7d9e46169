//! What a connection receives, at the level of data.

use bytes::Bytes;

use super::numbers::DataNumbers;
use super::reassembly::Reassembly;
use super::tuning::Tuning;
use crate::Nanos;

/// Received data, and the window that all subflows share.
#[derive(Debug)]
pub(super) struct Receiver {
    numbers: DataNumbers,
    reassembly: Reassembly,
    /// Offset behind the last byte, where DATA_FIN told it.
    end: Option<u64>,
    /// The application has been told of the end.
    pub(super) told_end: bool,
    tuning: Tuning,
    /// The right edge of the window that was advertised; it never moves back.
    advertised_end: u64,
    /// Payload of a full segment.
    segment_bytes: u64,
}

impl Receiver {
    /// `initial` is the initial data sequence number of the peer.
    pub(super) fn new(initial: u64, tuning: Tuning, segment_bytes: u32) -> Self {
        let advertised_end = tuning.window_bytes();
        Self {
            numbers: DataNumbers::new(initial),
            reassembly: Reassembly::default(),
            end: None,
            told_end: false,
            tuning,
            advertised_end,
            segment_bytes: u64::from(segment_bytes),
        }
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

    /// All data of the peer has come.
    pub(super) fn is_finished(&self) -> bool {
        self.end == Some(self.next())
    }

    /// Bytes that the application can read.
    pub(super) fn ready_bytes(&self) -> u64 {
        self.reassembly.ready_bytes()
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

    /// The peer's key is known now.
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

    /// Where the room ends that there is, or that was promised.
    fn room_end(&self) -> u64 {
        let consumed = self.next() - self.ready_bytes();
        (consumed + self.tuning.window_bytes()).max(self.advertised_end)
    }

    /// Right edge of the window, which moves in steps of a segment or half the window, and never
    /// back: slivers would make the peer send small segments (RFC 9293, section 3.8.6.2.2).
    fn right_edge(&self) -> u64 {
        let step = self.segment_bytes.min(self.tuning.window_bytes() / 2);
        let room_end = self.room_end();
        if room_end - self.advertised_end >= step {
            room_end
        } else {
            self.advertised_end
        }
    }

    /// Window to advertise, counted from the data acknowledgement. After a fallback more may have
    /// come than was offered here.
    pub(super) fn window_bytes(&self) -> u64 {
        self.right_edge().saturating_sub(self.next())
    }

    /// The window was advertised.
    pub(super) fn advertised(&mut self) {
        self.advertised_end = self.right_edge();
    }

    /// The next bytes for the application. `rtt_ns` is the longest round trip of the subflows.
    pub(super) fn read(&mut self, now: Nanos, max_bytes: usize, rtt_ns: Nanos) -> Option<Bytes> {
        let data = self.reassembly.read(max_bytes)?;
        self.tuning.on_read(now, data.len() as u64, rtt_ns);
        Some(data)
    }

    /// Whether reading has opened the window so far that the peer should know: by two segments
    /// or half of it, and by as much as was left.
    pub(super) fn owes_update(&self) -> bool {
        // A peer may send more than it was offered, where reading has made room for it.
        let left = self.advertised_end.saturating_sub(self.next());
        let grown = self.right_edge() - self.advertised_end;
        let much = (2 * self.segment_bytes).min(self.tuning.window_bytes() / 2);
        grown >= much && grown >= left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receiver() -> Receiver {
        Receiver::new(99, Tuning::new(1000, 1000), 200)
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

    #[test]
    fn the_window_counts_from_what_was_read() {
        let mut receiver = receiver();
        receiver.insert(0, Bytes::from_static(&[0; 600]));
        receiver.advertised();
        assert_eq!(receiver.window_bytes(), 400);
        assert!(!receiver.owes_update());
        receiver.read(0, 399, 0);
        assert!(!receiver.owes_update());
        receiver.read(0, 1, 0);
        assert!(receiver.owes_update());
        assert_eq!(receiver.window_bytes(), 800);
    }

    #[test]
    fn the_window_opens_by_a_segment_or_half_of_it_at_once() {
        for (segment_bytes, step) in [(200, 200), (1460, 500)] {
            let mut receiver = Receiver::new(99, Tuning::new(1000, 1000), segment_bytes);
            receiver.insert(0, Bytes::from_static(&[0; 1000]));
            receiver.advertised();
            receiver.read(0, step - 1, 0);
            assert_eq!(receiver.window_bytes(), 0);
            receiver.read(0, 1, 0);
            assert_eq!(receiver.window_bytes(), step as u64);
        }
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
        receiver.read(0, 399, 0);
        assert_eq!(receiver.insert(1000, Bytes::from_static(&[0; 399])), 399);
        assert!(!receiver.owes_update());
        receiver.read(0, 1, 0);
        assert!(receiver.owes_update());
    }
}

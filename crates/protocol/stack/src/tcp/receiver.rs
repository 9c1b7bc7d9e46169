//! The receiving half of a connection: RCV.NXT, the data that has come, the window that is offered,
//! and the acknowledgements that are due (RFC 9293, section 3.3.1).

use bytes::Bytes;
use mptcplab_wire::{SackBlock, Segment};

use super::ack_policy::AckPolicy;
use super::config::BufferLimits;
use super::receive_buffer::PayloadShare;
use super::receive_queue::{Arrival, ReceiveQueue};
use super::receive_window::{ReceiveWindow, SharedWindow};
use crate::Nanos;
use crate::sequence::Numbering;

/// State of the receiving half. The window follows the data that comes and that is read.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    numbers: Numbering,
    queue: ReceiveQueue,
    window: ReceiveWindow,
    acks: AckPolicy,
}

/// Place of a segment's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// New data in order.
    InOrder {
        /// How far RCV.NXT has moved.
        bytes: u64,
        /// To be acknowledged at once.
        at_once: bool,
    },
    /// Data beyond a hole.
    Early,
    /// Nothing new.
    Duplicate,
    /// Beyond a hole, and there is no room.
    Dropped,
}

impl Receiver {
    /// The receiving half before the peer's SYN.
    pub(crate) fn new(buffer: BufferLimits, mss: u32) -> Self {
        Self {
            numbers: Numbering::default(),
            queue: ReceiveQueue::new(1),
            window: ReceiveWindow::new(buffer, mss),
            acks: AckPolicy::new(1),
        }
    }

    /// Takes sequence number and window scaling of the peer's SYN or SYN/ACK.
    pub(crate) fn on_syn(&mut self, syn: &Segment) {
        self.numbers = Numbering::new(syn.sequence);
        if syn.options.window_shift.is_none() {
            self.window.disable_scaling();
        }
    }

    /// RCV.NXT.
    #[inline]
    pub(crate) fn next(&self) -> u64 {
        self.queue.next()
    }

    /// The sequence number of an offset.
    #[inline]
    pub(crate) fn wire(&self, offset: u64) -> u32 {
        self.numbers.wire(offset)
    }

    /// The offset of a sequence number: the one closest to RCV.NXT.
    #[inline]
    pub(crate) fn offset(&self, number: u32) -> Option<u64> {
        self.numbers.offset(number, self.queue.next())
    }

    /// Whether a range of offsets touches the window that was offered.
    #[inline]
    pub(crate) fn is_in_window(&self, start: u64, end: u64) -> bool {
        let next = self.queue.next();
        end >= self.acks.told().min(next) && start <= self.window.right().max(next)
    }

    /// RCV.NXT of the last acknowledgement sent.
    #[inline]
    pub(crate) fn acknowledged(&self) -> u64 {
        self.acks.told()
    }

    /// Bytes that stand ready to be taken.
    #[inline]
    pub(crate) fn ready_bytes(&self) -> u64 {
        self.queue.ready_bytes()
    }

    /// Takes up to `max_bytes` of the data that is ready, with their offset.
    pub(crate) fn take(&mut self, max_bytes: usize) -> Option<(u64, Bytes)> {
        self.queue.take(max_bytes)
    }

    /// Lets the buffer follow the application, which has read `bytes`.
    pub(crate) fn on_read(&mut self, now: Nanos, bytes: u64) {
        let ready = self.queue.ready_bytes();
        let beyond = self.queue.beyond_bytes();
        self.window.on_read(now, bytes, ready, beyond);
    }

    /// Whether reading has made so much room that the peer should know.
    pub(crate) fn should_update_window(&self) -> bool {
        self.window
            .should_update(self.queue.next(), self.queue.held_bytes())
    }

    /// The same where the owner has so much room.
    pub(crate) fn should_update_shared_window(&self, free_bytes: u64) -> bool {
        self.window
            .should_update_shared(self.queue.next(), free_bytes)
    }

    /// Takes the window that the owner has promised on another subflow, where data up to `end`
    /// needs it.
    pub(crate) fn promise(&mut self, end: u64, promised_bytes: u64) {
        if end > self.window.right() {
            self.window.promise(self.queue.next(), promised_bytes);
        }
    }

    /// Cuts payload off that lies beyond the window. True where there was any.
    #[inline]
    pub(crate) fn fit_window(&self, start: u64, payload: &mut Bytes) -> bool {
        let right = self.window.right();
        let beyond = start + payload.len() as u64 > right;
        if beyond {
            payload.truncate(right.saturating_sub(start) as usize);
        }
        beyond
    }

    /// Takes payload within the window, `pushed` by PSH. `round_trip` is that of the segment's
    /// timestamp, with the timestamp.
    pub(crate) fn insert(
        &mut self,
        now: Nanos,
        start: u64,
        payload: Bytes,
        pushed: bool,
        rto_ns: Nanos,
        round_trip: impl FnOnce() -> Option<(Nanos, u32)>,
    ) -> Received {
        let bytes = payload.len() as u64;
        let before = self.queue.next();
        let room = self.window.early_room_bytes();
        match self.queue.insert(start, payload, room) {
            Arrival::InOrder { filled } => {
                let next = self.queue.next();
                self.window.on_data(bytes, self.queue.held_bytes());
                // The window is tuned by the round trip of timestamps: a receiver has no other.
                if let Some((elapsed, echo)) = round_trip() {
                    self.window.sample_rtt(elapsed, echo);
                }
                let at_once = self.acks.on_data(now, bytes, pushed, next, rto_ns)
                    || filled
                    || self.has_sack_blocks();
                Received::InOrder {
                    bytes: next - before,
                    at_once,
                }
            }
            Arrival::Early => {
                let held = self.queue.held_bytes();
                self.window.on_early(self.queue.beyond_bytes());
                self.window.on_data(bytes, held);
                Received::Early
            }
            Arrival::Duplicate => Received::Duplicate,
            Arrival::Dropped => Received::Dropped,
        }
    }

    /// Notes that data before RCV.NXT came again: a D-SACK tells it.
    pub(crate) fn note_duplicate(&mut self, start: u64, end: u64) {
        self.queue.note_duplicate(start, end);
    }

    /// Notes where the data ends, and gives whether all of it has come.
    pub(crate) fn end_at(&mut self, offset: u64) -> bool {
        self.queue.end_at(offset)
    }

    /// Whether the FIN came earlier, and what was missing before it has come now.
    #[inline]
    pub(crate) fn reaches_end(&mut self) -> bool {
        self.queue.reaches_end()
    }

    /// Forgets data beyond a hole.
    pub(crate) fn drop_early(&mut self) {
        self.queue.drop_early();
    }

    /// Whether an acknowledgement has selective ones to tell.
    #[inline]
    pub(crate) fn has_sack_blocks(&self) -> bool {
        self.queue.has_hole() || self.queue.has_duplicate()
    }

    /// Selective acknowledgements, at most `count`. A D-SACK is told once.
    pub(crate) fn sack_blocks(&mut self, count: usize) -> impl Iterator<Item = SackBlock> {
        let numbers = self.numbers;
        self.queue
            .blocks(count)
            .map(move |(left, right)| SackBlock {
                left: numbers.wire(left),
                right: numbers.wire(right),
            })
    }

    /// Window scale for the SYN or SYN/ACK.
    pub(crate) fn window_shift(&self) -> Option<u8> {
        self.window.shift()
    }

    /// The window field of a SYN, which is not scaled.
    pub(crate) fn syn_window(&mut self) -> u16 {
        self.window.syn_window(1)
    }

    /// The window field of a segment that acknowledges RCV.NXT; of the owner's window where it is
    /// shared.
    pub(crate) fn advertise(&mut self, shared: Option<SharedWindow>) -> u16 {
        let next = self.queue.next();
        match shared {
            Some(shared) => self.window.advertise_shared(next, shared),
            None => self.window.advertise(next, self.queue.held_bytes()),
        }
    }

    /// The last window that was advertised.
    pub(crate) fn advertised_bytes(&self) -> u64 {
        self.window.advertised_bytes()
    }

    /// Notes that an acknowledgement has gone out.
    #[inline]
    pub(crate) fn on_ack_sent(&mut self) {
        self.acks.on_ack_sent(self.queue.next());
    }

    /// Whether an acknowledgement is owed once the application has read all.
    pub(crate) fn owes_ack(&self) -> bool {
        self.acks.is_owed(self.queue.next())
    }

    /// Notes that data was sent, which may be an answer.
    #[inline]
    pub(crate) fn on_data_sent(&mut self, now: Nanos, delay_ns: Nanos) {
        self.acks.on_data_sent(now, delay_ns);
    }

    /// Notes that the delay of an acknowledgement ran out.
    pub(crate) fn on_ack_timer(&mut self) {
        self.acks.on_timer();
    }

    /// Part of the buffer's memory that is payload.
    pub(crate) fn share(&self) -> PayloadShare {
        self.window.share()
    }

    /// Follows the owner's buffer, which grew by the bytes that its application read in a round
    /// trip.
    pub(crate) fn follow(&mut self, read_bytes: u64) {
        self.window.follow(read_bytes);
    }

    /// Bytes that the application reads in a round trip.
    pub(crate) fn space_bytes(&self) -> u64 {
        self.window.space_bytes()
    }

    /// The round trip as a receiver sees it; 0 before the first sample.
    pub(crate) fn rtt_ns(&self) -> Nanos {
        self.window.rtt_ns()
    }

    /// Sets the round trip of the handshake.
    pub(crate) fn set_rtt(&mut self, rtt_ns: Nanos) {
        self.window.set_rtt(rtt_ns);
    }
}

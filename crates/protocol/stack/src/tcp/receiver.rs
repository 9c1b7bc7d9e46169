//! The receiving half of a connection: RCV.NXT, the data that has come, the window that is offered,
//! and the acknowledgements that are due (RFC 9293, section 3.3.1).

use bytes::Bytes;
use mptcplab_wire::{SackBlock, Segment};

use super::ack_policy::{AckPolicy, AckTime, DataSegment};
use super::config::BufferLimits;
use super::receive_buffer::PayloadShare;
use super::receive_queue::{Arrival, ReceiveQueue};
use super::receive_rtt::ReceiveRtt;
use super::receive_window::{ReceiveWindow, SharedWindow, TIMESTAMPS_BYTES};
use crate::Nanos;
use crate::sequence::Numbering;

/// State of the receiving half. The window follows the data that comes and that is read.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    numbers: Numbering,
    queue: ReceiveQueue,
    window: ReceiveWindow,
    rtt: ReceiveRtt,
    acks: AckPolicy,
    /// Acknowledgements may tell of data beyond a hole.
    is_selective: bool,
}

/// Place of a segment's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// New data in order.
    InOrder {
        /// How far RCV.NXT has moved.
        bytes: u64,
        /// When to acknowledge it.
        ack: AckTime,
    },
    /// Data beyond a hole.
    Early {
        /// When to tell of it.
        ack: AckTime,
    },
    /// Nothing new.
    Duplicate,
    /// Beyond a hole, and there is no room.
    Dropped,
}

impl Receiver {
    /// The receiving half before the peer's SYN.
    pub(crate) fn new(buffer: BufferLimits, mss: u32) -> Self {
        let full_bytes = u64::from(mss).saturating_sub(TIMESTAMPS_BYTES);
        Self {
            numbers: Numbering::default(),
            queue: ReceiveQueue::new(1),
            window: ReceiveWindow::new(buffer, mss),
            rtt: ReceiveRtt::default(),
            acks: AckPolicy::new(1, full_bytes),
            is_selective: false,
        }
    }

    /// Takes sequence number, window scaling and SACK of the peer's SYN or SYN/ACK. Segments have
    /// so many bytes of options from now on.
    pub(crate) fn on_syn(&mut self, syn: &Segment, option_bytes: u64) {
        self.window.on_syn(option_bytes);
        self.is_selective = syn.options.sack_permitted;
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

    /// Bytes that came before what precedes them.
    pub(crate) fn early_bytes(&self) -> u64 {
        self.queue.beyond_bytes()
    }

    /// Takes up to `max_bytes` of the data that is ready, with their offset.
    pub(crate) fn take(&mut self, max_bytes: usize) -> Option<(u64, Bytes)> {
        self.queue.take(max_bytes)
    }

    /// Lets the buffer follow the application, which has read `bytes`.
    pub(crate) fn on_read(&mut self, now: Nanos, bytes: u64) {
        let ready = self.queue.ready_bytes();
        let beyond = self.queue.beyond_bytes();
        self.window
            .on_read(now, bytes, self.rtt.get_ns(), ready, beyond);
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
    pub(crate) fn fit_window(&mut self, start: u64, payload: &mut Bytes) -> bool {
        let right = self.window.right();
        let beyond = start + payload.len() as u64 > right;
        if beyond {
            payload.truncate(right.saturating_sub(start) as usize);
            self.acks.on_useless();
        }
        beyond
    }

    /// Takes payload within the window, which came in `segment`. What is in order may be taken from
    /// here at once, before anything is acknowledged: by the connection of a subflow.
    pub(crate) fn insert(
        &mut self,
        now: Nanos,
        start: u64,
        payload: Bytes,
        segment: &DataSegment,
        rto_ns: Nanos,
        is_taken_at_once: bool,
    ) -> Received {
        let before = self.queue.next();
        let room = self.window.early_room_bytes();
        match self.queue.insert(start, payload, room) {
            Arrival::InOrder { filled } => {
                self.acks.on_data(now, segment, rto_ns);
                self.grow_window(segment);
                let window = self.window.advertised_bytes();
                self.rtt.on_data(now, start + segment.bytes, window);
                let ack = if filled && !self.queue.has_hole() || self.queue.has_duplicate() {
                    AckTime::Now
                } else {
                    self.ack_time(is_taken_at_once)
                };
                let bytes = self.queue.next() - before;
                Received::InOrder { bytes, ack }
            }
            Arrival::Early { untold } => {
                self.acks.on_early(segment);
                self.window.on_early(self.queue.beyond_bytes());
                self.grow_window(segment);
                let ack = self.ack_time(is_taken_at_once);
                // Source: `tcp_sack_new_ofo_skb` in Linux 6.18, net/ipv4/tcp_input.c.
                let ack = if untold { AckTime::Now } else { ack };
                Received::Early { ack }
            }
            Arrival::Duplicate => {
                self.acks.on_useless();
                Received::Duplicate
            }
            Arrival::Dropped => Received::Dropped,
        }
    }

    fn grow_window(&mut self, segment: &DataSegment) {
        if self.window.on_data(segment.bytes, self.queue.held_bytes()) {
            self.acks.on_larger_window();
        }
    }

    fn ack_time(&mut self, is_taken_at_once: bool) -> AckTime {
        let sacks = self.queue.has_hole().then_some(self.is_selective);
        let is_room_taken = !is_taken_at_once && self.window.is_narrower(self.queue.held_bytes());
        self.acks.time(self.queue.next(), sacks, is_room_taken)
    }

    /// Notes that data before RCV.NXT came again: a D-SACK tells it.
    pub(crate) fn note_duplicate(&mut self, start: u64, end: u64) {
        self.acks.on_useless();
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
        let held = self.queue.held_bytes();
        if shared.map_or_else(|| self.window.is_scarce(held), |shared| shared.is_scarce) {
            self.acks.on_scarce_window();
        }
        match shared {
            Some(shared) => self.window.advertise_shared(next, shared),
            None => self.window.advertise(next, held),
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
        self.acks.is_owed(self.queue.next()) && !self.queue.has_hole()
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

    /// Memory that the buffer holds at most.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.window.memory_bytes()
    }

    /// Bytes that the application reads in a round trip.
    pub(crate) fn space_bytes(&self) -> u64 {
        self.window.space_bytes()
    }

    /// The round trip as a receiver sees it; 0 before the first sample.
    pub(crate) fn rtt_ns(&self) -> Nanos {
        self.rtt.get_ns()
    }

    /// A segment with so much payload, 0 too, echoes a timestamp that is so old.
    pub(crate) fn on_echo(&mut self, echo: u32, elapsed_ns: Option<Nanos>, payload_bytes: u64) {
        let sample = elapsed_ns.filter(|_| self.acks.is_full(payload_bytes));
        let all_read = self.queue.ready_bytes() == 0;
        self.rtt.on_echo(echo, sample.unwrap_or(0), all_read);
    }
}

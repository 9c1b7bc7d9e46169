//! The sending half of a connection: SND.UNA, SND.NXT and SND.WND (RFC 9293, section 3.3.1), and
//! the data that was handed over and not acknowledged.

use bytes::Bytes;
use mptcplab_wire::Segment;

use super::extension::DataMapping;
use super::peer_window::PeerWindow;
use super::send_queue::SendQueue;
use super::send_sequence::SendSequence;
use crate::stretch::Stretch;

/// State of the sending half. What goes out follows the order in which it was handed over; a FIN
/// comes last.
#[derive(Clone, Debug)]
pub(crate) struct SendState {
    sequence: SendSequence,
    queue: SendQueue,
    /// No data follows what is queued.
    shut: bool,
    window: PeerWindow,
    /// The window is that of the whole MPTCP connection, and the owner obeys it.
    window_shared: bool,
}

impl SendState {
    /// The state of a connection whose SYN is to be sent.
    pub(crate) fn new(initial: u32) -> Self {
        Self {
            sequence: SendSequence::new(initial),
            queue: SendQueue::new(1),
            shut: false,
            window: PeerWindow::default(),
            window_shared: false,
        }
    }

    /// Takes window and window scale of the peer's SYN or SYN/ACK.
    pub(crate) fn on_syn(&mut self, syn: &Segment) {
        if let Some(shift) = syn.options.window_shift {
            self.window.set_shift(shift);
        }
        self.window.set_unscaled(syn, 0, 0);
    }

    /// SND.UNA.
    #[inline]
    pub(crate) fn una(&self) -> u64 {
        self.sequence.una()
    }

    /// SND.NXT.
    #[inline]
    pub(crate) fn next(&self) -> u64 {
        self.sequence.next()
    }

    /// The sequence number of an offset.
    #[inline]
    pub(crate) fn wire(&self, offset: u64) -> u32 {
        self.sequence.wire(offset)
    }

    /// The offset of a sequence number: the one closest to SND.UNA.
    #[inline]
    pub(crate) fn offset(&self, number: u32) -> Option<u64> {
        self.sequence.offset(number)
    }

    /// Bytes sent and not acknowledged, the SYN aside.
    #[inline]
    pub(crate) fn outstanding_bytes(&self) -> u64 {
        self.sequence.outstanding_bytes()
    }

    /// Notes that the SYN was acknowledged.
    pub(crate) fn on_syn_acknowledged(&mut self) {
        self.sequence.on_syn_acknowledged();
    }

    /// Moves SND.UNA. Gives the bytes of data acknowledged, without SYN and FIN.
    #[inline]
    pub(crate) fn acknowledge(&mut self, acknowledged: u64) -> u64 {
        self.sequence.acknowledge(acknowledged)
    }

    /// Whether the FIN was acknowledged.
    #[inline]
    pub(crate) fn is_fin_acknowledged(&self) -> bool {
        self.sequence.is_fin_acknowledged()
    }

    /// Queues data, unless no more may follow.
    pub(crate) fn push(&mut self, payload: Stretch, mapping: Option<DataMapping>, segment: usize) {
        if !self.shut {
            self.queue.push(payload, mapping, segment);
        }
    }

    /// Marks the last segment that waits as the end of what was handed over together.
    pub(crate) fn mark_push(&mut self) {
        self.queue.mark_push();
    }

    /// Room in the last segment that waits for data with this number, which follows on it.
    pub(crate) fn last_room_bytes(&self, data_sequence: u64, segment: usize) -> Option<usize> {
        self.queue.room(data_sequence, segment)
    }

    /// Lets no more data follow: a FIN goes out after what is queued.
    pub(crate) fn shut(&mut self) {
        self.shut = true;
    }

    /// Whether no more data may follow.
    #[inline]
    pub(crate) fn is_shut(&self) -> bool {
        self.shut
    }

    /// Whether a FIN is to be sent now.
    #[inline]
    pub(crate) fn fin_is_due(&self) -> bool {
        self.shut && !self.sequence.is_fin_sent() && self.queue.is_empty()
    }

    /// Whether data waits to be sent.
    #[inline]
    pub(crate) fn has_queued(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Bytes that wait to be sent.
    #[inline]
    pub(crate) fn queued_bytes(&self) -> u64 {
        self.queue.bytes()
    }

    /// Segments that wait to be sent.
    #[inline]
    pub(crate) fn queued_segments(&self, segment_bytes: u64) -> u64 {
        self.queue.segments(segment_bytes)
    }

    /// Forgets the data that waits to be sent.
    pub(crate) fn drop_queued(&mut self) {
        self.queue.drop_unsent();
    }

    /// Forgets all data, as none is sent any more.
    pub(crate) fn drop_all(&mut self) {
        self.queue.clear();
    }

    /// Forgets data before an offset: none of it is sent again.
    #[inline]
    pub(crate) fn release(&mut self, offset: u64) {
        self.queue.release(offset);
    }

    /// The payload of a segment that was sent, and its mapping.
    pub(crate) fn sent(&self, offset: u64, bytes: usize) -> (Bytes, Option<DataMapping>) {
        self.queue.sent(offset, bytes)
    }

    /// Length of the next segment, as far as the queue has it.
    #[inline]
    pub(crate) fn next_bytes(&self, segment_bytes: u64) -> u64 {
        self.queue.next_bytes(segment_bytes)
    }

    /// Whether the next segment has bounds of its own.
    #[inline]
    pub(crate) fn next_is_mapped(&self) -> bool {
        self.queue.next_is_mapped()
    }

    /// Takes the next segment from the queue, and whether a FIN follows it.
    #[inline]
    pub(crate) fn take(&mut self, bytes: usize) -> (Bytes, Option<DataMapping>, bool) {
        let (payload, mapping) = self.queue.take(bytes);
        (payload, mapping, self.queue.is_empty() && self.shut)
    }

    /// Moves SND.NXT over data, and over a FIN that follows it. Gives the offset of the first byte.
    #[inline]
    pub(crate) fn send(&mut self, bytes: u64, fin: bool, segment_bytes: u64) -> u64 {
        self.sequence.send(bytes, fin, segment_bytes)
    }

    /// SND.WND.
    #[inline]
    pub(crate) fn window_bytes(&self) -> u64 {
        self.window.bytes()
    }

    /// Takes the window of a segment unless a newer one told another. True where it changed.
    #[inline]
    pub(crate) fn update_window(&mut self, segment: &Segment, start: u64, acked: u64) -> bool {
        self.window.update(segment, start, acked)
    }

    /// Raises the window to that which another subflow was offered.
    pub(crate) fn raise_window(&mut self, bytes: u64) {
        self.window.raise(bytes);
    }

    /// Whether the window is that of the whole MPTCP connection.
    #[inline]
    pub(crate) fn is_window_shared(&self) -> bool {
        self.window_shared
    }

    /// Sets whether the window is that of the whole MPTCP connection.
    pub(crate) fn share_window(&mut self, shared: bool) {
        self.window_shared = shared;
    }

    /// The oldest acknowledgement that may still be on its way (RFC 5961, section 5.2).
    #[inline]
    pub(crate) fn oldest_acknowledgement(&self) -> u64 {
        self.una().saturating_sub(self.window.largest_bytes())
    }

    /// Room for new data in the peer's window. One that all subflows share is obeyed at the
    /// level of data; it holds for each of them too, as a peer drops what lies beyond, and a path
    /// that does not scale windows has a smaller one. There a subflow that waits for nothing may
    /// send all the same: what it was handed is within the window of the data.
    #[inline]
    pub(crate) fn window_room_bytes(&self) -> u64 {
        if self.window_shared && self.next() == self.una() {
            return u64::MAX;
        }
        (self.una() + self.window.bytes()).saturating_sub(self.next())
    }

    /// Whether new data waits that may go out.
    pub(crate) fn may_send_new(&self) -> bool {
        self.has_queued() && self.window_room_bytes() > 0
    }

    /// Bytes of a segment that the peer's window takes; no silly parts of it (RFC 9293,
    /// section 3.8.6.2.1) unless `silly`.
    #[inline]
    pub(crate) fn fit_window(&self, wanted: u64, silly: bool) -> Option<u64> {
        let usable = self.window_room_bytes();
        if usable >= wanted {
            return Some(wanted);
        }
        let large = 2 * usable >= self.window.largest_bytes();
        let worth = usable > 0 && (large || silly);
        (worth && !self.next_is_mapped()).then_some(usable)
    }

    /// Nagle's algorithm (RFC 9293, section 3.7.4) in Minshall's form: whether a segment that is
    /// not full may go, one at a time, but for one that more data follows and none can be added to.
    #[inline]
    pub(crate) fn small_may_go(&self, bytes: u64) -> bool {
        let last = bytes == self.queue.bytes();
        let complete = if last {
            self.shut
        } else {
            self.next_is_mapped()
        };
        complete || !self.sequence.awaits_small()
    }
}

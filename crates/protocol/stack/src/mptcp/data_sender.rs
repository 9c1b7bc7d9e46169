//! Sending at the level of data.

use bytes::Bytes;
use mptcplab_wire::option::DataNumber;

use super::fragments::Fragments;
use super::numbers::DataNumbers;
use super::ranges::Ranges;
use super::retransmission_timer::RetransmissionTimer;
use super::send_queue::SendQueue;
use crate::stretch::Stretch;

/// Data to send, what the peer has acknowledged of it, and what is to be sent again.
#[derive(Clone, Debug)]
pub(super) struct DataSender {
    numbers: DataNumbers,
    queue: SendQueue,
    fragments: Fragments,
    /// First byte that no subflow was given.
    next: u64,
    /// End of the peer's window.
    window_end: u64,
    /// Data that a subflow was given and may have lost.
    again: Ranges,
    /// Notes that the application writes no more.
    shut: bool,
    fin: Fin,
    /// DATA_FIN stands in the mapping of the last data.
    fin_with_data: bool,
    pub(super) timer: RetransmissionTimer,
    /// Data sent again, in bytes.
    pub(super) bytes_again: u64,
}

/// DATA_FIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fin {
    /// Not sent.
    None,
    /// Sent, not acknowledged.
    Sent,
    /// Acknowledged.
    Acknowledged,
}

impl DataSender {
    /// `initial` is the initial data sequence number of this end.
    pub(super) fn new(initial: u64) -> Self {
        Self {
            numbers: DataNumbers::new(initial),
            queue: SendQueue::default(),
            fragments: Fragments::default(),
            next: 0,
            window_end: 0,
            again: Ranges::default(),
            shut: false,
            fin: Fin::None,
            fin_with_data: false,
            timer: RetransmissionTimer::default(),
            bytes_again: 0,
        }
    }

    pub(super) fn numbers(&self) -> DataNumbers {
        self.numbers
    }

    pub(super) fn acknowledged(&self) -> u64 {
        self.queue.start()
    }

    pub(super) fn next(&self) -> u64 {
        self.next
    }

    pub(super) fn end(&self) -> u64 {
        self.queue.end()
    }

    pub(super) fn window_end(&self) -> u64 {
        self.window_end
    }

    /// Memory of what was written and not acknowledged.
    pub(super) fn memory_bytes(&self) -> u64 {
        self.queue.len() + self.fragments.header_bytes()
    }

    /// Takes data of the application, as much as fragments have room for in so much memory. Gives
    /// how many bytes.
    pub(super) fn write(&mut self, data: Bytes, memory_bytes: u64) -> usize {
        let room = memory_bytes.saturating_sub(self.memory_bytes());
        let end = self.queue.end();
        let is_waiting = self.next < end || self.again().is_some();
        let offered = data.len() as u64;
        let taken = self.fragments.push(end, offered, room, is_waiting) as usize;
        self.queue.push(Stretch::new(data, taken));
        taken
    }

    /// End of the fragment with the last byte before `offset`.
    pub(super) fn fragment_end(&self, offset: u64) -> u64 {
        self.fragments.end_of(offset)
    }

    /// Notes that the application writes no more.
    pub(super) fn shut(&mut self) {
        self.shut = true;
    }

    pub(super) fn is_shut(&self) -> bool {
        self.shut
    }

    /// Data acknowledgement of the peer, and the window that came with it. Gives the bytes newly
    /// acknowledged; an acknowledgement of what was not sent is ignored.
    pub(super) fn acknowledge(&mut self, number: DataNumber, window_bytes: u64) -> Acknowledged {
        let mut result = Acknowledged::default();
        let near = self.queue.start();
        let Some(offset) = self.numbers.offset(number, near) else {
            return result;
        };
        let fin_sent = self.fin != Fin::None;
        if offset > self.next + u64::from(fin_sent) || offset < self.queue.start() {
            return result;
        }
        let window_end = offset + window_bytes;
        if window_end > self.window_end {
            self.window_end = window_end;
            result.window_grew = true;
        }
        if fin_sent && offset == self.queue.end() + 1 && self.fin == Fin::Sent {
            self.fin = Fin::Acknowledged;
            result.fin = true;
        }
        let before = self.queue.start();
        self.release(offset);
        result.bytes = self.queue.start() - before;
        result
    }

    /// Forgets data before an offset.
    pub(super) fn release(&mut self, offset: u64) {
        self.queue.release(offset);
        self.fragments.release(self.queue.start());
        self.again.remove_before(self.queue.start());
    }

    /// Bytes at an offset, for a subflow.
    pub(super) fn slice(&self, from: u64, bytes: u64) -> Stretch {
        self.queue.slice(from, bytes as usize)
    }

    /// Notes that a subflow was given the data up to `end`.
    pub(super) fn handed(&mut self, from: u64, end: u64) {
        if from < self.next {
            self.bytes_again += end.min(self.next) - from;
        }
        self.next = self.next.max(end);
    }

    /// Data that is to be sent again.
    pub(super) fn again(&self) -> Option<(u64, u64)> {
        self.again.first()
    }

    /// Asks for data to be sent again; what is acknowledged or was never sent is left out.
    pub(super) fn ask_again(&mut self, from: u64, to: u64) {
        self.again
            .insert(from.max(self.queue.start()), to.min(self.next));
    }

    /// Notes that data that was asked for again is on its way up to `offset`.
    pub(super) fn sent_again(&mut self, offset: u64) {
        self.again.remove_before(offset);
    }

    /// Sends nothing again, as the connection is plain TCP now, or has ended.
    pub(super) fn forget_again(&mut self) {
        self.again.clear();
        self.timer.stop();
    }

    /// The number of DATA_FIN where it is to be signalled: all data was handed to subflows, and it
    /// is not acknowledged yet.
    pub(super) fn fin_to_signal(&self) -> Option<u64> {
        (self.fin == Fin::Sent).then(|| self.numbers.wire(self.queue.end()))
    }

    /// Sends DATA_FIN where it is time. True where it was.
    pub(super) fn send_fin(&mut self) -> bool {
        let due = self.shut && self.fin == Fin::None && self.next == self.queue.end();
        if due {
            self.fin = Fin::Sent;
        }
        due
    }

    /// Notes that the mapping of the last data has DATA_FIN.
    pub(super) fn fin_goes_with_data(&mut self) {
        self.fin_with_data = true;
    }

    pub(super) fn fin_went_with_data(&self) -> bool {
        self.fin_with_data
    }

    /// Whether DATA_FIN is acknowledged.
    pub(super) fn is_finished(&self) -> bool {
        self.fin == Fin::Acknowledged
    }

    /// Whether something is on its way to the peer at the level of data.
    fn awaits_acknowledgement(&self) -> bool {
        self.queue.start() < self.next || self.fin == Fin::Sent
    }

    /// Whether the peer's window holds data back, and nothing is on its way that would open it.
    pub(super) fn is_blocked(&self) -> bool {
        let held = self.next < self.queue.end() && self.next >= self.window_end;
        held && self.queue.start() == self.next
    }

    /// Whether new data may be handed out.
    pub(super) fn may_send_new(&self) -> bool {
        self.next < self.queue.end().min(self.window_end)
    }

    /// Sets the peer's first window, which the handshake told.
    pub(super) fn open_window(&mut self, bytes: u64) {
        self.window_end = self.window_end.max(bytes);
    }

    /// Waits for the peer: for an acknowledgement, or for room in its window.
    pub(super) fn awaits_peer(&self) -> bool {
        self.awaits_acknowledgement() || self.is_blocked()
    }
}

/// Effect of a data acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Acknowledged {
    /// Bytes newly acknowledged.
    pub(super) bytes: u64,
    /// DATA_FIN was acknowledged by it.
    pub(super) fin: bool,
    /// The window's end moved.
    pub(super) window_grew: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sender() -> DataSender {
        let mut sender = DataSender::new(99);
        sender.write(Bytes::from_static(&[0; 1000]), u64::MAX);
        sender.handed(0, 600);
        sender
    }

    #[test]
    fn an_acknowledgement_of_what_was_not_sent_is_ignored() {
        let mut sender = sender();
        for number in [701, 99, 0, u64::MAX] {
            let acknowledged = sender.acknowledge(DataNumber::Long(number), 5000);
            assert_eq!(acknowledged, Acknowledged::default());
        }
        let acknowledged = sender.acknowledge(DataNumber::Long(700), 5000);
        assert_eq!((acknowledged.bytes, sender.acknowledged()), (600, 600));
        assert_eq!(sender.window_end(), 5600);
    }

    #[test]
    fn the_window_never_moves_back() {
        let mut sender = sender();
        sender.acknowledge(DataNumber::Long(100), 5000);
        let acknowledged = sender.acknowledge(DataNumber::Long(200), 100);
        assert_eq!((acknowledged.bytes, acknowledged.window_grew), (100, false));
        assert_eq!(sender.window_end(), 5000);
    }

    #[test]
    fn the_data_fin_takes_the_number_after_the_last_byte_and_follows_all_data() {
        let mut sender = sender();
        sender.shut();
        assert!(!sender.send_fin());
        sender.handed(600, 1000);
        assert!(sender.send_fin());
        assert_eq!(sender.fin_to_signal(), Some(1100));
        assert!(!sender.acknowledge(DataNumber::Long(1100), 0).fin);
        assert!(sender.acknowledge(DataNumber::Long(1101), 0).fin);
        assert!(sender.is_finished());
        assert_eq!(sender.fin_to_signal(), None);
    }

    #[test]
    fn what_is_acknowledged_is_not_sent_again() {
        let mut sender = sender();
        sender.ask_again(0, 10_000);
        assert_eq!(sender.again(), Some((0, 600)));
        sender.acknowledge(DataNumber::Long(300), 0);
        assert_eq!(sender.again(), Some((200, 600)));
        sender.sent_again(400);
        assert_eq!(sender.again(), Some((400, 600)));
    }
}

//! How much the application may write ahead of the data acknowledgements.
//!
//! Source: `mptcp_sendmsg` and `__mptcp_sync_sndbuf` in Linux 6.18, net/mptcp.

use super::connection::Connection;
use super::subflow::Subflow;
use crate::event::Event;
use crate::scheduler::FRAGMENT_BYTES;

/// Size of a connection's buffer beside those of its subflows (`tcp_wmem`, the first number).
const OWN_BYTES: u64 = 4096;

/// Send buffer of a connection.
#[derive(Debug)]
pub(super) struct SendBuffer {
    bytes: u64,
    /// A write was not taken in full: the application waits for room.
    awaited: bool,
}

impl SendBuffer {
    /// The buffer at the start, with that of a first subflow whose handshake has not ended: the
    /// connection learns of the one after it with the first acknowledgement that makes room.
    pub(super) fn new(initial_bytes: u64) -> Self {
        Self {
            bytes: OWN_BYTES + initial_bytes,
            awaited: false,
        }
    }

    /// Gives how much of a write is taken where so many bytes are queued: while the buffer is not
    /// full, whole fragments.
    pub(super) fn take(&mut self, queued_bytes: u64, offered: usize) -> usize {
        let room = self.bytes.saturating_sub(queued_bytes);
        let room = room.next_multiple_of(FRAGMENT_BYTES);
        let taken = usize::try_from(room).unwrap_or(usize::MAX).min(offered);
        self.awaited = taken < offered;
        taken
    }

    /// Whether the application is to be told of room: it waits, and at least a third of the buffer
    /// is free, which is worth waking it for.
    fn take_offer(&mut self, queued_bytes: u64) -> bool {
        let offer = self.awaited && 3 * queued_bytes <= 2 * self.bytes;
        if offer {
            self.awaited = false;
        }
        offer
    }

    /// Takes the sum of the buffers of the subflows. Theirs count the memory of packets; here data
    /// counts with its bytes alone.
    fn sum<'a>(&mut self, subflows: impl Iterator<Item = &'a Subflow>) {
        let open = subflows.filter(|subflow| !subflow.is_over());
        let sum: u64 = open
            .map(|subflow| subflow.tcp.send_buffer_memory_bytes())
            .sum();
        self.bytes = OWN_BYTES + sum;
    }
}

impl Connection {
    /// Sets the buffer to the sum of those of the subflows.
    pub(super) fn sum_send_buffers(&mut self) {
        self.send_buffer.sum(self.subflows.iter());
    }

    /// Where the application waits for room, widens the buffers of the subflows that had something
    /// acknowledged.
    pub(super) fn widen_send_buffers(&mut self) {
        let awaited = self.send_buffer.awaited;
        let mut acknowledged = false;
        for subflow in self.subflows.iter_mut() {
            if core::mem::take(&mut subflow.acknowledged) {
                subflow.tcp.widen_send_buffer(awaited);
                acknowledged = true;
            }
        }
        if acknowledged && awaited {
            self.sum_send_buffers();
            self.offer_room();
        }
    }

    /// Tells the application that there is room again where it waits for that.
    pub(super) fn offer_room(&mut self) {
        if self.send_buffer.take_offer(self.sender.queued_bytes()) {
            self.event(Event::Writable { id: self.id });
        }
    }
}

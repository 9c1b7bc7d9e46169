//! How much the application may write ahead of the data acknowledgements.
//!
//! Source: `mptcp_sendmsg` and `__mptcp_sync_sndbuf` in Linux 6.18, net/mptcp.

use super::connection::Connection;
use crate::scheduler::FRAGMENT_BYTES;

/// What a connection's buffer has beside those of its subflows (`tcp_wmem`, the first number).
const OWN_BYTES: u64 = 4096;

impl Connection {
    /// The size at the start, before anything was acknowledged on the first subflow.
    pub(super) fn first_send_buffer_bytes(initial_bytes: u64) -> u64 {
        OWN_BYTES + initial_bytes
    }

    /// How much the application may write now: while the buffer is not full, whole fragments.
    pub(super) fn write_room_bytes(&self) -> u64 {
        let room = self.send_buffer_bytes.saturating_sub(self.queued_bytes());
        room.next_multiple_of(FRAGMENT_BYTES)
    }

    /// At least a third of the send buffer is free: worth waking the writer for.
    pub(super) fn has_room(&self) -> bool {
        3 * self.queued_bytes() <= 2 * self.send_buffer_bytes
    }

    /// The buffer is the sum of those of the subflows. Theirs count the memory of packets; here
    /// data counts with its bytes alone.
    pub(super) fn sum_send_buffers(&mut self) {
        let open = self.subflows.iter().filter(|subflow| !subflow.is_over());
        let sum: u64 = open
            .map(|subflow| subflow.tcp.send_buffer_memory_bytes())
            .sum();
        self.send_buffer_bytes = OWN_BYTES + sum;
    }

    /// Where the application waits for room, the buffers of the subflows that had something
    /// acknowledged grow if what they were handed does not fill their window.
    pub(super) fn widen_send_buffers(&mut self) {
        let mut acknowledged = false;
        for subflow in &mut self.subflows {
            if core::mem::take(&mut subflow.acknowledged) && self.wants_room {
                subflow.tcp.widen_send_buffer();
                acknowledged = true;
            }
        }
        if acknowledged {
            self.sum_send_buffers();
            self.offer_room();
        }
    }
}

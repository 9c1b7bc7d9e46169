//! How much the application may write ahead of the data acknowledgements.
//!
//! Source: `mptcp_sendmsg`, `__mptcp_sync_sndbuf` and `__mptcp_finish_join` in Linux 6.18,
//! net/mptcp.

use super::connection::Connection;
use super::subflow::{Stage, Subflow};
use crate::Nanos;
use crate::event::Event;

/// Size of a connection's buffer beside those of its subflows (`tcp_wmem`, the first number).
const OWN_BYTES: u64 = 4096;

/// Send buffer of a connection.
#[derive(Clone, Debug)]
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

    /// Memory that it has.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether the application is to be told of room: it waits, and at least a third of the buffer
    /// is free, which is worth waking it for.
    fn is_offered(&self, memory_bytes: u64) -> bool {
        self.awaited && 3 * memory_bytes <= 2 * self.bytes
    }

    /// Takes the sum of the buffers of the subflows. Theirs count the memory of packets; here data
    /// counts with its bytes alone. That of a subflow whose handshake lasts or has just ended has
    /// its first size, and one that the peer opens is not known before.
    fn sum<'a>(&mut self, initial_bytes: u64, subflows: impl Iterator<Item = (&'a Subflow, bool)>) {
        let sum: u64 = subflows
            .filter(|(subflow, _)| subflow.is_known())
            .map(|(subflow, is_new)| match subflow.stage {
                Stage::Established if !is_new => subflow.tcp.send_buffer_memory_bytes(),
                _ => initial_bytes,
            })
            .sum();
        self.bytes = OWN_BYTES + sum;
    }
}

impl Connection {
    /// Sets the buffer to the sum of those of the subflows, one of which may just have joined.
    pub(super) fn sum_send_buffers(&mut self, joined: Option<u32>) {
        let initial_bytes = self.tcp.send_buffer.initial_bytes;
        let subflows = self.subflows.iter();
        let subflows = subflows.map(|subflow| (subflow, Some(subflow.id) == joined));
        self.send_buffer.sum(initial_bytes, subflows);
        let awaited = self.send_buffer.awaited;
        if joined.is_some() {
            self.set_awaited(awaited);
        }
    }

    /// Notes whether the application waits for room.
    pub(super) fn set_awaited(&mut self, awaited: bool) {
        self.send_buffer.awaited = awaited;
        for subflow in self.subflows.iter_mut() {
            subflow.tcp.set_awaited(awaited);
        }
    }

    /// Where the application waits for room, lets the buffers of the subflows grow that had
    /// something acknowledged.
    pub(super) fn widen_send_buffers(&mut self, now: Nanos) {
        let mut acknowledged = false;
        for subflow in self.subflows.iter_mut() {
            if core::mem::take(&mut subflow.acknowledged) {
                subflow.tcp.relieve_send_buffer(now);
                acknowledged = true;
            }
        }
        if acknowledged && self.send_buffer.awaited {
            self.sum_send_buffers(None);
            self.offer_room();
        }
    }

    /// Tells the application that there is room again where it waits for that.
    pub(super) fn offer_room(&mut self) {
        if self.send_buffer.is_offered(self.sender.memory_bytes()) {
            self.set_awaited(false);
            self.event(Event::Writable { id: self.id });
        }
    }
}

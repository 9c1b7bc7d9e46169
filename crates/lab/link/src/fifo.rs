//! Packets in the order of their arrival.

use alloc::collections::VecDeque;

use crate::Nanos;
use crate::packet::Packet;

/// A packet that waits.
#[derive(Clone, Debug)]
pub(crate) struct Waiting<T> {
    pub(crate) arrived: Nanos,
    pub(crate) packet: Packet<T>,
}

/// Packets in the order of their arrival.
#[derive(Clone, Debug)]
pub(crate) struct Fifo<T> {
    waiting: VecDeque<Waiting<T>>,
    bytes: u64,
    largest_bytes: u32,
}

impl<T> Fifo<T> {
    pub(crate) fn new() -> Self {
        Self {
            waiting: VecDeque::new(),
            bytes: 0,
            largest_bytes: 0,
        }
    }

    pub(crate) fn push(&mut self, arrived: Nanos, packet: Packet<T>) {
        self.bytes += u64::from(packet.ip_bytes);
        self.largest_bytes = self.largest_bytes.max(packet.ip_bytes);
        self.waiting.push_back(Waiting { arrived, packet });
    }

    pub(crate) fn pop(&mut self) -> Option<Waiting<T>> {
        let head = pop(&mut self.waiting)?;
        self.bytes -= u64::from(head.packet.ip_bytes);
        Some(head)
    }

    /// Forgets all packets.
    pub(crate) fn clear(&mut self) {
        self.waiting.clear();
        self.bytes = 0;
    }

    /// The packet that arrived first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Waiting<T>> {
        self.waiting.iter()
    }

    pub(crate) fn head(&self) -> Option<&Waiting<T>> {
        self.waiting.front()
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Bytes that wait.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Size of the largest packet that ever waited.
    pub(crate) fn largest_bytes(&self) -> u32 {
        self.largest_bytes
    }
}

/// Takes the first of some packets. With the last one the place of the next goes back to the begin
/// of the memory, so that a queue that is short most of the time stays in the cache.
#[inline]
pub(crate) fn pop<P>(packets: &mut VecDeque<P>) -> Option<P> {
    let first = packets.pop_front();
    if packets.is_empty() {
        packets.clear();
    }
    first
}

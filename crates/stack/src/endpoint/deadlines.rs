//! Deadlines of many connections in one heap.

use alloc::collections::BinaryHeap;
use core::cmp::Reverse;

use super::event::ConnectionId;
use crate::Nanos;

/// The heap. A connection's entry may be too early, as moving a deadline later changes nothing
/// here: whoever finds such an entry due puts the connection back with its true deadline. So an
/// acknowledgement that restarts a timer costs nothing.
#[derive(Debug, Default)]
pub(crate) struct Deadlines(BinaryHeap<Reverse<(Nanos, ConnectionId)>>);

impl Deadlines {
    /// Adds an entry.
    pub(crate) fn push(&mut self, deadline: Nanos, id: ConnectionId) {
        self.0.push(Reverse((deadline, id)));
    }

    /// The earliest entry.
    pub(crate) fn next(&self) -> Option<Nanos> {
        self.0.peek().map(|entry| entry.0.0)
    }

    /// Takes the earliest entry that is due.
    pub(crate) fn pop_due(&mut self, now: Nanos) -> Option<(Nanos, ConnectionId)> {
        if self.next()? > now {
            return None;
        }
        self.0.pop().map(|entry| entry.0)
    }
}

//! Deadlines of many connections in one ordered set.

use alloc::collections::BTreeSet;

use crate::Nanos;
use crate::event::ConnectionId;

/// The set: one entry for each connection that has a deadline.
///
/// An entry may be too early, as moving a deadline later changes nothing here: a caller that finds
/// such an entry due puts the connection back with its true deadline. So an acknowledgement that
/// restarts a timer costs nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deadlines(BTreeSet<(Nanos, ConnectionId)>);

impl Deadlines {
    /// Moves a connection's entry; it has none where that was at [`Nanos::MAX`].
    pub(crate) fn replace(&mut self, before: Nanos, deadline: Nanos, id: ConnectionId) {
        if before != Nanos::MAX {
            self.remove(before, id);
        }
        self.0.insert((deadline, id));
    }

    /// Removes a connection's entry.
    pub(crate) fn remove(&mut self, deadline: Nanos, id: ConnectionId) {
        self.0.remove(&(deadline, id));
    }

    /// The earliest entry.
    pub(crate) fn next(&self) -> Option<Nanos> {
        self.0.first().map(|entry| entry.0)
    }

    /// Takes the earliest entry that is due.
    pub(crate) fn pop_due(&mut self, now: Nanos) -> Option<ConnectionId> {
        if self.next()? > now {
            return None;
        }
        self.0.pop_first().map(|entry| entry.1)
    }

    /// How many connections have a deadline.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

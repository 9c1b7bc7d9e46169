//! The connections of a host in a table.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::connection::Connection;
use crate::Nanos;
use crate::event::ConnectionId;

/// A connection and its places in the queues of the host.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) id: ConnectionId,
    pub(crate) connection: Connection,
    /// Its entry among the deadlines; [`Nanos::MAX`] where there is none.
    pub(crate) armed: Nanos,
    /// It waits to transmit.
    waiting: bool,
}

/// The table. An id holds the index in its lower half and counts up in its upper half.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots {
    slots: Vec<Option<Slot>>,
    free: Vec<u32>,
    given: u64,
    waiting: VecDeque<ConnectionId>,
}

fn index(id: ConnectionId) -> usize {
    (id.0 & u64::from(u32::MAX)) as usize
}

impl Slots {
    /// The id that the next connection gets.
    pub(crate) fn next_id(&mut self) -> ConnectionId {
        self.given += 1;
        let index = self
            .free
            .last()
            .map_or(self.slots.len() as u64, |&index| u64::from(index));
        ConnectionId(self.given << 32 | index)
    }

    /// Adds a connection under the last id that was given.
    pub(crate) fn insert(&mut self, id: ConnectionId, connection: Connection) {
        let slot = Slot {
            id,
            connection,
            armed: Nanos::MAX,
            waiting: false,
        };
        let index = index(id);
        if index == self.slots.len() {
            self.slots.push(Some(slot));
        } else {
            self.free.pop();
            self.slots[index] = Some(slot);
        }
    }

    pub(crate) fn get(&self, id: ConnectionId) -> Option<&Slot> {
        self.slots
            .get(index(id))?
            .as_ref()
            .filter(|slot| slot.id == id)
    }

    pub(crate) fn get_mut(&mut self, id: ConnectionId) -> Option<&mut Slot> {
        self.slots
            .get_mut(index(id))?
            .as_mut()
            .filter(|slot| slot.id == id)
    }

    pub(crate) fn remove(&mut self, id: ConnectionId) -> Option<Connection> {
        self.get(id)?;
        let slot = self.slots[index(id)].take()?;
        self.free.push(index(id) as u32);
        Some(slot.connection)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().flatten()
    }

    /// Lets a connection transmit when its turn comes.
    pub(crate) fn wait_to_transmit(&mut self, id: ConnectionId) {
        if let Some(slot) = self.get_mut(id)
            && !slot.waiting
        {
            slot.waiting = true;
            self.waiting.push_back(id);
        }
    }

    /// The connection whose turn it is.
    pub(crate) fn first_waiting(&self) -> Option<ConnectionId> {
        self.waiting.front().copied()
    }

    /// Ends the turn of a connection that has nothing more.
    pub(crate) fn end_turn(&mut self) {
        if let Some(id) = self.waiting.pop_front()
            && let Some(slot) = self.get_mut(id)
        {
            slot.waiting = false;
        }
    }
}

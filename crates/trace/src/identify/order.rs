//! The order of connections.

use super::registry::Registry;

impl Registry {
    /// Returns the connections, as the [places](super::Placed) of segments name them, in the order
    /// of their first packets. That is the order of their names unless some were pending.
    pub fn order(&self) -> Vec<u32> {
        let mut order: Vec<_> = (0..self.connections.len() as u32).collect();
        // Flows are numbered by their first packets.
        order.sort_by_key(|&connection| self.connections[connection as usize].first);
        order
    }
}

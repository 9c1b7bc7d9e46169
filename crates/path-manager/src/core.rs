//! The path manager without sockets or clock: from what happens to orders.

mod orders;

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

pub use self::orders::Order;
use crate::Nanos;
use crate::attempts::Attempts;
use crate::config::Config;
use crate::situation::{Connection, Subflow};
use mptcplab_kernel::event::{Event, EventKind};
use mptcplab_kernel::interfaces::LocalAddress;

/// How long another path is preferred to one that was lost.
const AVOIDANCE: Nanos = 5_000_000_000;

/// What the kernel counts of a subflow.
#[derive(Clone, Copy, Debug)]
pub struct SubflowSample {
    /// Token of its connection.
    pub token: u32,
    /// This host's end.
    pub local: SocketAddr,
    /// The peer's.
    pub remote: SocketAddr,
    /// Retransmission timeouts in a row.
    pub timeouts: u8,
}

/// The path manager's mind. Times are nanoseconds since any moment.
#[derive(Debug)]
pub struct Core {
    config: Config,
    addresses: Vec<LocalAddress>,
    connections: BTreeMap<u32, Connection>,
    attempts: Attempts,
    orders: VecDeque<Order>,
}

impl Core {
    /// One that knows of nothing yet.
    pub fn new(config: Config) -> Self {
        Self {
            config,
            addresses: Vec::new(),
            connections: BTreeMap::new(),
            attempts: Attempts::default(),
            orders: VecDeque::new(),
        }
    }

    /// The kernel tells what happened to a connection.
    pub fn hear(&mut self, now: Nanos, event: &Event) {
        let token = event.token;
        let pair = event.local.zip(event.remote);
        match (event.kind, pair) {
            (EventKind::Established, Some(pair)) => {
                let connection = Connection::new(pair, event.server_side == Some(true));
                self.connections.insert(token, connection);
            }
            (EventKind::Closed, _) => {
                self.connections.remove(&token);
                self.attempts.forget_connection(token);
            }
            (EventKind::SubflowEstablished, Some(pair)) => {
                self.attempts.succeeded(token, pair.0.ip(), pair.1);
                if let Some(connection) = self.connections.get_mut(&token) {
                    connection.closing.remove(&pair);
                    connection.subflows.insert(pair, Subflow::default());
                }
            }
            (EventKind::SubflowClosed, Some(pair)) => {
                if let Some(connection) = self.connections.get_mut(&token) {
                    let place = (token, pair.0.ip(), pair.1);
                    let was_ordered = connection.closing.remove(&pair);
                    match connection.subflows.remove(&pair) {
                        Some(_) => self.attempts.closed(now, place),
                        // That says nothing against the path.
                        None if was_ordered => {}
                        None => {
                            self.attempts.failed(now, place);
                            connection.avoided.insert(place.1, now + AVOIDANCE);
                        }
                    }
                }
            }
            (EventKind::Announced, _) => {
                let announced = event.remote_id.zip(event.remote);
                let connection = self.connections.get_mut(&token);
                if let (Some(connection), Some((id, remote))) = (connection, announced) {
                    connection.announced.insert(id, remote);
                }
            }
            (EventKind::Removed, _) => {
                let connection = self.connections.get_mut(&token);
                if let (Some(connection), Some(id)) = (connection, event.remote_id) {
                    connection.announced.remove(&id);
                }
            }
            _ => {}
        }
    }

    /// The addresses that the host has now.
    pub fn set_addresses(&mut self, addresses: Vec<LocalAddress>) {
        let gone = |old: &&LocalAddress| addresses.iter().all(|new| new.address != old.address);
        let gone: Vec<IpAddr> = self
            .addresses
            .iter()
            .filter(gone)
            .map(|old| old.address)
            .collect();
        let is_new =
            |new: &&LocalAddress| self.addresses.iter().all(|old| old.address != new.address);
        for address in addresses.iter().filter(is_new) {
            self.attempts.forget_address(address.address);
            for connection in self.connections.values_mut() {
                connection.avoided.remove(&address.address);
            }
        }
        self.addresses = addresses;
        gone.into_iter().for_each(|address| self.let_go(address));
    }

    /// What the kernel has counted: bytes that connections have carried, both ways together, and
    /// the state of subflows.
    pub fn set_samples(&mut self, bytes: &[(u32, u64)], subflows: &[SubflowSample]) {
        for (token, bytes) in bytes {
            if let Some(connection) = self.connections.get_mut(token) {
                connection.bytes = *bytes;
            }
        }
        for sample in subflows {
            let connection = self.connections.get_mut(&sample.token);
            let subflow = connection
                .and_then(|connection| connection.subflows.get_mut(&(sample.local, sample.remote)));
            if let Some(subflow) = subflow {
                subflow.timeouts = sample.timeouts;
            }
        }
    }

    /// The kernel did not take an order to open a subflow.
    pub fn refused(&mut self, now: Nanos, token: u32, local: IpAddr, remote: SocketAddr) {
        self.attempts.failed(now, (token, local, remote));
    }

    /// Local address of a connection's initial subflow.
    pub(crate) fn initial_address(&self, token: u32) -> Option<IpAddr> {
        let connection = self.connections.get(&token)?;
        Some(connection.initial.0.ip())
    }

    /// Ids that this host's addresses have in a connection.
    pub(crate) fn local_ids(&self, token: u32) -> Vec<(IpAddr, u8)> {
        let connection = self.connections.get(&token);
        let ids = connection.into_iter().flat_map(|one| &one.ids);
        ids.map(|(address, id)| (*address, *id)).collect()
    }

    /// An address was given an id in a connection.
    pub(crate) fn give_id(&mut self, token: u32, address: IpAddr, id: u8) {
        if let Some(connection) = self.connections.get_mut(&token) {
            connection.ids.insert(address, id);
        }
    }

    /// Events were lost: these are the connections and subflows that there are. Those that nobody
    /// has told of stay unknown.
    pub fn resync(&mut self, tokens: &[u32], subflows: &[SubflowSample]) {
        self.connections.retain(|token, _| tokens.contains(token));
        for (token, connection) in &mut self.connections {
            let own = subflows.iter().filter(|sample| sample.token == *token);
            connection.subflows = own
                .map(|sample| {
                    let timeouts = sample.timeouts;
                    ((sample.local, sample.remote), Subflow { timeouts })
                })
                .collect();
            connection.closing.clear();
        }
        self.attempts.forget_outcomes();
    }

    /// Whether anything depends on the bytes that connections carry.
    pub fn needs_bytes(&self) -> bool {
        let mut own = self.own_connections();
        own.any(|connection| self.config.allows_more_after(connection.bytes))
    }

    /// Whether anything depends on the timeouts of subflows.
    pub fn needs_timeouts(&self) -> bool {
        self.config.is_handover() && self.own_connections().next().is_some()
    }

    /// Those that this host opened: for others it opens no subflows.
    fn own_connections(&self) -> impl Iterator<Item = &Connection> {
        let every = self.connections.values();
        every.filter(|connection| !connection.server_side)
    }

    /// When to ask for orders again though nothing has happened.
    pub fn next(&self, now: Nanos) -> Option<Nanos> {
        let again = self.attempts.next(now, self.tries_again());
        let avoided = self
            .connections
            .values()
            .flat_map(|one| one.avoided.values());
        let over = avoided.copied().filter(|until| *until > now);
        over.chain(again).min()
    }
}

#[cfg(test)]
mod tests;

//! The path manager without sockets or clock: from what happens to orders.

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

use mptcplab_kernel::event::{Event, EventKind};
use serde::Serialize;

use crate::Nanos;
use crate::attempts::Attempts;
use crate::config::{Config, Paths};
use crate::situation::{Connection, HostAddress, Pair, Subflow};
use crate::wanted::{TIMEOUTS_OF_A_LOST_PATH, wanted};

/// How long another path is preferred to one that was lost.
const AVOIDANCE: Nanos = 5_000_000_000;

/// An order about a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "order", rename_all = "snake_case")]
pub enum Order {
    /// Open a subflow.
    Open {
        /// Token of the connection.
        token: u32,
        /// Address of this host.
        local: IpAddr,
        /// The peer's end.
        remote: SocketAddr,
        /// As a backup.
        backup: bool,
    },
    /// Close a subflow.
    Close {
        /// Token of the connection.
        token: u32,
        /// This host's end.
        local: SocketAddr,
        /// The peer's.
        remote: SocketAddr,
    },
    /// Announce an address.
    Announce {
        /// Token of the connection.
        token: u32,
        /// The address.
        address: IpAddr,
    },
    /// Withdraw an address.
    Withdraw {
        /// Token of the connection.
        token: u32,
        /// The address.
        address: IpAddr,
    },
}

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
    addresses: Vec<HostAddress>,
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
                    connection.subflows.insert(pair, Subflow::default());
                }
            }
            (EventKind::SubflowClosed, Some(pair)) => {
                if let Some(connection) = self.connections.get_mut(&token) {
                    let place = (token, pair.0.ip(), pair.1);
                    match connection.subflows.remove(&pair) {
                        Some(_) => self.attempts.closed(now, place),
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
    pub fn set_addresses(&mut self, addresses: Vec<HostAddress>) {
        let gone = |old: &&HostAddress| addresses.iter().all(|new| new.ip != old.ip);
        let gone: Vec<IpAddr> = self
            .addresses
            .iter()
            .filter(gone)
            .map(|old| old.ip)
            .collect();
        let is_new = |new: &&HostAddress| self.addresses.iter().all(|old| old.ip != new.ip);
        for address in addresses.iter().filter(is_new) {
            self.attempts.forget_address(address.ip);
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
        }
        self.attempts.forget_outcomes();
    }

    /// Whether samples are of use: whether anything depends on them.
    pub fn needs_samples(&self) -> bool {
        self.config.needs_samples() && !self.connections.is_empty()
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

    /// What is to be done now.
    pub fn orders(&mut self, now: Nanos) -> Vec<Order> {
        let tokens: Vec<u32> = self.connections.keys().copied().collect();
        for (token, local, _) in self.attempts.overdue(now) {
            // A peer that does not answer is tried again later, and another path meanwhile.
            if let Some(connection) = self.connections.get_mut(&token) {
                connection.avoided.insert(local, now + AVOIDANCE);
            }
        }
        for token in tokens {
            self.open(now, token);
            self.break_after_make(now, token);
            self.announce(token);
        }
        self.orders.drain(..).collect()
    }

    /// What has failed or closed is opened again.
    fn tries_again(&self) -> bool {
        self.config.refresh || matches!(self.config.paths, Paths::Handover(_))
    }

    /// Orders the subflows that a connection lacks.
    fn open(&mut self, now: Nanos, token: u32) {
        let connection = &self.connections[&token];
        let most = self.config.most_subflows_after(connection.bytes) as usize;
        let wanted = wanted(&self.config, &self.addresses, connection, now);
        let pending: usize = wanted
            .iter()
            .map(|one| self.attempts.under_way(token, one.local, one.remote))
            .sum();
        let mut room = most.saturating_sub(connection.subflows.len() + pending);
        // A handover has two for a while.
        if matches!(self.config.paths, Paths::Handover(_)) {
            room = room.max(1);
        }
        for one in wanted {
            let has = connection.between(one.local, one.remote)
                + self.attempts.under_way(token, one.local, one.remote);
            // The initial subflow was not ordered.
            let is_initial =
                (one.local, one.remote) == (connection.initial.0.ip(), connection.initial.1);
            let first = one.count - usize::from(is_initial).min(one.count);
            let place = (token, one.local, one.remote);
            for _ in has..one.count {
                let may = self.attempts.may_try(now, place, first, self.tries_again());
                if room == 0 || !may {
                    break;
                }
                room -= 1;
                self.attempts.ordered(now, place);
                self.orders.push_back(Order::Open {
                    token,
                    local: one.local,
                    remote: one.remote,
                    backup: one.backup,
                });
            }
        }
    }

    /// Of a handover: closes the old subflows when the new one stands.
    fn break_after_make(&mut self, now: Nanos, token: u32) {
        if !matches!(self.config.paths, Paths::Handover(_)) {
            return;
        }
        let connection = &self.connections[&token];
        let wanted = wanted(&self.config, &self.addresses, connection, now);
        let [one] = wanted[..] else { return };
        if connection.between(one.local, one.remote) == 0 {
            return;
        }
        let connection = self.connections.get_mut(&token).expect("it is one of them");
        let mut others = Vec::new();
        for (pair, subflow) in &connection.subflows {
            if pair.0.ip() != one.local {
                others.push(*pair);
                if subflow.timeouts >= TIMEOUTS_OF_A_LOST_PATH {
                    connection.avoided.insert(pair.0.ip(), now + AVOIDANCE);
                }
            }
        }
        others.iter().for_each(|pair| self.close(token, *pair));
    }

    /// An address has gone: what went over it would only wait for its timeouts.
    fn let_go(&mut self, address: IpAddr) {
        let tokens: Vec<u32> = self.connections.keys().copied().collect();
        for token in tokens {
            let connection = self.connections.get_mut(&token).expect("it is one of them");
            let told = connection.told.len();
            connection.told.retain(|other| *other != address);
            if connection.told.len() < told {
                self.orders.push_back(Order::Withdraw { token, address });
            }
            let subflows = self.connections[&token].subflows.keys();
            let over: Vec<Pair> = subflows
                .filter(|pair| pair.0.ip() == address)
                .copied()
                .collect();
            over.iter().for_each(|pair| self.close(token, *pair));
        }
    }

    fn close(&mut self, token: u32, (local, remote): Pair) {
        if let Some(connection) = self.connections.get_mut(&token) {
            connection.subflows.remove(&(local, remote));
        }
        self.orders.push_back(Order::Close {
            token,
            local,
            remote,
        });
    }

    fn announce(&mut self, token: u32) {
        if !self.config.signal {
            return;
        }
        let connection = self.connections.get_mut(&token).expect("it is one of them");
        let own = connection.initial.0.ip();
        for address in &self.addresses {
            let is_new = address.ip != own && !connection.told.contains(&address.ip);
            if is_new && address.ip.is_ipv4() == own.is_ipv4() {
                connection.told.push(address.ip);
                self.orders.push_back(Order::Announce {
                    token,
                    address: address.ip,
                });
            }
        }
    }
}

#[cfg(test)]
mod tests;

//! The path manager's decision logic, without I/O or clock: events in, commands out.

mod commands;

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

pub use self::commands::Command;
use crate::Nanos;
use crate::config::Config;
use crate::view::{ConnectionView, SubflowView, path_of};
use mptcplab_linux::event::{Event, EventKind};
use mptcplab_linux::interfaces::LocalAddress;
use mptcplab_paths::Path;

/// How long other paths are preferred to one that was lost.
const AVOIDANCE: Nanos = 5_000_000_000;

/// How long the peer may take to answer a SYN before a handover goes elsewhere.
const PATIENCE: Nanos = 3_000_000_000;

/// The kernel's counters of a subflow.
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

/// Decision logic, no I/O. Times are nanoseconds of a monotonic clock.
#[derive(Debug)]
pub struct Core {
    config: Config,
    addresses: Vec<LocalAddress>,
    connections: BTreeMap<u32, ConnectionView>,
    commands: VecDeque<Command>,
}

impl Core {
    /// Without addresses and connections.
    pub fn new(config: Config) -> Self {
        Self {
            config,
            addresses: Vec::new(),
            connections: BTreeMap::new(),
            commands: VecDeque::new(),
        }
    }

    /// Handles an event of the path manager.
    pub fn on_event(&mut self, now: Nanos, event: &Event) {
        let token = event.token;
        let pair = event.local.zip(event.remote);
        match (event.kind, pair) {
            (EventKind::Established, Some(pair)) => {
                let connection = ConnectionView::new(pair, event.server_side == Some(true));
                self.connections.insert(token, connection);
            }
            (EventKind::Closed, _) => {
                self.connections.remove(&token);
            }
            (EventKind::SubflowEstablished, Some(pair)) => {
                let retries = self.retries_failures();
                if let Some(connection) = self.connections.get_mut(&token) {
                    connection.closing.remove(&pair);
                    connection.subflows.insert(pair, SubflowView::default());
                    connection.attempts.answered(path_of(&pair));
                    if retries {
                        connection.attempts.works(path_of(&pair));
                    }
                }
            }
            (EventKind::SubflowClosed, Some(pair)) => {
                if let Some(connection) = self.connections.get_mut(&token) {
                    let path = path_of(&pair);
                    let was_closed_here = connection.closing.remove(&pair);
                    match connection.subflows.remove(&pair) {
                        Some(_) => self.leave_alone(now, token, path),
                        // The path is not at fault.
                        None if was_closed_here => {}
                        None => {
                            connection.avoided.insert(path.local, now + AVOIDANCE);
                            self.on_failed(now, token, path);
                        }
                    }
                }
            }
            (EventKind::Announced, _) => {
                let announced = event.remote_id.zip(event.remote);
                let connection = self.connections.get_mut(&token);
                if let (Some(connection), Some((id, remote))) = (connection, announced) {
                    connection.peer_addresses.insert(id, remote);
                    connection.attempts.retry_to(remote);
                }
            }
            (EventKind::Removed, _) => {
                let connection = self.connections.get_mut(&token);
                if let (Some(connection), Some(id)) = (connection, event.remote_id) {
                    connection.peer_addresses.remove(&id);
                }
            }
            _ => {}
        }
    }

    /// Takes the addresses that the host has now.
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
            for connection in self.connections.values_mut() {
                connection.attempts.retry_from(address.address);
                connection.avoided.remove(&address.address);
            }
        }
        self.addresses = addresses;
        gone.into_iter()
            .for_each(|address| self.remove_address(address));
    }

    /// Takes the kernel's counters: bytes that connections have carried, in both directions, and
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

    /// Handles the kernel's refusal to open a subflow.
    pub fn on_refused(&mut self, now: Nanos, token: u32, local: IpAddr, remote: SocketAddr) {
        self.on_failed(now, token, Path { local, remote });
    }

    /// Handles the failure to open a subflow.
    fn on_failed(&mut self, now: Nanos, token: u32, path: Path) {
        if let Some(connection) = self.connections.get_mut(&token) {
            connection.attempts.answered(path);
        }
        self.leave_alone(now, token, path);
    }

    /// Leaves a path alone on which a subflow has failed or closed: for a while where such are
    /// opened again.
    fn leave_alone(&mut self, now: Nanos, token: u32, path: Path) {
        let retries = self.retries_failures();
        let Some(connection) = self.connections.get_mut(&token) else {
            return;
        };
        match retries {
            true => connection.attempts.hold_off(now, path),
            false => connection.attempts.give_up(path),
        }
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

    /// Notes the id that an address was given in a connection.
    pub(crate) fn give_id(&mut self, token: u32, address: IpAddr, id: u8) {
        if let Some(connection) = self.connections.get_mut(&token) {
            connection.ids.insert(address, id);
        }
    }

    /// Takes the connections and subflows there are, after events were lost. Connections whose
    /// event of establishment was lost stay unknown.
    pub fn resync(&mut self, tokens: &[u32], subflows: &[SubflowSample]) {
        self.connections.retain(|token, _| tokens.contains(token));
        for (token, connection) in &mut self.connections {
            let own = subflows.iter().filter(|sample| sample.token == *token);
            connection.subflows = own
                .map(|sample| {
                    let timeouts = sample.timeouts;
                    ((sample.local, sample.remote), SubflowView { timeouts })
                })
                .collect();
            connection.closing.clear();
            connection.attempts.forget_requests();
        }
    }

    /// Tells whether a decision depends on the bytes that connections carry.
    pub fn needs_bytes(&self) -> bool {
        let mut own = self.own_connections();
        own.any(|connection| self.config.allows_more_after(connection.bytes))
    }

    /// Tells whether a decision depends on the timeouts of subflows.
    pub fn needs_timeouts(&self) -> bool {
        self.config.is_handover() && self.own_connections().next().is_some()
    }

    /// The connections that this host opened: for others it opens no subflows.
    fn own_connections(&self) -> impl Iterator<Item = &ConnectionView> {
        let every = self.connections.values();
        every.filter(|connection| !connection.server_side)
    }

    /// When [`Core::commands`] is due though no event came.
    pub fn next_deadline(&self, now: Nanos) -> Option<Nanos> {
        let is_handover = self.config.is_handover();
        let every = self.connections.values().flat_map(|one| {
            let overdue_at = one.attempts.overdue_at(PATIENCE).filter(|_| is_handover);
            let avoided = one.avoided.values().copied();
            avoided.chain(one.attempts.deadline()).chain(overdue_at)
        });
        every.filter(|time| *time > now).min()
    }
}

#[cfg(test)]
mod tests;

//! The path manager's commands.

use std::net::{IpAddr, SocketAddr};

use mptcplab_paths::Path;
use serde::Serialize;

use super::{AVOIDANCE, Core, PATIENCE};
use crate::Nanos;
use crate::policy::{TIMEOUTS_OF_A_LOST_PATH, desired_subflows};
use crate::view::Pair;

/// A command about a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "order", rename_all = "snake_case")]
pub enum Command {
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

impl Core {
    /// Decides what is to be done now.
    pub fn commands(&mut self, now: Nanos) -> Vec<Command> {
        let tokens: Vec<u32> = self.connections.keys().copied().collect();
        for token in tokens {
            self.check_attempts(now, token);
            self.open(now, token);
            self.break_after_make(now, token);
            self.announce(token);
        }
        self.commands.drain(..).collect()
    }

    /// Subflows that have failed or closed are opened again.
    pub(super) fn retries_failures(&self) -> bool {
        self.config.refresh || self.config.is_handover()
    }

    /// Lets paths be tried again whose pause is over. In a handover a peer that does not answer is
    /// tried again later, and another path meanwhile; otherwise it is the kernel that repeats the SYN.
    fn check_attempts(&mut self, now: Nanos, token: u32) {
        let is_handover = self.config.is_handover();
        let connection = self.connections.get_mut(&token).expect("it is one of them");
        connection.attempts.on_deadline(now);
        if !is_handover {
            return;
        }
        let overdue = connection.attempts.overdue(now, PATIENCE);
        for path in &overdue {
            connection.avoided.insert(path.local, now + AVOIDANCE);
        }
        overdue
            .into_iter()
            .for_each(|path| self.leave_alone(now, token, path));
    }

    /// Opens the subflows that a connection lacks.
    fn open(&mut self, now: Nanos, token: u32) {
        let is_handover = self.config.is_handover();
        let connection = self.connections.get_mut(&token).expect("it is one of them");
        let most = self.config.most_subflows_after(connection.bytes) as usize;
        let desired = desired_subflows(&self.config, &self.addresses, connection, now);
        let requested = connection.attempts.requested();
        let begun: Vec<Path> = connection.paths().chain(requested).collect();
        let held_off: Vec<Path> = connection.attempts.held_off(now).collect();
        // A handover has two subflows for a while.
        let least_room = usize::from(is_handover);
        let room = most.saturating_sub(begun.len()).max(least_room);
        for join in mptcplab_paths::joins(desired, room, &begun, &held_off) {
            connection.attempts.request(now, join.path);
            self.commands.push_back(Command::Open {
                token,
                local: join.path.local,
                remote: join.path.remote,
                backup: join.backup,
            });
        }
    }

    /// Closes the old subflows of a handover when the new one is established.
    fn break_after_make(&mut self, now: Nanos, token: u32) {
        if !self.config.is_handover() {
            return;
        }
        let connection = &self.connections[&token];
        let desired = desired_subflows(&self.config, &self.addresses, connection, now);
        let [one] = desired[..] else { return };
        if !connection.paths().any(|path| path == one.path) {
            return;
        }
        let connection = self.connections.get_mut(&token).expect("it is one of them");
        let mut others = Vec::new();
        for (pair, subflow) in &connection.subflows {
            if pair.0.ip() != one.path.local {
                others.push(*pair);
                if subflow.timeouts >= TIMEOUTS_OF_A_LOST_PATH {
                    connection.avoided.insert(pair.0.ip(), now + AVOIDANCE);
                }
            }
        }
        others.iter().for_each(|pair| self.close(token, *pair));
    }

    /// Closes the subflows of an address that has gone, which would only wait for their timeouts.
    pub(super) fn remove_address(&mut self, address: IpAddr) {
        let tokens: Vec<u32> = self.connections.keys().copied().collect();
        for token in tokens {
            let connection = self.connections.get_mut(&token).expect("it is one of them");
            connection.attempts.retry_from(address);
            let before = connection.announced.len();
            connection.announced.retain(|other| *other != address);
            if connection.announced.len() < before {
                self.commands
                    .push_back(Command::Withdraw { token, address });
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
            connection.closing.insert((local, remote));
        }
        self.commands.push_back(Command::Close {
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
        for local in self.addresses.iter().filter(|one| !one.is_deprecated) {
            let address = local.address;
            let is_new = address != own && !connection.announced.contains(&address);
            if is_new && address.is_ipv4() == own.is_ipv4() {
                connection.announced.push(address);
                self.commands
                    .push_back(Command::Announce { token, address });
            }
        }
    }
}

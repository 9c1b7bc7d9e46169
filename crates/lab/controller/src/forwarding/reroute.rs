//! Subflows that move: to another path where a link of theirs has failed, and with their hosts.

use std::mem;
use std::net::IpAddr;

use super::rules::{self, Rule};
use crate::controller::Controller;
use crate::events::Event;
use crate::paths::Path;
use crate::subflows::{State, Subflow};

/// The time for which a connection is left alone of which a subflow could not move to a better path,
/// ns.
const NOT_TAKEN_NS: u64 = 60_000_000_000;

/// The rules of a path that a subflow no longer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    /// They are deleted.
    Deleted,
    /// Those that age are left to that.
    Aging,
}

impl Controller {
    /// Moves all subflows one of whose links is gone, where another path is left, and gives the
    /// others the ways round their links that there are now. Those without a path stay, and are
    /// looked at again when the network changes.
    pub(crate) fn follow_network(&mut self) {
        for number in self.table.subflow_numbers() {
            let Some(subflow) = self.table.subflow(number) else {
                continue;
            };
            let has_path = subflow.path.iter().all(|link| self.topology.has(link));
            match subflow.state {
                State::Idle => {}
                _ if has_path => self.choose_detours(number),
                _ => self.choose_again(number),
            }
        }
    }

    /// Gives a subflow another path, if there is one.
    pub(super) fn choose_again(&mut self, number: u64) {
        let (Some(path), Some(subflow)) = (self.path_for(number), self.table.subflow(number))
        else {
            return;
        };
        let moved = Subflow {
            path,
            ..subflow.clone()
        };
        self.replace(number, moved, Left::Deleted);
    }

    /// Takes a subflow off a path that is still there: what is on its way arrives by the rules of that,
    /// which age.
    pub(super) fn take_off(&mut self, number: u64, path: Path) {
        let Some(subflow) = self.table.subflow(number) else {
            return;
        };
        let before = subflow.path.clone();
        let moved = Subflow {
            path,
            ..subflow.clone()
        };
        self.replace(number, moved, Left::Aging);
        if let Some(install) = self.installs.get_mut(&number) {
            install.before = Some(before);
        }
    }

    /// Puts a subflow back on the path that it was taken off, as switches have not taken the rules of
    /// the other one. Its connection is left alone for a while.
    pub(super) fn put_back(&mut self, number: u64, path: Path) {
        let Some(subflow) = self.table.subflow(number) else {
            return;
        };
        let connection = subflow.connection;
        let moved = Subflow {
            path,
            ..subflow.clone()
        };
        let settled_ns = self.now_ns.saturating_add(NOT_TAKEN_NS);
        if let Some(connection) = self.table.connection_mut(connection) {
            connection.settled_ns = settled_ns;
        }
        self.replace(number, moved, Left::Deleted);
    }

    /// Moves the subflows of a host that has moved to another port.
    pub(crate) fn move_host(&mut self, ip: IpAddr) {
        let Some(at) = self.hosts.get(ip).map(|host| host.at) else {
            return;
        };
        for number in self.table.subflow_numbers() {
            let Some(mut moved) = self.table.subflow(number).cloned() else {
                continue;
            };
            let addresses = [moved.flow.source, moved.flow.destination];
            for (end, address) in moved.ends.iter_mut().zip(addresses) {
                if address == ip {
                    *end = at;
                }
            }
            if self
                .table
                .subflow(number)
                .is_some_and(|old| old.ends == moved.ends)
            {
                continue;
            }
            let paths = self
                .paths
                .between(moved.ends[0].datapath, moved.ends[1].datapath);
            match paths.equal_cost.first() {
                Some(path) => {
                    moved.path = path.clone();
                    self.replace(number, moved, Left::Deleted);
                    self.choose_again(number);
                }
                None => self.remove(number),
            }
        }
    }

    /// Puts a subflow as it is to be in the place of what it was, in the switches, too. Rules that
    /// it no longer has are left until the new ones are there: packets go on by them until then.
    fn replace(&mut self, number: u64, moved: Subflow, rules_left: Left) {
        let Some(old) = self.table.subflow(number).cloned() else {
            return;
        };
        if old.path == moved.path && old.ends == moved.ends {
            return;
        }
        let running = self.installs.get_mut(&number);
        let mut left = running.map_or(Vec::new(), |install| mem::take(&mut install.left));
        let departures = self.cancel_install(number);
        let (connection, flow, path) = (moved.connection, moved.flow, moved.path.clone());
        if let Some(subflow) = self.table.subflow_mut(number) {
            *subflow = moved.clone();
        }
        if old.state == State::Idle {
            return;
        }
        self.link_use.remove(&old.path, number);
        self.take_path(number, &path, None);
        self.note(Event::Moved {
            connection,
            flow,
            path: path.to_vec(),
        });
        self.install(number, None);
        left.append(&mut match rules_left {
            Left::Deleted => rules::all(&old),
            Left::Aging => rules::detours(&old),
        });
        self.leave(number, left);
        let Some(first) = self.hops(number, true).first().copied() else {
            return;
        };
        for mut departure in departures {
            if departure.packet.at.datapath == first.datapath
                && departure.packet.at.port == first.in_port
            {
                departure.out_port = first.out_port;
                self.install(number, Some(departure));
            }
        }
    }

    /// Has rules deleted that a subflow no longer has, when its new ones are there.
    fn leave(&mut self, number: u64, left: Vec<Rule>) {
        let kept = self.table.subflow(number).map(rules::all);
        if let Some(install) = self.installs.get_mut(&number) {
            install.left = left;
            install.keep(&kept.unwrap_or_default());
        }
    }
}

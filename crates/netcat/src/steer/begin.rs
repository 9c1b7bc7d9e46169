//! What is wished of a connection's subflows, and what of it is there already.

use std::net::IpAddr;

use mptcplab_subflow::connection;

use super::course::Course;
use super::locals::{Local, has_own_route, locals};
use super::path::{State, Way};
use crate::options::{Path, Wishes};

/// The subflow that the connection began with.
struct Initial {
    id: u32,
    local: IpAddr,
}

impl Course<'_, '_> {
    /// Finds it out, and begins to open the rest.
    pub(super) fn begin(&mut self, wishes: &Wishes) {
        let Some(initial) = self.initial() else {
            return;
        };
        let here = locals().unwrap_or_default();
        let mut paths = wishes.paths.clone();
        if wishes.all {
            let others = here
                .iter()
                .filter(|local| local.address != initial.local && !local.is_deprecated);
            every_other(others, self.peer(), &mut paths);
        }
        for path in paths {
            let way = self.way(path, &here, &initial);
            self.ways.push(way);
        }
        if wishes.follow {
            self.follow_initial(&initial, &here);
        }
        self.look();
    }

    fn initial(&self) -> Option<Initial> {
        let connection = connection(self.stream).ok()?;
        let first = connection.subflows.first()?;
        Some(Initial {
            id: first.id,
            local: first.local.ip().to_canonical(),
        })
    }

    /// A wished path as it is now.
    fn way(&mut self, path: Path, here: &[Local], initial: &Initial) -> Way {
        let mut way = Way::new(path);
        match way.local(here, self.peer()) {
            Some(local) if local.address == initial.local => {
                self.is_initial(&mut way, initial);
                if way.path.backup {
                    self.make_backup(initial.id, &way.path.name);
                }
            }
            None if !self.follow => {
                let Path { name, from, .. } = &way.path;
                self.report.say(&format!(
                    "no subflow over {name}: {from} is not there, or down, or has no address of \
                     the connection's family"
                ));
                way.state = State::GivenUp;
            }
            _ => {}
        }
        way
    }

    /// The path that the connection began on is followed like those that were wished.
    fn follow_initial(&mut self, initial: &Initial, here: &[Local]) {
        let known = State::Open(initial.id, initial.local);
        if self.ways.iter().any(|way| way.state == known) {
            return;
        }
        if let Some(local) = here.iter().find(|local| local.address == initial.local) {
            let mut way = Way::new(path_from(local));
            self.is_initial(&mut way, initial);
            self.ways.push(way);
        }
    }

    fn is_initial(&mut self, way: &mut Way, initial: &Initial) {
        way.state = State::Open(initial.id, initial.local);
        self.tracker.name(initial.id, &way.path.name);
    }
}

/// Adds a path from each of `locals` that has a way of its own to the peer and is not among `paths`.
fn every_other<'a>(locals: impl Iterator<Item = &'a Local>, peer: IpAddr, paths: &mut Vec<Path>) {
    for local in locals.filter(|local| local.address.is_ipv4() == peer.is_ipv4()) {
        let address = local.address.to_string();
        let named = |path: &Path| path.from == local.interface || path.from == address;
        if !paths.iter().any(named) && has_own_route(local, peer) {
            paths.push(path_from(local));
        }
    }
}

fn path_from(local: &Local) -> Path {
    Path {
        name: local.interface.clone(),
        from: local.address.to_string(),
        backup: false,
    }
}

//! The paths that the user wants, and which of them the initial subflow uses already.

use std::net::IpAddr;

use mptcplab_subflow::connection;

use super::locals::{Local, has_own_route, locals};
use super::path::{PathState, SubflowState};
use super::supervisor::Supervisor;
use crate::options::{Path, SubflowOptions};

/// The subflow that the connection began with.
struct Initial {
    id: u32,
    local: IpAddr,
}

impl Supervisor<'_, '_> {
    /// Matches paths with the initial subflow, and begins to open the others.
    pub(super) fn begin(&mut self, options: &SubflowOptions) {
        let Some(initial) = self.initial() else {
            return;
        };
        let here = locals().unwrap_or_default();
        let mut paths = options.paths.clone();
        if options.all {
            let others = here
                .iter()
                .filter(|local| local.address != initial.local && !local.is_deprecated);
            every_other(others, self.peer(), &mut paths);
        }
        for path in paths {
            let path = self.path(path, &here, &initial);
            self.paths.push(path);
        }
        if options.follow {
            self.follow_initial(&initial, &here);
        }
        self.act();
    }

    fn initial(&self) -> Option<Initial> {
        let connection = connection(self.stream).ok()?;
        let first = connection.subflows.first()?;
        Some(Initial {
            id: first.id,
            local: first.local.ip().to_canonical(),
        })
    }

    /// The state of a wanted path at the beginning.
    fn path(&mut self, path: Path, here: &[Local], initial: &Initial) -> PathState {
        let mut path = PathState::new(path);
        match path.local(here, self.peer()) {
            Some(local) if local.address == initial.local => {
                self.is_initial(&mut path, initial);
                if path.wanted.backup {
                    self.make_backup(initial.id, &path.wanted.name);
                }
            }
            None if !self.follow => {
                let Path { name, from, .. } = &path.wanted;
                self.report.info(&format!(
                    "no subflow over {name}: {from} is not there, or down, or has no address of \
                     the connection's family"
                ));
                path.subflow = SubflowState::GivenUp;
            }
            _ => {}
        }
        path
    }

    /// Follows the path of the initial subflow like the wanted ones.
    fn follow_initial(&mut self, initial: &Initial, here: &[Local]) {
        let known = SubflowState::Open(initial.id, initial.local);
        if self.paths.iter().any(|path| path.subflow == known) {
            return;
        }
        if let Some(local) = here.iter().find(|local| local.address == initial.local) {
            let mut path = PathState::new(path_from(local));
            self.is_initial(&mut path, initial);
            self.paths.push(path);
        }
    }

    fn is_initial(&mut self, path: &mut PathState, initial: &Initial) {
        path.subflow = SubflowState::Open(initial.id, initial.local);
        self.tracker.name(initial.id, &path.wanted.name);
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

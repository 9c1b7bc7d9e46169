//! Subflows that carry, and may have a better path: they are looked at each time that the counters of
//! ports have been read.

use std::collections::BTreeSet;

use super::deserving::counters;
use crate::controller::Controller;
use crate::messages;
use crate::paths::Path;
use crate::place::Link;
use crate::policy::{Carrying, PathView, Request};
use crate::subflows::{Kind, State, Subflow};

/// Connections of which counters are read at once.
const COUNTED: usize = 512;
/// Readings of the counters for which a connection is left alone of which a subflow has moved: its
/// windows and the queues of both paths are others by then.
const SETTLED: u64 = 2;

impl Controller {
    /// Asks for the counters of connections whose subflows may have to move.
    pub(crate) fn count_reviewed(&mut self) {
        if !self.policy.reviews() {
            return;
        }
        let links = self.topology.links();
        let full: BTreeSet<Link> = links.filter(|link| self.has_queue(link)).collect();
        let mut connections = BTreeSet::new();
        for number in self.table.subflow_numbers() {
            let Some(subflow) = self.table.subflow(number) else {
                continue;
            };
            let may_move = carries(subflow)
                && (subflow.path.iter().any(|link| full.contains(link)) || self.is_shared(number));
            if may_move && connections.len() < COUNTED {
                connections.insert(subflow.connection);
            }
        }
        for connection in connections {
            let known = self.table.connection(connection);
            for number in known.map_or(Vec::new(), |known| known.subflows.clone()) {
                if let Some(subflow) = self.table.subflow(number).filter(|one| carries(one)) {
                    let datapath = subflow.ends[0].datapath;
                    self.send(datapath, messages::request(counters(number)));
                }
            }
        }
    }

    /// Moves subflows to better paths, one after the other, so that each sees where those before it
    /// have gone.
    pub(crate) fn review(&mut self) {
        self.measure_links();
        if !self.policy.reviews() {
            return;
        }
        for number in self.table.subflow_numbers() {
            let (Some(path), Some(subflow)) =
                (self.better_path(number), self.table.subflow(number))
            else {
                continue;
            };
            let (old, connection) = (subflow.path.clone(), subflow.connection);
            let settled_ns = self.now_ns + SETTLED * self.config.load_interval_ns;
            if let Some(connection) = self.table.connection_mut(connection) {
                connection.settled_ns = settled_ns;
            }
            self.measure_anew(&old);
            self.measure_anew(&path);
            self.take_off(number, path);
        }
    }

    /// The path that a subflow moves to, if it does.
    fn better_path(&mut self, number: u64) -> Option<Path> {
        let since_ns = self.read_ns[1];
        let bps = |subflow: &Subflow| subflow.pace.bps_since(since_ns).unwrap_or(0);
        let subflow = self.table.subflow(number).filter(|one| carries(one))?;
        let rate_bps = bps(subflow);
        let known = self.table.connection(subflow.connection)?;
        let is_busy = subflow.path.iter().any(|link| self.is_busy(link));
        let may_move = is_busy || self.is_shared(number);
        if rate_bps == 0 || known.kind == Kind::Other || known.settled_ns > self.now_ns || !may_move
        {
            return None;
        }
        let others = known.subflows.iter().filter(|other| **other != number);
        let others = others.filter_map(|other| self.table.subflow(*other));
        let others_bps: Vec<u64> = others.map(bps).collect();
        let (connection, first, bytes) = (subflow.connection, known.flow, known.expected_bytes);
        let (flow, path, ends, kind) =
            (subflow.flow, subflow.path.clone(), subflow.ends, known.kind);
        let waits_ns = path.iter().map(|link| self.waits_ns(link)).sum();
        let subflows = self.subflow_views(connection, Some(number));
        let paths = self.paths.between(ends[0].datapath, ends[1].datapath);
        let view = |path: &Path| self.path_view(path, ends);
        let disjoint: Vec<PathView> = paths.disjoint.iter().map(view).collect();
        let equal_cost: Vec<PathView> = paths.equal_cost.iter().map(view).collect();
        let request = Request {
            connection: first,
            flow,
            is_multipath: kind == Kind::Multipath,
            is_moved: true,
            bytes,
            carried_bytes: self.carried_bytes(connection),
            subflows: &subflows,
            disjoint: &disjoint,
            equal_cost: &equal_cost,
        };
        let carrying = Carrying {
            path: &self.path_view(&path, ends),
            rate_bps,
            waits_ns,
            others_bps: &others_bps,
        };
        let better = self.policy.better(&request, &carrying)?;
        Some(Path::from(better.links.as_slice()))
    }

    /// Whether another subflow of its connection has the same path.
    fn is_shared(&self, number: u64) -> bool {
        let Some(subflow) = self.table.subflow(number) else {
            return false;
        };
        let known = self.table.connection(subflow.connection);
        let others = known.into_iter().flat_map(|known| &known.subflows);
        let mut others = others.filter(|other| **other != number);
        others.any(|other| {
            let other = self.table.subflow(*other);
            other.is_some_and(|other| other.state != State::Idle && other.path == subflow.path)
        })
    }
}

/// Whether a subflow has rules of a path that it may leave.
fn carries(subflow: &Subflow) -> bool {
    subflow.state == State::Active && subflow.flow.is_tcp() && !subflow.path.is_empty()
}

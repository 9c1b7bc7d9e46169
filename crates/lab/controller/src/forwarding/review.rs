//! Subflows that carry, and may have a better path: they are looked at each time that the counters of
//! ports have been read.

use std::collections::{BTreeMap, BTreeSet};

use crate::controller::Controller;
use crate::paths::Path;
use crate::place::Link;
use crate::policy::{Carrying, PathView, Request};
use crate::subflows::{Kind, State, Subflow};

/// Connections of which counters are read at once.
const COUNTED: usize = 512;
/// Times in a row that they are read: a rate is that between two.
const IN_A_ROW: usize = 2;
/// Readings of the counters for which a connection is left alone of which a subflow has moved: its
/// windows and the queues of both paths are others by then.
const SETTLED: u64 = 2;

/// The connections of which counters are read: where there are more than can be read at once, each
/// has its turn.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counted {
    /// Those with higher numbers are read first.
    after: u64,
    /// How often these have been.
    times: usize,
}

impl Counted {
    /// Those, out of all, of which counters are read now.
    fn next(&mut self, all: &BTreeSet<u64>) -> Vec<u64> {
        let higher = all.range(self.after + 1..);
        let of_turn = higher.chain(all.range(..=self.after)).take(COUNTED);
        let of_turn: Vec<u64> = of_turn.copied().collect();
        self.times += 1;
        if self.times == IN_A_ROW {
            self.times = 0;
            self.after = of_turn.last().copied().unwrap_or(0);
        }
        of_turn
    }
}

impl Controller {
    /// Asks for the counters of connections whose subflows may have to move, or whose transfers may be
    /// over.
    pub(crate) fn count_reviewed(&mut self) {
        if !self.policy.reviews() {
            return;
        }
        let links = self.topology.links();
        let full: BTreeSet<Link> = links.filter(|link| self.has_queue(link)).collect();
        let mut all = BTreeSet::new();
        for number in self.table.subflow_numbers() {
            let Some(subflow) = self.table.subflow(number) else {
                continue;
            };
            let may_move = carries(subflow)
                && (subflow.path.iter().any(|link| full.contains(link)) || self.is_shared(number));
            if may_move || self.may_be_over(subflow.connection) {
                all.insert(subflow.connection);
            }
        }
        for connection in self.counted.next(&all) {
            self.ask_counters(connection);
        }
    }

    /// Moves subflows to better paths, one after the other, so that each sees where those before it
    /// have gone.
    pub(crate) fn review(&mut self) {
        self.measure_links();
        if !self.policy.reviews() {
            return;
        }
        let sharing = self.sharing();
        for number in self.table.subflow_numbers() {
            let (Some(path), Some(subflow)) = (
                self.better_path(number, &sharing),
                self.table.subflow(number),
            ) else {
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

    /// Subflows of each link that have carried since the last reading of the counters.
    fn sharing(&self) -> BTreeMap<Link, usize> {
        let numbers = self.table.subflow_numbers().into_iter();
        let subflows = numbers.filter_map(|number| self.table.subflow(number));
        let mut sharing = BTreeMap::new();
        for subflow in subflows.filter(|subflow| carries(subflow)) {
            if subflow.pace.bps_since(self.read_ns[1]) > Some(0) {
                for link in subflow.path.iter() {
                    *sharing.entry(*link).or_default() += 1;
                }
            }
        }
        sharing
    }

    /// The path that a subflow moves to, if it does.
    fn better_path(&mut self, number: u64, sharing: &BTreeMap<Link, usize>) -> Option<Path> {
        let since_ns = self.read_ns[1];
        let bps = |subflow: &Subflow| match subflow.state {
            State::Idle => Some(0),
            State::Installing | State::Active => subflow.pace.bps_since(since_ns),
        };
        let subflow = self.table.subflow(number).filter(|one| carries(one))?;
        let rate_bps = bps(subflow)?;
        let known = self.table.connection(subflow.connection)?;
        let is_busy = subflow.path.iter().any(|link| self.is_busy(link));
        let may_move = is_busy || self.is_shared(number);
        if rate_bps == 0 || known.settled_ns > self.now_ns || !may_move {
            return None;
        }
        let others = known.subflows.iter().filter(|other| **other != number);
        let others = others.filter_map(|other| self.table.subflow(*other));
        // One whose rate is not known may carry all that this one does not.
        let others_bps: Vec<u64> = others.map(bps).collect::<Option<_>>()?;
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
            sharing: path
                .iter()
                .filter_map(|link| sharing.get(link))
                .copied()
                .max()
                .unwrap_or(1),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_connection_has_its_turn_twice_in_a_row() {
        let all: BTreeSet<u64> = (1..=2 * COUNTED as u64 + 10).collect();
        let mut counted = Counted::default();
        let mut seen = BTreeSet::new();
        for _ in 0..3 {
            let first = counted.next(&all);
            assert_eq!(first.len(), COUNTED);
            assert_eq!(counted.next(&all), first);
            seen.extend(first);
        }
        assert_eq!(seen, all);
        let few = BTreeSet::from([7, 9]);
        for _ in 0..3 {
            assert_eq!(BTreeSet::from_iter(counted.next(&few)), few);
        }
        assert!(counted.next(&BTreeSet::new()).is_empty());
    }
}

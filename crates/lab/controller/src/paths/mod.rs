//! Paths between two switches: all edge-disjoint ones, and those of equal cost.

mod detours;
mod disjoint;
mod equal;
mod graph;
mod view;

use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) use detours::Detours;
pub(crate) use graph::Graph;

use crate::place::Link;

/// Pairs of switches whose paths are remembered, and paths whose detours are; with more all are
/// forgotten.
const REMEMBERED: usize = 4096;

/// A path: its links, from the first switch to the last; none between two ports of one switch.
pub(crate) type Path = Arc<[Link]>;

/// Ways round the links of a path, and of the path back.
pub(crate) type BothWays = Arc<[Detours; 2]>;

/// The paths between two switches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Paths {
    /// All edge-disjoint paths: those with the fewest links first, then by the ports' numbers.
    pub(crate) disjoint: Vec<Path>,
    /// Paths with the fewest links, by the ports' numbers.
    pub(crate) equal_cost: Vec<Path>,
}

/// Paths as they were found in a graph.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathTable {
    graph: Graph,
    found: BTreeMap<(u64, u64), Arc<Paths>>,
    detours: BTreeMap<Path, BothWays>,
}

impl PathTable {
    /// Takes another graph, and says whether it differs.
    pub(crate) fn set_graph(&mut self, graph: Graph) -> bool {
        let differs = graph != self.graph;
        if differs {
            self.graph = graph;
            self.found.clear();
            self.detours.clear();
        }
        differs
    }

    /// The paths from a switch to another one.
    pub(crate) fn between(&mut self, from: u64, to: u64) -> Arc<Paths> {
        if let Some(found) = self.found.get(&(from, to)) {
            return Arc::clone(found);
        }
        let found = Arc::new(Paths {
            disjoint: disjoint::paths(&self.graph, from, to),
            equal_cost: equal::paths(&self.graph, from, to),
        });
        if self.found.len() == REMEMBERED {
            self.found.clear();
        }
        self.found.insert((from, to), Arc::clone(&found));
        found
    }

    /// Ways round the links of a path.
    pub(crate) fn detours(&mut self, path: &Path) -> BothWays {
        if let Some(found) = self.detours.get(path) {
            return Arc::clone(found);
        }
        let back: Vec<Link> = path.iter().rev().map(|link| link.reversed()).collect();
        let found = Arc::new([
            detours::detours(&self.graph, path),
            detours::detours(&self.graph, &back),
        ]);
        if self.detours.len() == REMEMBERED {
            self.detours.clear();
        }
        self.detours.insert(path.clone(), Arc::clone(&found));
        found
    }
}

/// Orders paths: fewest links first, then by the numbers of the ports that send.
fn sort(paths: &mut [Path]) {
    let ports = |path: &Path| -> Vec<u32> { path.iter().map(|link| link.from.port).collect() };
    paths.sort_by_cached_key(|path| (path.len(), ports(path), path.clone()));
}

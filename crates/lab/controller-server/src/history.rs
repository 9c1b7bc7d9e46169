//! The load of links and the subflows of paths over the last minutes.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use mptcplab_controller::{Controller, Link, State};

/// Time between two samples: that between two readings of the ports' counters.
pub(crate) const INTERVAL: Duration = Duration::from_secs(1);

/// Samples that are kept: a quarter of an hour.
const SAMPLES: usize = 900;
/// Links of a sample, each direction by itself.
const LINKS: usize = 128;
/// The connections opened last, whose subflows are counted.
const CONNECTIONS: usize = 500;
/// Paths of a sample.
const PATHS: usize = 64;

/// The load as it was at a time. Of more links and paths than a sample holds the last are left out.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    /// Time since the server began, ns.
    pub(crate) t_ns: u64,
    /// Directions of links with their load, bit/s.
    pub(crate) loads: BTreeMap<Link, u64>,
    /// Paths, each by its links, with the subflows that have rules for them.
    pub(crate) subflows: BTreeMap<Vec<Link>, u32>,
}

/// The last samples, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct History(VecDeque<Arc<Sample>>);

impl History {
    /// Adds a sample of what the controller knows now.
    pub(crate) fn take(&mut self, t_ns: u64, controller: &Controller) {
        if self.0.len() == SAMPLES {
            self.0.pop_front();
        }
        self.0.push_back(Arc::new(Sample::new(t_ns, controller)));
    }

    /// Returns the samples, the oldest first.
    pub(crate) fn samples(&self) -> Vec<Arc<Sample>> {
        self.0.iter().cloned().collect()
    }
}

impl Sample {
    fn new(t_ns: u64, controller: &Controller) -> Self {
        let links = controller.link_views().take(LINKS);
        let mut subflows = BTreeMap::new();
        let connections = controller.connection_views().rev().take(CONNECTIONS);
        for subflow in connections.flat_map(|connection| connection.subflows) {
            let has_room = subflows.len() < PATHS || subflows.contains_key(&subflow.path);
            if subflow.state == State::Active && has_room {
                *subflows.entry(subflow.path).or_default() += 1;
            }
        }
        Self {
            t_ns,
            loads: links.map(|view| (view.link, view.load_bps)).collect(),
            subflows,
        }
    }
}

//! Subflows on links.

use std::collections::{BTreeMap, BTreeSet};

use crate::place::Link;

/// The numbers of the subflows that have a path over each link.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinkUse {
    subflows: BTreeMap<Link, BTreeSet<u64>>,
}

impl LinkUse {
    /// Counts a subflow on the links of its path.
    pub(crate) fn add(&mut self, path: &[Link], subflow: u64) {
        for link in path {
            self.subflows.entry(*link).or_default().insert(subflow);
        }
    }

    /// Counts a subflow no more.
    pub(crate) fn remove(&mut self, path: &[Link], subflow: u64) {
        for link in path {
            if let Some(own) = self.subflows.get_mut(link) {
                own.remove(&subflow);
                if own.is_empty() {
                    self.subflows.remove(link);
                }
            }
        }
    }

    /// The number of those on a link.
    pub(crate) fn count(&self, link: &Link) -> usize {
        self.subflows.get(link).map_or(0, BTreeSet::len)
    }

    /// Those on a link, in the order in which they came.
    pub(crate) fn on(&self, link: &Link) -> impl Iterator<Item = u64> {
        self.subflows.get(link).into_iter().flatten().copied()
    }
}

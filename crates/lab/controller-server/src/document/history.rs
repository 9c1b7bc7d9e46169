//! The last minutes as a document.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mptcplab_controller::Link;
use serde::Serialize;

use crate::history::Sample;
use crate::names;

/// Paths of the document: those with the most subflows over the time that it tells of.
const PATHS: usize = 64;

/// The load of links and the subflows of paths over the last minutes. Each list has as many values as
/// there are times.
#[derive(Debug, Serialize)]
pub(crate) struct History {
    pub(crate) t_ns: u64,
    /// Of the samples, the oldest first.
    pub(crate) times_ns: Vec<u64>,
    /// Each direction by itself.
    pub(crate) links: Vec<LinkHistory>,
    pub(crate) paths: Vec<PathHistory>,
}

/// A direction of a link.
#[derive(Debug, Serialize)]
pub(crate) struct LinkHistory {
    pub(crate) from: String,
    pub(crate) to: String,
    /// `None`: the link was not known.
    pub(crate) load_bps: Vec<Option<u64>>,
}

/// A path.
#[derive(Debug, Serialize)]
pub(crate) struct PathHistory {
    /// Its links; none where both hosts are at one switch.
    pub(crate) path: Vec<String>,
    pub(crate) subflows: Vec<u32>,
}

impl History {
    pub(super) fn of(t_ns: u64, samples: &[Arc<Sample>]) -> Self {
        let links: BTreeSet<&Link> = samples.iter().flat_map(|one| one.loads.keys()).collect();
        let links = links.into_iter().map(|link| LinkHistory {
            from: names::port(link.from),
            to: names::port(link.to),
            load_bps: samples
                .iter()
                .map(|one| one.loads.get(link).copied())
                .collect(),
        });
        let paths = paths(samples).into_iter().map(|path| PathHistory {
            path: names::path(path),
            subflows: samples
                .iter()
                .map(|one| one.subflows.get(path).copied().unwrap_or(0))
                .collect(),
        });
        Self {
            t_ns,
            times_ns: samples.iter().map(|one| one.t_ns).collect(),
            links: links.collect(),
            paths: paths.collect(),
        }
    }
}

/// Returns the paths with the most subflows over all samples, in the order of their links.
fn paths(samples: &[Arc<Sample>]) -> BTreeSet<&Vec<Link>> {
    let mut sums: BTreeMap<&Vec<Link>, u64> = BTreeMap::new();
    for (path, subflows) in samples.iter().flat_map(|one| &one.subflows) {
        *sums.entry(path).or_default() += u64::from(*subflows);
    }
    let mut most: Vec<(&Vec<Link>, u64)> = sums.into_iter().collect();
    most.sort_by_key(|(_, sum)| std::cmp::Reverse(*sum));
    most.into_iter().take(PATHS).map(|(path, _)| path).collect()
}

#[cfg(test)]
mod tests {
    use mptcplab_controller::PortRef;

    use super::*;

    fn link(from: u64, to: u64) -> Link {
        Link {
            from: PortRef::new(from, 1),
            to: PortRef::new(to, 2),
        }
    }

    fn sample(t_ns: u64, loads: &[(Link, u64)], subflows: &[(Vec<Link>, u32)]) -> Arc<Sample> {
        Arc::new(Sample {
            t_ns,
            loads: loads.iter().copied().collect(),
            subflows: subflows.iter().cloned().collect(),
        })
    }

    #[test]
    fn what_was_not_there_at_a_time_has_no_load_and_no_subflows() {
        let (first, second) = (link(1, 2), link(2, 3));
        let samples = [
            sample(5, &[(first, 100)], &[]),
            sample(7, &[(first, 0), (second, 3)], &[(vec![second], 2)]),
        ];
        let history = History::of(9, &samples);
        assert_eq!((history.t_ns, history.times_ns), (9, vec![5, 7]));
        let loads: Vec<_> = history.links.iter().map(|one| &one.load_bps).collect();
        assert_eq!(loads, [&vec![Some(100), Some(0)], &vec![None, Some(3)]]);
        let [path] = &history.paths[..] else {
            panic!("one path");
        };
        assert_eq!(path.subflows, [0, 2]);
        assert_eq!(path.path, ["0000000000000002:1-0000000000000003:2"]);
    }

    #[test]
    fn of_many_paths_those_with_most_subflows_are_told() {
        let paths: Vec<_> = (0..=PATHS as u64)
            .map(|number| (vec![link(number, number + 1)], 1 + u32::from(number == 3)))
            .collect();
        let history = History::of(0, &[sample(0, &[], &paths[1..]), sample(1, &[], &paths)]);
        assert_eq!(history.paths.len(), PATHS);
        // The first path had fewer than the others.
        assert!(history.paths.iter().all(|one| one.subflows[0] > 0));
    }
}

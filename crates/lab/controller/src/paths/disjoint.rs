//! Edge-disjoint paths by maximum flow of least cost: successive shortest paths in the residual
//! graph, with capacity and cost 1 for each link, whichever its direction (J. W. Suurballe,
//! "Disjoint paths in a network", 1974). Taking shortest paths away one after the other can miss
//! some: the first may use a link of each of two others.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::{Graph, back_from};
use super::{Path, sort};
use crate::place::Link;

/// All edge-disjoint paths, as many as there can be, and of these the ones with the fewest links in
/// total.
pub(super) fn paths(graph: &Graph, from: u64, to: u64) -> Vec<Path> {
    if from == to {
        return vec![Path::from([])];
    }
    let mut flow = BTreeSet::new();
    while let Some(augmenting) = cheapest(graph, &flow, from, to) {
        for link in augmenting {
            if !flow.remove(&link.reversed()) {
                flow.insert(link);
            }
        }
    }
    let mut paths = Vec::new();
    while let Some(path) = graph.shortest(from, to, |link| flow.contains(link)) {
        path.iter().for_each(|link| {
            flow.remove(link);
        });
        paths.push(Path::from(path));
    }
    sort(&mut paths);
    paths
}

/// A way of least cost in the residual graph: links of the flow cost −1 against their direction.
/// The flow has no circle of negative cost, so that rounds of all links find it (Bellman and Ford).
fn cheapest(graph: &Graph, flow: &BTreeSet<Link>, from: u64, to: u64) -> Option<Vec<Link>> {
    let mut reached: BTreeMap<u64, (i64, Option<Link>)> = BTreeMap::from([(from, (0, None))]);
    let mut has_changed = true;
    while has_changed {
        has_changed = false;
        for switch in graph.switches() {
            let Some(&(cost, _)) = reached.get(&switch) else {
                continue;
            };
            for link in graph.links(switch).filter(|link| !flow.contains(link)) {
                let step = if flow.contains(&link.reversed()) {
                    -1
                } else {
                    1
                };
                let known = reached.get(&link.to.datapath);
                if known.is_none_or(|(known, _)| cost + step < *known) {
                    reached.insert(link.to.datapath, (cost + step, Some(link)));
                    has_changed = true;
                }
            }
        }
    }
    back_from(to, |switch| reached.get(&switch)?.1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn switches(path: &Path) -> Vec<u64> {
        path.iter().map(|link| link.to.datapath).collect()
    }

    #[test]
    fn the_three_paths_of_the_document_come_by_their_ports() {
        let pairs = [
            (1, 3),
            (3, 4),
            (4, 2),
            (1, 5),
            (5, 6),
            (6, 2),
            (1, 7),
            (7, 8),
            (8, 2),
        ];
        let found = paths(&Graph::of_pairs(&pairs), 1, 2);
        let found: Vec<Vec<u64>> = found.iter().map(switches).collect();
        assert_eq!(found, [vec![3, 4, 2], vec![5, 6, 2], vec![7, 8, 2]]);
    }

    /// The shortest path, 1–3–4–2, has a link of each of two longer ones.
    #[test]
    fn paths_are_found_that_taking_the_shortest_away_would_miss() {
        let pairs = [
            (1, 3),
            (3, 4),
            (4, 2),
            (3, 5),
            (5, 2),
            (1, 6),
            (6, 7),
            (7, 4),
        ];
        let found = paths(&Graph::of_pairs(&pairs), 1, 2);
        let found: Vec<Vec<u64>> = found.iter().map(switches).collect();
        assert_eq!(found, [vec![3, 5, 2], vec![6, 7, 4, 2]]);
    }

    #[test]
    fn parallel_links_are_paths_of_their_own() {
        assert_eq!(paths(&Graph::of_pairs(&[(1, 2), (1, 2)]), 1, 2).len(), 2);
        assert_eq!(paths(&Graph::of_pairs(&[(1, 2)]), 1, 3).len(), 0);
        assert_eq!(paths(&Graph::of_pairs(&[]), 1, 1), [Path::from([])]);
    }

    /// Links of the least cut, by trying all sets of switches on the side of the first.
    fn least_cut(pairs: &[(u64, u64)], switches: u64) -> usize {
        let sets = (0..1_u64 << switches).filter(|set| set & 1 == 1 && set & 2 == 0);
        let crossing = |set: u64| {
            let crosses = |&&(a, b): &&(u64, u64)| (set >> a ^ set >> b) & 1 == 1;
            pairs.iter().filter(crosses).count()
        };
        sets.map(crossing).min().unwrap_or(0)
    }

    proptest! {
        /// As many as the least cut has links (L. R. Ford and D. R. Fulkerson), no link twice, each
        /// without a gap.
        #[test]
        fn there_are_as_many_paths_as_there_can_be(
            pairs in prop::collection::vec((0..7_u64, 0..7_u64), 0..16),
        ) {
            let pairs: Vec<_> = pairs.into_iter().filter(|(a, b)| a != b).collect();
            let found = paths(&Graph::of_pairs(&pairs), 0, 1);
            prop_assert_eq!(found.len(), least_cut(&pairs, 7));
            let mut used = BTreeSet::new();
            for path in &found {
                prop_assert_eq!(path[0].from.datapath, 0);
                prop_assert_eq!(path[path.len() - 1].to.datapath, 1);
                prop_assert!(path.windows(2).all(|two| two[0].to.datapath == two[1].from.datapath));
                prop_assert!(path.iter().all(|link| used.insert(link.from.port)));
            }
        }
    }
}

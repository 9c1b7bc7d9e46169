//! All paths with the fewest links.

use std::collections::BTreeMap;

use super::{Graph, Path};
use crate::place::Link;

/// Paths of equal cost that are looked at: a fat-tree of 16 ports a switch has as many.
const MOST: usize = 64;

/// The paths with the fewest links in the order of the ports' numbers, at most [`MOST`].
pub(super) fn paths(graph: &Graph, from: u64, to: u64) -> Vec<Path> {
    let distances = distances(graph, to);
    let mut found = Vec::new();
    if distances.contains_key(&from) {
        extend(graph, &distances, from, &mut Vec::new(), &mut found);
    }
    found
}

/// Links from each switch to another one. Links go both ways.
fn distances(graph: &Graph, to: u64) -> BTreeMap<u64, usize> {
    let mut distances = BTreeMap::from([(to, 0)]);
    let mut edge = vec![to];
    for distance in 1.. {
        let mut next = Vec::new();
        for link in edge.iter().flat_map(|switch| graph.links(*switch)) {
            distances.entry(link.to.datapath).or_insert_with(|| {
                next.push(link.to.datapath);
                distance
            });
        }
        if next.is_empty() {
            break;
        }
        edge = next;
    }
    distances
}

fn extend(
    graph: &Graph,
    distances: &BTreeMap<u64, usize>,
    switch: u64,
    way: &mut Vec<Link>,
    found: &mut Vec<Path>,
) {
    let left = distances[&switch];
    if left == 0 {
        found.push(Path::from(way.as_slice()));
        return;
    }
    for link in graph.links(switch) {
        if found.len() < MOST && distances[&link.to.datapath] + 1 == left {
            way.push(link);
            extend(graph, distances, link.to.datapath, way, found);
            way.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::PortRef;

    #[test]
    fn all_shortest_paths_are_found_in_order() {
        // 1 – {3, 4} – {5, 6} – 2, all with all, and a longer way by 7.
        let pairs = [
            (1, 3),
            (1, 4),
            (3, 5),
            (3, 6),
            (4, 5),
            (4, 6),
            (5, 2),
            (6, 2),
            (1, 7),
            (7, 3),
        ];
        let links = pairs.iter().zip(1..).flat_map(|(&(a, b), port)| {
            let (from, to) = (PortRef::new(a, port), PortRef::new(b, port));
            [Link { from, to }, Link { from: to, to: from }]
        });
        let found = paths(&Graph::new(links), 1, 2);
        let found: Vec<Vec<u64>> = found
            .iter()
            .map(|path| path.iter().map(|link| link.to.datapath).collect())
            .collect();
        assert_eq!(found, [[3, 5, 2], [3, 6, 2], [4, 5, 2], [4, 6, 2]]);
        assert_eq!(paths(&Graph::default(), 1, 1), [Path::from([])]);
        assert!(paths(&Graph::default(), 1, 2).is_empty());
    }
}
